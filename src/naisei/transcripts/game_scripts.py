"""Scripts of game engines: Ren'Py, and KAG, the language of KiriKiri and TyranoScript.

An utterance without text represents a skipped part: narration, choices, inserted values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from naisei.transcripts.turns import Turn, plain_name

_STRING = r'(?:"""(?:[^\\]|\\.)*?"""|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')'
_RENPY = re.compile(
    r"\s*(?:label [\w.]+(?:\(.*\))?:\s*\Z|translate \w+ \w+:\s*\Z"
    r"|(?:define|\$) \w+ = (?:Dynamic)?Character\()"
)
_KAG = re.compile(
    r"[^\[\]]*\[(?:(?:[plr]|np|cm|ct)\s*|(?:bg|playbgm|chara_\w+|wait|jump|cg|image)\s[^\]]*=[^\]]*)\]"
    r"|@\w+(?:\s+\w+=\S+)+\s*\Z"
)
#: A name on its own row above 「…」, as in KAG.
_HASH_NAME = re.compile(r"[#＃]((?:[^\s#＃:：][^#＃:：]{0,39})?)(?:[:：]\S+)?\s*\Z")


def engine_of(rows: Sequence[str], suffix: str) -> str:
    """The game engine of a file, "" for other files. suffix: the file's suffix."""
    if suffix == ".rpy" or any(map(_RENPY.match, rows)):
        return "renpy"
    full = [row for row in rows if row.strip()]
    named = sum(
        bool(_HASH_NAME.match(row)) and below.lstrip()[:1] in ("「", "『")
        for row, below in pairwise(full)
    )
    return "kirikiri" if suffix == ".ks" or named > 1 or sum(map(_is_kag, rows)) > 1 else ""


def _is_kag(row: str) -> bool:
    return _KAG.match(row) is not None


#: Ren'Py

_SAY = re.compile(
    rf"(?:(?P<who>\w+|{_STRING})(?:\s+(?:@|-?\w+))*\s+)?(?P<text>{_STRING})\s*(?P<end>.*)\Z",
    re.DOTALL,
)
_CHARACTER = re.compile(
    r"\s*(?:define|\$|default)\s+(?P<key>\w+)\s*=\s*(?:Dynamic)?Character\(\s*(?:name\s*=\s*)?"
    r"(?:_\()?(?:None|[\"'](?P<name>[^\"']*)[\"'])?"
)
_VALUE = re.compile(r"\s*(?:define|default)\s+(\w+)\s*=\s*(?:_\()?[\"']([^\"']*)[\"']\)?\s*\Z")
#: Blocks without speech.
_BLOCK = re.compile(
    r"(?:screen|style|transform|image|python|init python|init [-\d]+ python"
    r"|translate \w+ (?:strings|python|style))\b.*:\s*\Z"
)
_STATEMENT = re.compile(
    r"voice|play|queue|stop|show|scene|hide|image|with|window|pause|jump|call|return|menu|label|nvl"
    r"|define|default|init|python|if|elif|else|while|for|pass|screen|style|transform|translate|old"
    r"|new|text|textbutton|add|use|key|timer|imagebutton|hotspot|action|input|config|camera"
)
#: Voices that are not audible.
_NARRATOR = re.compile(
    r"v?centered|extend|ナレーション|ナレーター|地の文|narrat(?:or|ion)|.*(?:心の声|モノローグ)\)?",
    re.IGNORECASE,
)
_RENPY_TAG = re.compile(r"\{[^{}]*\}")


def renpy_turns(rows: Sequence[str]) -> Iterator[Turn]:
    """The utterances of a Ren'Py script. A speaker without a definition has the short name."""
    names = {m["key"]: m["name"] or "" for row in rows if (m := _CHARACTER.match(row))}
    values = {m[1]: m[2] for row in rows if (m := _VALUE.match(row))}
    held: Turn | None = None
    for number, row in _statements(rows):
        found = _SAY.match(row)
        who = (found["who"] or "") if found else ""
        if found is None or _STATEMENT.fullmatch(who):
            continue
        quote = 3 if found["text"].startswith('"""') else 1
        text = _RENPY_TAG.sub("", found["text"][quote:-quote])
        text = re.sub(r"\[(\w+)\]", lambda m: values.get(m[1], m[0]), text)
        text = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)
        if who == "extend" and held is not None:
            held = Turn(held.number, held.speaker, held.text and held.text + text)
            continue
        if held is not None:
            yield held
        speaker = plain_name(names.get(who, who.strip("\"'")))
        narrated = not speaker or _NARRATOR.fullmatch(who) or _NARRATOR.fullmatch(speaker)
        spoken = not narrated and not found["end"].rstrip().endswith(":")
        held = Turn(number, speaker, text) if spoken else Turn(number, "", "")
    if held is not None:
        yield held


