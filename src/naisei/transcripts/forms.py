"""All formats by name, and known unsupported formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from naisei.core import InputError
from naisei.lang import say
from naisei.transcripts.json_forms import JSON_FORMS
from naisei.transcripts.text_forms import TEXT_FORMS


@dataclass(frozen=True, slots=True)
class Form:
    """A readable format. about: description in Japanese and English."""

    name: str
    about: tuple[str, str]


ENGINES = (
    Form("renpy", ("Ren'Py のスクリプト", "Ren'Py script")),
    Form("kirikiri", ("吉里吉里・ティラノスクリプト", "KiriKiri and TyranoScript")),
)
FORMS = (
    *(Form(form.name, form.about) for form in TEXT_FORMS),
    *ENGINES,
    Form(
        "subtitles",
        (
            "字幕 SRT・WebVTT (名前つき。Zoom・Teams も)",
            "subtitles, SRT and WebVTT, with names (Zoom, Teams)",
        ),
    ),
    Form("dailydialog", ("DailyDialog (__eou__)", "DailyDialog (__eou__)")),
    Form(
        "table",
        (
            "CSV・TSV・Excel・Markdown の表 (VOICEVOX・YMM4 の見出しなしも)",
            "CSV, TSV, Excel and Markdown tables; VOICEVOX and YMM4 without a head",
        ),
    ),
    *(Form(form.name, form.about) for form in JSON_FORMS),
)

#: Known but unsupported formats: a row pattern, the name, and how to convert it.
UNREAD = (
    (
        re.compile(r"[^\t]*(?:\t[^\t]*){5,}\Z"),
        ("列の多いタブ区切り (ELAN など)", "a table of many columns (ELAN)"),
        ("話者と発話の列だけを、見出しをつけて書き出す", "export speaker and text, with a head"),
    ),
    (
        re.compile(r"\d+ (?:your|partner's) persona:"),
        ("話者のない ConvAI2 の行", "ConvAI2 rows without speakers"),
        ("「名前: 発話」の行にする", "write rows of `name: text`"),
    ),
    (
        re.compile(r"BEGIN:V(?:CALENDAR|CARD)"),
        ("予定表か連絡先 (iCalendar・vCard)", "a calendar or contacts (iCalendar, vCard)"),
        ("会話のファイルを渡す", "give a file of a conversation"),
    ),
    (
        re.compile(r"――[^―\s]"),
        ("聞き手に名前のないインタビュー", "an interview whose questions name nobody"),
        ("「聞き手: …」のように名前をつける", "begin each question with a name"),
    ),
    (
        re.compile(r"WEBVTT|(?:\d+:)?\d\d:\d\d[.,]\d{3} -->"),
        ("名前のない字幕 (SRT・VTT)", "subtitles (SRT, VTT) without names"),
        ("「名前: 発話」の字幕にする", "let each caption begin with `name: `"),
    ),
    (
        re.compile(r"\[[\d:.]+ --> [\d:.]+\]"),
        ("話者のない Whisper の書き起こし", "a Whisper transcript without speakers"),
        ("話者分離 (WhisperX など) をかける", "add speakers (WhisperX)"),
    ),
    (
        re.compile(r"={2,}\s*\w+|\s*(?:INCLUDE|VAR|LIST|CONST)\s|\s*->\s*\w+\s*\Z"),
        ("話者の名前がない Ink のスクリプト", "an Ink script that names nobody"),
        ("台詞を「名前: 台詞」の行にする", "write its lines as `name: text`"),
    ),
    (
        re.compile(r"\s*<(?:!DOCTYPE|html|\?xml|[a-z]+[ >])", re.I),
        ("HTML か XML", "HTML or XML"),
        ("テキスト・CSV・JSON で書き出す", "export it as text, CSV or JSON"),
    ),
)


def unknown(rows: Sequence[str], place: str, number: int | None = None) -> InputError:
    """The error for an unknown format, with its likely name."""
    content = [(n, row.strip()) for n, row in enumerate(rows, 1) if row.strip()][:40]
    if not content:
        return InputError(say("発話がありません", "holds no utterance"), place=place)
    for sign, name, remedy in UNREAD:
        if any(sign.match(row) for _, row in content):
            return InputError(
                say(f"{name[0]}のようです", f"looks like {name[1]}"),
                place=place,
                remedy=say(*remedy),
            )
    at = number or content[0][0]
    row = next(text for n, text in content if n >= at) if at <= content[-1][0] else ""
    return InputError(
        say(f"誰の発話かわかりません: {row[:40]!r}", f"has no speaker: {row[:40]!r}"),
        place=f"{place}:{at}",
        remedy=say(
            "行を「名前: 発話」の形にしてください。読める形式は naisei data forms、指定は --form",
            "write each line as `name: text`; naisei data forms lists what is read, --form says it",
        ),
    )
