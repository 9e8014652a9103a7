"""Character cards of SillyTavern and others: JSON (V1, V2, V3), or PNG with embedded JSON."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import json_of, read_text, unreadable

#: File extensions of cards.
CARDS = (".json", ".png")
_PNG = b"\x89PNG\r\n\x1a\n"
#: PNG text chunks that contain a card, the newer format first.
_CHUNKS = (b"ccv3", b"chara")


@dataclass(frozen=True, slots=True)
class Card:
    """A character. about: description, personality and scenario. samples: the character's lines in
    the greeting and the examples."""

    name: str
    about: str
    samples: tuple[str, ...]


def read_card(path: Path | str) -> Card:
    """Read a card from a `.json` or `.png` file.

    Raises:
        InputError: the file is unreadable or not a card.
    """
    place = str(path)
    try:
        text = _of_png(Path(path)) if place.lower().endswith(".png") else read_text(path)
        data = json_of(text)
    except (ValueError, RecursionError) as error:
        raise _no_card(place, str(error)) from None
    inner = data.get("data", data) if isinstance(data, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        raise _no_card(place, say("name がありません", "it has no name"))
    name = inner["name"].strip()
    about = [_text(inner, key, name) for key in ("description", "personality", "scenario")]
    return Card(name, "\n".join(filter(None, about)) or name, _samples(inner, name))


def _text(data: dict[str, Any], key: str, name: str) -> str:
    given = data.get(key)
    text = given if isinstance(given, str) else ""
    return re.sub(r"\{\{char\}\}|<BOT>", name, text, flags=re.IGNORECASE).strip()


def _samples(data: dict[str, Any], name: str) -> tuple[str, ...]:
    rows = [_text(data, "first_mes", name), *_text(data, "mes_example", name).splitlines()]
    own = (re.sub(rf"^{re.escape(name)}\s*[:：]\s*", "", row.strip()) for row in rows)
    apart = re.compile(r"<START>|\{\{user\}\}|<USER>", re.IGNORECASE)
    return tuple(row for row in own if row and not apart.match(row))


def _of_png(path: Path) -> str:
    """The JSON in a PNG's text chunk. Raises `ValueError`, `InputError`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(error, str(path)) from None
    if not data.startswith(_PNG):
        raise ValueError(say("PNG ではありません", "no PNG"))
    found: dict[bytes, bytes] = {}
    at = len(_PNG)
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"tEXt":
            key, _, value = data[at + 8 : at + 8 + size].partition(b"\0")
            found[key.lower()] = value
        at += 12 + size
    for key in _CHUNKS:
        if key in found:
            try:
                return base64.b64decode(found[key]).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError) as error:
                raise ValueError(str(error)) from None
    raise ValueError(say("キャラクターカードが入っていません", "it holds no character card"))


def _no_card(place: str, why: str) -> InputError:
    return InputError(
        say(f"キャラクターカードとして読めません: {why}", f"is no character card: {why}"),
        place=place,
        remedy=say(
            "chara_card_v2 か v3 の JSON・PNG を渡してください",
            "give JSON or PNG of a chara_card_v2 or v3",
        ),
    )