def _statements(rows: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Rows outside comments and blocks without speech, with multi-row strings joined."""
    block: int | None = None
    start, open_text = 0, ""
    for number, row in enumerate(rows, 1):
        statement, indent = row.strip(), len(row) - len(row.lstrip())
        if open_text:
            open_text += f"\n{statement}"
        elif not statement or statement.startswith("#") or (block is not None and indent > block):
            continue
        else:
            block = indent if _BLOCK.match(statement) else None
            start, open_text = number, statement
        if len(re.findall(r'(?<!\\)"', open_text)) % 2 == 0 or number - start > 40:
            yield start, open_text
            open_text = ""


#: KAG

_TAG = re.compile(r"\[((?:[^\[\]\"']|\"[^\"]*\"|'[^']*')*)\]")
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"']\S*(?:\s+(?!\w+\s*=)\S+)*)")
_SKIPPED = re.compile(r"\s*[\[@](iscript|macro|html)\b")
_BRACKETED = re.compile(r"\s*(?:@【([^】]{1,40})】.*|【([^】]{1,40})】(.*))\Z")
#: Tags for the speaker, their attributes with the name, and tags that end a page.
_NAMING = re.compile(r"talk|nm|say|speaker|chara_ptext|\w*name\w*", re.IGNORECASE)
_NAME_IN = ("name", "t", "text", "chara", "n")
_PAGE_ENDS = frozenset(("p", "np", "pcm", "pg", "cm", "ct", "er", "page", "hitret", "endmessage"))


def kag_turns(rows: Sequence[str]) -> Iterator[Turn]:
    """The utterances of a KAG script, one per page. `#name` applies until the next `#`; 【name】,
    @【name】 and the name in a tag such as `[nm t=…]` until the end of the page."""
    page = _Page()
    skipped = ""
    for number, ended in enumerate(rows, 1):
        row = ended.rstrip("\r\n")
        if skipped:
            skipped = "" if f"end{skipped.removeprefix('i')}" in row else skipped
        elif found := _SKIPPED.match(row):
            skipped = "" if f"end{found[1].removeprefix('i')}" in row else found[1]
        elif not row.strip() or row.lstrip()[0] in ";*":
            continue
        elif found := _HASH_NAME.match(row):
            yield from page.end()
            page.speaker, page.holds = found[1], True
        elif found := _BRACKETED.match(row):
            yield from page.end()
            page.speaker, page.holds = found[1] or found[2], False
            yield from page.row(number, found[3] or "")
        elif row.lstrip()[0] == "@":
            yield from page.tag(number, row.strip()[1:])
        else:
            yield from page.row(number, row)
    yield from page.end()


class _Page:
    """The current page's text so far, and its speaker. holds: whether the speaker also applies to
    the next page."""

    def __init__(self) -> None:
        self.speaker, self.holds = "", False
        self._names: dict[str, str] = {}
        self._number, self._text, self._in_link = 0, "", False

    def row(self, number: int, row: str) -> Iterator[Turn]:
        for n, part in enumerate(_TAG.split(row)):
            if n % 2:
                yield from self.tag(number, part)
            elif not self._in_link:
                self._number = self._number if self._text.strip() else number
                self._text += part.strip().replace("\\n", "\n")
        self._text = f"{self._text.rstrip()}\n" if self._text.strip() else ""

    def tag(self, number: int, written: str) -> Iterator[Turn]:
        name = written.split(None, 1)[0].lower() if written.strip() else ""
        given = {key: value.strip("\"'") for key, value in _ATTRIBUTE.findall(written)}
        if name == "chara_new" and given.get("jname"):
            self._names[given.get("name", "")] = given["jname"]
        elif _NAMING.fullmatch(name):
            yield from self.end()
            self.speaker = next((given[key] for key in _NAME_IN if key in given), "")
            self.holds = name not in ("nm", "talk")
        elif name in _PAGE_ENDS:
            yield from self.end()
        elif name == "r":
            self._text += "\n"
        elif name in ("link", "endlink"):
            self._in_link = name == "link"
        elif name == "emb":
            yield Turn(number, "", "")

    def end(self) -> Iterator[Turn]:
        """End the page and yield its utterance, if it has text."""
        if text := self._text.strip():
            speaker = plain_name(self._names.get(self.speaker, self.speaker))
            spoken = speaker and not _NARRATOR.fullmatch(speaker)
            yield Turn(self._number, speaker, text) if spoken else Turn(self._number, "", "")
        self._text = ""
        if not self.holds:
            self.speaker = ""
