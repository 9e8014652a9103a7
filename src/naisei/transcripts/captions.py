"""SRT and WebVTT whose captions say who speaks: `name: text`, （name）text or <v name>."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from naisei.transcripts.text_forms import TEXT_FORMS, is_aside
from naisei.transcripts.text_reading import text_turns
from naisei.transcripts.turns import Turn, plain_name

CUE = re.compile(r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->\s+\S+")
_VOICE = re.compile(r"<v(?:\.[^\s>]+)?\s+([^>]+)>(.*)", re.DOTALL)
_TAG = re.compile(r"</?[^<>]{1,40}>|[♪♬][～〜]*")
#: 「（田中）おはよう」 as captions have it.
_CAPTION_NAME = re.compile(r"\A[（(]([^（()）]{1,20})[)）]\s*(?=\S)")


def caption_turns(rows: Sequence[str]) -> list[Turn] | None:
    """The utterances; a caption without a name continues the one before. `None` if the first has
    no name."""
    turns: list[Turn] = []
    script = TEXT_FORMS[-1]
    for number, escaped in _captions(rows):
        if is_aside(escaped):
            continue
        caption = _CAPTION_NAME.sub(r"\1: ", html.unescape(escaped))
        voice = _VOICE.match(caption)
        text = _TAG.sub("", voice[2] if voice else caption).strip()
        if voice is not None:
            turns.append(Turn(number, plain_name(voice[1]), text))
        elif script.first_row(text.split("\n", 1)[0]) is not None:
            turns += text_turns(script, [(number, row) for row in text.split("\n")], "join")
        elif turns and text:
            turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n{text}")
        elif text:
            return None
    return turns


def _captions(rows: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The row and the text of each caption."""
    held: list[str] | None = None
    start = 0
    for number, ended in enumerate([*rows, ""], 1):
        row = ended.strip()
        if CUE.match(row) or not row:
            if held:
                yield start, "\n".join(held)
            held, start = ([], number) if row else (None, number)
        elif held is not None:
            held.append(row)
