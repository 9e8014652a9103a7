"""Replaces names, places, numbers and addresses in a private chat with pseudonyms.

Only pseudonyms are stored or sent; the original names never leave this process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from naisei.japanese.morph import is_japanese, tokens
from naisei.relationship.dialogues import Dialogue
from naisei.relationship.speech.politeness import name_parts

#: Plausible names, so that 〜さん and 〜くん read naturally.
_NAMES = {
    "ja": ("青葉", "若草", "白波", "夕凪", "朝霧", "初雪"),
    "en": ("Alder", "Birch", "Cedar", "Damson", "Elder", "Furze"),
}
#: Recognised by pattern: mail and web addresses, account names, full dates, postal codes, lot
#: numbers, telephone and other long numbers, and words of letters and digits.
_FORMS = (
    ("mail", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)),
    ("url", re.compile(r"https?://[^\s」』)）>]+")),
    ("account", re.compile(r"(?<![\w])@\w{3,}")),
    ("date", re.compile(r"(?:19|20)\d{2}(?:年|[-/.])\d{1,2}(?:月|[-/.])\d{1,2}日?")),
    (
        "address",
        re.compile(
            r"〒\s*\d{3}-?\d{4}|[\d一二三四五六七八九十]+(?:丁目|番地|番町|号室?)[\d一二三四五六七八九十\-−ー番地号室の]*"
        ),
    ),
    ("number", re.compile(r"\+?\d[\d()（）\-−‐ー ]{7,}\d|\d{6,}")),
    ("address", re.compile(r"(?<![\d.])\d{1,4}(?:[-−‐ー]\d{1,4}){2,3}(?!\d)")),
    ("id", re.compile(r"(?<![\w.])(?=[\w.-]*\d)(?=[\w.-]*[a-z])\w[\w.-]{4,}", re.I | re.A)),
)
_FOREIGN_NAME = re.compile(r"[ァ-ヶー]{2,}(?:[・＝][ァ-ヶー]+)+")
_LABEL = re.compile(r"(〈[^〉]+〉)")
#: Kinds of proper names in the dictionary.
_KINDS = {"人名": "person", "地名": "place"}
_SHOWN = {
    "ja": {"mail": "メール", "url": "URL", "account": "アカウント", "address": "番地"}
    | {"number": "番号", "date": "日付", "id": "ID", "person": "人物", "place": "地名"},
    "en": {},
}


@dataclass(slots=True)
class Pseudonyms:
    """originals: pseudonym → original, in order of appearance."""

    language: str
    originals: dict[str, str] = field(default_factory=dict)

    def masked(self, dialogue: Dialogue) -> Dialogue:
        """Return the dialogue with pseudonyms; vectors and turn numbers do not change."""
        everything = "\n".join(line.text for line in dialogue.lines)
        free = [name for name in _NAMES[self.language] if name not in everything]
        pseudonyms = dict(zip(dialogue.speakers, free, strict=False))
        self.originals |= {pseudonym: name for name, pseudonym in pseudonyms.items()}
        calls = re.compile("|".join(_calls(pseudonyms)) or r"(?!)")
        parts = {part: pseudonyms[name] for name in pseudonyms for part in _parts(name)}

        def hidden(text: str) -> str:
            text = calls.sub(lambda m: parts.get(m[0]) or _short(m[0], parts), text)
            for kind, form in _FORMS:
                for match in dict.fromkeys(form.findall(text)):
                    text = text.replace(match, self._label(kind, match))
            if is_japanese(text):
                text = _FOREIGN_NAME.sub(self._named, text)
                text = "".join(map(self._without_names, _LABEL.split(text)))
            return text

        lines = [hidden(line.text) for line in dialogue.lines]
        # A name in one line is replaced in all lines; a single character only before 〜さん.
        names = {t: k for k, t in self.originals.items() if _LABEL.fullmatch(k)}
        forms = [
            re.escape(name) + ("" if len(name) > 1 else "(?=さん|くん|ちゃん|様|氏)")
            for name in sorted(names, key=len, reverse=True)
        ]
        again = re.compile("|".join(forms) or r"(?!)")
        return replace(
            dialogue,
            name="dialogue",
            speakers=(pseudonyms[dialogue.speakers[0]], pseudonyms[dialogue.speakers[1]]),
            lines=tuple(
                replace(
                    line,
                    speaker=pseudonyms[line.speaker],
                    text=again.sub(lambda m: names[m[0]], text),
                )
                for line, text in zip(dialogue.lines, lines, strict=True)
            ),
            personas={
                pseudonyms[name]: again.sub(lambda m: names[m[0]], hidden(text))
                for name, text in dialogue.personas.items()
            },
            preview=(),
        )

    def _named(self, match: re.Match[str]) -> str:
        """Label グエン・ティ・ハー as one person, if one part is a known name."""
        known = any(token.kind == "人名" for token in tokens(match[0]))
        return self._label("person", match[0]) if known else match[0]

    def _without_names(self, piece: str) -> str:
        """Replace the proper names of people and places in a text with labels."""
        if _LABEL.fullmatch(piece):
            return piece
        found, at = "", 0
        for token in tokens(piece):
            start = piece.find(token.surface, at)
            if start < 0 or (kind := _KINDS.get(token.kind)) is None:
                continue
            if token.surface not in self.originals:
                found += piece[at:start] + self._label(kind, token.surface)
                at = start + len(token.surface)
        return found + piece[at:]

    def _label(self, kind: str, original: str) -> str:
        """The label of an original, such as 〈人物2〉; always the same for the same text."""
        word = _SHOWN[self.language].get(kind, kind)
        known = [label for label, text in self.originals.items() if text == original]
        count = sum(label.startswith(f"〈{word}") for label in self.originals)
        label = known[0] if known else f"〈{word}{count + 1}〉"
        self.originals[label] = original
        return label

    def legend(self) -> str:
        """List pseudonyms with their originals, for display."""
        return ", ".join(
            f"{pseudonym} = {original}" for pseudonym, original in self.originals.items()
        )


def _parts(name: str) -> tuple[str, ...]:
    """Parts of a name that are used to address somebody, longest first."""
    words = [word for word in re.split(r"[\s　・]+", name) if len(word) > 1]
    return tuple(sorted({name, *words, *name_parts(name)}, key=len, reverse=True))


def _calls(names: dict[str, str]) -> Iterator[str]:
    """Yield patterns of the names and their short forms: ケンタ → ケンちゃん."""
    for part in sorted((p for name in names for p in _parts(name)), key=len, reverse=True):
        plain = re.escape(part)
        yield rf"\b{plain}\b" if part.isascii() else plain
        if len(part) > 2 and not part.isascii():
            yield rf"{re.escape(part[:2])}(?=ちゃん|くん|っち|ちん)"


def _short(call: str, parts: dict[str, str]) -> str:
    return next(pseudonym for part, pseudonym in parts.items() if part.startswith(call))
