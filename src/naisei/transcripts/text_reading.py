"""Detects the format of a text, and reads the turns from its rows or captions."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import dropwhile

from naisei.transcripts.text_forms import (
    DATE,
    FURNITURE,
    NOTICE,
    TEXT_FORMS,
    TIME_ALONE,
    UNHEARD,
    TextForm,
    is_aside,
    speaker_in,
)
from naisei.transcripts.turns import BESIDE, Turn, are_elapsed, clock, day, plain_name, spoken_words

_LOOKED_AT = 60


#: Non-speech in Markdown: front matter, and code blocks with a language; a block without one may
#: contain a conversation.
_APART = re.compile(
    r"\A---[ \t]*\n(?:(?:[ \t]|- |[A-Za-z_][\w-]*:).*\n|\n)*?---[ \t]*$"
    r"|^(```+)(?!te?xt|plain|markdown|md)\w(?s:.*?)^\1[ \t]*$",
    re.MULTILINE,
)


def content_rows(rows: Sequence[str]) -> list[str]:
    """The rows without line endings; rows without speech are empty."""
    text = "\n".join(row.rstrip("\r\n") for row in rows)
    return _APART.sub(lambda apart: "\n" * apart[0].count("\n"), text).split("\n")


def form_of(rows: Sequence[str], nameless: bool) -> TextForm | None:
    """The format of a file's rows, or `None`. nameless: the file may have no names."""
    content = [row for row in rows if row.strip()][:_LOOKED_AT]
    for form in TEXT_FORMS:
        signed = form.sign is not None and any(form.sign.match(row) for row in content)
        if signed and any(form.first_row(row) for row in content):
            return form if form.name != "ink" or _fits(form, content, nameless) else None
    unsigned = (form for form in TEXT_FORMS if form.sign is None)
    return next((form for form in unsigned if _fits(form, content, nameless)), None)


def _fits(form: TextForm, content: Sequence[str], nameless: bool) -> bool:
    """Whether the rows match: enough utterances follow the first one, by recurring speakers."""
    found = [form.first_row(row) for row in content]
    speakers = [plain_name(speaker_in(match)) for match in found if match is not None]
    if not speakers:
        return False
    if form.name in ("script", "play", "ink") and not nameless and not _spoken_words(found):
        return False
    once = sum(n == 1 for n in Counter(speakers).values())
    if len(speakers) > 3 and 2 * once > len(speakers):
        return False
    if form.name in ("markdown", "play"):
        return len(speakers) > 2 and len(set(speakers)) <= len(speakers) // 2
    if form.below:
        return len(speakers) > 1
    first = next(n for n, match in enumerate(found) if match is not None)
    after = zip(found[first:], content[first:], strict=True)
    rest = sum(match is None and not form.rest.match(row) for match, row in after)
    return 2 * len(speakers) >= rest


