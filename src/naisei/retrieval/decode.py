"""Bytes to text, in the encodings that Japanese files come in."""

from __future__ import annotations

import codecs
import re
import unicodedata

__all__ = ["Undecodable", "decode", "encoding_of"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: The kanji of JIS X 0208's first level: those that texts are written with.
_LEVEL_1 = bytes(
    byte for high in range(0xB0, 0xD0) for low in range(0xA1, 0xFF) for byte in (high, low)
).decode("euc_jp", "ignore")
#: What a Japanese text is full of, and what only a wrong reading of one shows: half-width
#: katakana by the dozen, private-use characters; rare kanji count for nothing.
_USUAL = re.compile(rf"[\u3041-\u3096\u30a1-\u30fc、。「」（）・\x20-\x7e\n{_LEVEL_1}]")
_ODD = re.compile(r"[\uff61-\uff9f\ue000-\uf8ff\u0080-\u009f\ufffd]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Undecodable(ValueError):
    """The bytes are no text in any encoding that is known here."""


def decode(data: bytes) -> str:
    """The text, line ends as `\\n`, without a byte-order mark, NFC.

    A byte-order mark decides; else UTF-8 if the bytes are valid; else the better of CP932
    (Shift_JIS) and EUC-JP; ISO-2022-JP by its escapes. What a file says of itself is not asked:
    it is wrong too often.

    Raises:
        Undecodable: binary data, or another encoding.
    """
    text = _decoded(data).replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if len(_CONTROL.findall(text)) > len(text) / 100:
        raise Undecodable
    return unicodedata.normalize("NFC", _CONTROL.sub("", text))


def encoding_of(data: bytes) -> str:
    """The codec of the bytes, chosen as `decode` says; all of them can be decoded with it.

    Raises:
        Undecodable: no encoding that is known here.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _checked(data, name)
    if b"\x1b$" in data:
        return _checked(data, "iso2022_jp_ext")
    try:
        return _checked(data, "utf-8")
    except Undecodable:
        pass
    readings: list[tuple[float, str]] = []
    for name in ("cp932", "euc_jis_2004", "euc_jp"):
        try:
            readings.append((_likely(data.decode(name)), name))
        except UnicodeDecodeError:
            continue
    # Of equals, the first.
    likely, name = max(readings, key=lambda reading: reading[0], default=(0.0, ""))
    if likely < 0.1:
        raise Undecodable
    return name


def _decoded(data: bytes) -> str:
    return data.decode(encoding_of(data))


def _checked(data: bytes, name: str) -> str:
    try:
        data.decode(name)
    except UnicodeError as error:
        raise Undecodable from error
    return name


def _likely(text: str) -> float:
    """Share of usual characters less twice that of odd ones."""
    return (len(_USUAL.findall(text)) - 2 * len(_ODD.findall(text))) / max(1, len(text))