def _spoken_words(found: Sequence[re.Match[str] | None]) -> bool:
    """Whether the texts are sentences, not list items (in Japanese: only kanji and katakana)."""
    texts = [match.groupdict().get("text") or "" for match in found if match is not None]
    japanese = [text for text in texts if re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", text)]
    return 2 * sum(bool(re.search(r"[ぁ-ん]", text)) for text in japanese) >= len(japanese)


def without_head(turns: Sequence[Turn]) -> list[Turn]:
    """Drop leading rows that only look like utterances (日付: …): only they lack a time, or their
    names never recur."""
    timed = list(dropwhile(lambda turn: turn.at is None, turns))
    if len(timed) > 1 and all(turn.at is not None for turn in timed):
        return timed
    often = Counter(turn.speaker for turn in turns)
    if sum(n > 1 for n in often.values()) < 2:
        return list(turns)
    return list(dropwhile(lambda turn: often[turn.speaker] == 1, turns))


_HEAD = re.compile(r"(\W{0,2})(\d{1,2})([-/.])(\d{1,2})(?=\3\d{2,4}\b)")


def month_first(rows: list[str]) -> list[str]:
    """Put the month first in rows that begin with a date: swaps day and month if some first number
    is not a month and no second one is above 12."""
    heads = [_HEAD.match(row) for row in rows]
    highest = [max((int(m[n]) for m in heads if m), default=0) for n in (2, 4)]
    if highest[0] <= 12 or highest[1] > 12:
        return rows
    return [
        f"{m[1]}{m[4]}{m[3]}{m[2]}{row[m.end() :]}" if m else row
        for row, m in zip(rows, heads, strict=True)
    ]


def counts_seconds(form: TextForm, rows: Iterable[str]) -> bool:
    """Whether the times of a file are minutes and seconds (`are_elapsed`); never if a row has a
    date."""
    stamps = []
    for row in rows:
        rest = form.rest.match(row)
        if rest is not None and rest.groupdict().get("day"):
            return False
        if found := form.first_row(row):
            escaped = _ESCAPED_TIME.match(found.groupdict().get("text") or "")
            stamps.append(found.groupdict().get("stamp") or (escaped[1] if escaped else ""))
    return are_elapsed(stamps)


def read_rows(form: TextForm, rows: list[str]) -> list[Turn]:
    """`text_turns` of a file's rows, with dates and times in one format."""
    dated = month_first(rows)
    above = _rows_above_body(form, dated) if form.name == "script" else 0
    numbered = (
        (n, part)
        for n, row in enumerate(dated, 1)
        if not (n == above and _BODY.fullmatch(row))
        for part in BETWEEN.split(row)
    )
    turns = text_turns(form, numbered, counts_seconds(form, dated))
    cast = [turn.speaker for turn in turns if turn.number <= above and turn.speaker]
    if len(set(cast)) < len(cast):  # a speaker recurs, so this is not a cast list
        return turns
    return [Turn(turn.number, "", "") if turn.number <= above else turn for turn in turns]


_MARK = r"[【】\[\]《》<>＜＞■◆●○◇□▼#＊*=＝―─—-]"
_BODY = re.compile(
    rf"\s*(?P<mark>{_MARK}*)\s*(?:台本|本編|本文|脚本|シナリオ|(?i:script))\s*{_MARK}*\s*"
)
_CAST = re.compile(
    rf"\s*{_MARK}*\s*(?:登場人物|キャスト|配役|(?i:cast|characters))\s*{_MARK}*[：:]?\s*"
)


def _rows_above_body(form: TextForm, rows: Sequence[str]) -> int:
    """The number of rows before the heading of a script's body (【台本】), or, after a cast list,
    of its first scene; 0 without such a heading, and in a chat with times."""
    cast = next((n for n, row in enumerate(rows) if _CAST.fullmatch(row)), len(rows))
    for number, row in enumerate(rows, 1):
        body, rest = _BODY.fullmatch(row), form.rest.match(row)
        scene = rest is not None and rest.groupdict().get("scene")
        if (body and body["mark"]) or (number > cast + 1 and (body or scene)):
            found = filter(None, map(form.first_row, rows[:number]))
            return 0 if any(match.groupdict().get("stamp") for match in found) else number
    return 0


def tidied(form: TextForm, turns: list[Turn]) -> list[Turn]:
    """Remove headers and titles that only look like utterances, and complete the names."""
    if form.name == "script":
        turns = without_head(turns)
    if form.name == "ass":
        turns = sorted(turns, key=lambda turn: str(turn.at))
    if form.name in ("markdown", "play"):  # a heading that occurs once is a title
        often = Counter(turn.speaker for turn in turns)
        turns = [turn for turn in turns if often[turn.speaker] > 1]
    if form.name == "line-pc":  # if a space ends the name
        turns = whole_names(turns)
    return [replace(t, text=spoken_words(t.text, form.words)) for t in turns]


def text_turns(form: TextForm, rows: Iterable[tuple[int, str]], elapsed: bool) -> list[Turn]:
    """The utterances of numbered rows, and one without text for each skipped row. elapsed: times of
    two numbers are minutes and seconds."""
    turns, seen = list[Turn](), set[str]()
    last = -1  # index of the utterance that a row may continue
    today: datetime | None = None
    session, dropped = 1, False
    for number, ended in rows:
        row = ended.rstrip("\r\n")
        if form.quoted and last >= 0 and _open(turns[last].text):
            turns[last] = replace(turns[last], text=f"{turns[last].text}\n{row}")
            continue
        if dropped and row[:1] == "\t":  # continues a skipped part
            continue
        dropped = bool(row.strip()) and FURNITURE.match(row) is not None
        if not row.strip() or dropped:
            continue
        found, rest = form.first_row(row), form.rest.match(row)
        groups = rest.groupdict() if rest is not None else {}
        if UNHEARD.match(row) or (found is None and form.is_label(row)):
            turns.append(Turn(number, "", ""))
            last = -1
        elif found is not None and (last < 0 or _begins(found, form, seen)):
            if form.name == "headings":  # a file has one kind of them
                form = replace(form, rows=(found.re,))
            turns.append(replace(_begun(number, found, today, elapsed), session=session))
            last, at = len(turns) - 1, turns[-1].at
            seen.add(turns[-1].speaker)
            today = at if isinstance(at, datetime) else today
        elif groups.get("scene"):
            session = next((turn.session for turn in reversed(turns) if turn.speaker), 0) + 1
            last = -1
        elif groups.get("apart") or (rest is None and NOTICE.match(row) and not row[0].isspace()):
            turns.append(Turn(number, "", ""))
        elif rest is not None:
            today = day(groups.get("day") or "") or today
        else:
            _go_on(turns, last, number, row)
    return turns


def _go_on(turns: list[Turn], last: int, number: int, row: str) -> None:
    """Append a row without a name to the utterance at `last`, unless it is narration."""
    held = turns[last] if last >= 0 else None
    if re.match(r"\s*[:：](?!\w+:)", row):
        turns.append(Turn(number, "", row))
    elif held is None or _narrated(held.text, row):
        turns.append(Turn(number, "", ""))
    else:
        turns[last] = replace(held, text=f"{held.text}\n{row.strip()}".lstrip("\n"))


def _open(text: str) -> bool:
    """Whether the quotation at the start of the text is still open."""
    return text.startswith('"') and text.count('"') % 2 == 1


def _narrated(text: str, row: str) -> bool:
    """Whether a row after 「…」 is narration."""
    return text[:1] in "「『" and text.count("「") == text.count("」") and text != "" and row != ""


def _begins(found: re.Match[str], form: TextForm, seen: set[str]) -> bool:
    """Whether a row begins an utterance: an indented row and a lone `[拍手]` may have no name."""
    alone = form.name == "brackets" and not found["text"]
    indented = found.string[0].isspace()
    return not (alone or indented) or plain_name(speaker_in(found)) in seen


def _begun(
    number: int,
    found: re.Match[str],
    today: datetime | None,
    elapsed: bool,
) -> Turn:
    groups = found.groupdict()
    stamp, text = groups.get("stamp") or "", groups.get("text") or ""
    if not stamp and (alone := TIME_ALONE.fullmatch(text)):
        stamp, text = alone[1], ""
    elif escaped := _ESCAPED_TIME.match(text):
        stamp, text = stamp or escaped[1], text[escaped.end() :]
    date, at = day(stamp) or today, clock(re.sub(DATE, " ", stamp), elapsed=elapsed)
    when = datetime.combine(date, at) if date is not None and at is not None else at
    return Turn(
        number,
        plain_name(speaker_in(found)),
        text,
        at=when,
        to=plain_name(groups.get("to") or ""),
    )


#: Between 「…」 and the next name in one row.
BETWEEN = re.compile(
    rf"(?<=[」』])(?:{BESIDE})?[\s\u3000]*"
    r"(?=[^\s\u3000（(「」『』、。，．][^\s\u3000「」『』、。，．]{0,9}[「『])"
)
_TIME_ALONE = re.compile(
    rf"\s{{1,4}}(\d{{1,2}}:\d{{2}})\s*"
    rf"|({DATE}\s+\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?: [AP]M)?)(?: \(Read .*\))?"
)
#: The time before a text in Markdown: `\\[00:00\\] Well, …`.
_ESCAPED_TIME = re.compile(rf"\s*\\\[({DATE}?\s*\d{{1,2}}(?::\d{{2}}){{1,2}})\\\]\s*")
_NAME_ALONE = re.compile(r"[^\s:：。「」].{0,39}(?<![。！？])")


def one_row_heads(rows: list[str]) -> list[str]:
    """Join name and time from two rows (pasted from Slack and Chatwork; iMessage, time first) in
    one row, and leave the other empty."""
    out = list(rows)
    for n, row in enumerate(rows):
        if (found := _TIME_ALONE.fullmatch(row)) is None:
            continue
        for at in (n - 1, n + 1):
            if 0 <= at < len(rows) and _NAME_ALONE.fullmatch(rows[at]):
                out[n], out[at] = "", f"{rows[at]}  {found[1] or found[2]}"
                break
    return out


def whole_names(turns: Sequence[Turn]) -> list[Turn]:
    """Repair names of two words: a common prefix of all texts of a speaker belongs to the name."""
    out = list(turns)
    for name in {turn.speaker for turn in turns}:
        texts = [turn.text for turn in out if turn.speaker == name and turn.text]
        heads = {text.split(" ", 1)[0] for text in texts if " " in text}
        if len(texts) > 1 and len(heads) == 1 and all(" " in text for text in texts):
            head = heads.pop()
            out = [
                replace(
                    t, speaker=f"{name} {head}", text=t.text.partition(" ")[2] if t.text else ""
                )
                if t.speaker == name
                else t
                for t in out
            ]
    return out


CUE = re.compile(r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->\s+\S+")
_VOICE = re.compile(r"<v(?:\.[^\s>]+)?\s+([^>]+)>(.*)", re.DOTALL)
_TAG = re.compile(r"</?[^<>]{1,40}>|[♪♬][～〜]*")
#: 「（田中）おはよう」, as in captions.
_CAPTION_NAME = re.compile(r"\A[（(]([^（()）]{1,20})[)）]\s*(?=\S)")


def caption_turns(rows: Sequence[str]) -> list[Turn] | None:
    """The utterances; a caption without a name continues the previous one. `None` if the first has
    no name."""
    turns: list[Turn] = []
    script = TEXT_FORMS[-1]
    for number, cue, escaped in _captions(rows):
        if is_aside(escaped):
            continue
        caption = _CAPTION_NAME.sub(r"\1: ", html.unescape(escaped))
        voice, at = _VOICE.match(caption), clock(cue if cue.count(":") > 1 else f"0:{cue}")
        text = _TAG.sub("", voice[2] if voice else caption).strip()
        if voice is not None:
            turns.append(Turn(number, plain_name(voice[1]), text, at=at))
        elif script.first_row(text.split("\n", 1)[0]) is not None:
            parts = text_turns(script, [(number, row) for row in text.split("\n")], False)
            turns += (replace(turn, at=at) for turn in parts)
        elif turns and text:
            turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n{text}")
        elif text:
            return None
    return turns


def _captions(rows: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield row, start time and text of each caption."""
    held: list[str] | None = None
    start, cue = 0, ""
    for number, ended in enumerate([*rows, ""], 1):
        row = ended.strip()
        if CUE.match(row) or not row:
            if held:
                yield start, cue, "\n".join(held)
            held, start, cue = [] if row else None, number, row.partition(" ")[0]
        elif held is not None:
            held.append(row)
