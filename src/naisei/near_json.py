"""Near JSON: repairs models' JSON, and normalises values that clearly match a schema."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from naisei.schema import names_of

_NEXT = r"\s*+(?:[,:}\]，：｝]|//|/\*|#)"


def _string(quotes: str) -> str:
    """A string that ends at a quotation mark followed by structure; other marks are part of it."""
    inner = rf"[^{quotes}\\]|\\.|[{quotes}](?!{_NEXT})"
    return rf"[{quotes}](?P<s{ord(quotes[0])}>(?:{inner})*+)[{quotes}]"


_TOKEN = re.compile(
    "|".join(
        [
            r"(?P<gap>\s+|//[^\n]{0,500}|/\*.{0,500}?\*/|#[^\n]{0,500})",
            r"(?P<mark>[{}\[\],:｛｝，：])",
            *map(_string, ('"“”„＂', "'‘’")),
            r"(?P<bare>[^\s,:{}\[\]，：｛｝\"'“”„＂‘’]+)",
        ]
    ),
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)|\"|[\x00-\x1f]", re.DOTALL)
_WORDS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_MINUS = str.maketrans("−‐‑‒–—", "------")
_NUMBER = re.compile(r"\+?(-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)")


def plain(value: object) -> str:
    """The value in half width and lower case, without surrounding marks."""
    text = unicodedata.normalize("NFKC", str(value)).translate(_MINUS).casefold()
    return re.sub(r"\s*\([^()]*\)$", "", text.strip(" \t\n\"'「」『』。.、*`_")).strip()


class NearJSON:
    """A decoder like `json.JSONDecoder` that accepts single and curly quotation marks, full-width
    signs, Python literals, comments, plus signs, bare keys, extra commas and quotation marks inside
    a text."""

    def raw_decode(self, text: str, at: int) -> tuple[Any, int]:
        """Return the value that begins at the bracket `at`, and its end offset.

        Raises:
            json.JSONDecodeError: no valid value; the position is the end if it is truncated.
        """
        said, deep = list[str](), 0
        while token := _TOKEN.match(text, at):
            at, kind = token.end(), token.lastgroup
            if kind == "gap":
                continue
            if kind != "mark":
                said.append(_bare(token[0]) if kind == "bare" else _quoted(token[str(kind)]))
                continue
            mark = unicodedata.normalize("NFKC", token[0])
            deep += (mark in "{[") - (mark in "}]")
            if mark in "}]" and said[-1] == ",":
                said.pop()
            said.append(mark)
            if deep == 0:
                try:
                    return json.loads("".join(said)), at
                except json.JSONDecodeError as error:
                    raise json.JSONDecodeError(error.msg, text, at - 1) from error
        raise json.JSONDecodeError("cut off", text, len(text))


def _bare(word: str) -> str:
    number = _NUMBER.fullmatch(unicodedata.normalize("NFKC", word).translate(_MINUS))
    return _WORDS.get(word.lower()) or (number[1] if number else _quoted(word))


def _quoted(inner: str) -> str:
    return f'"{_ESCAPE.sub(_escaped, inner)}"'


def _escaped(found: re.Match[str]) -> str:
    after = found[1]
    if after is None:
        return json.dumps(found[0])[1:-1]
    return after if after == "'" else found[0] if after in '"\\/bfnrtu' else f"\\{found[0]}"


# Values that match a schema under another spelling.
#
# Nothing is guessed: values on another scale, ambiguous words and missing fields are unchanged, for
# the validation to report.

#: A range of whole numbers up to this width is a scale, on which fractions are rounded.
_SCALE = 25
_SAID = {"はい": True, "いいえ": False, "あり": True, "なし": False}
#: Other names that models give to the requested object.
_HULLS = ("properties", "arguments", "parameters", "input", "output", "answer", "result")
_COUNTED = re.compile(r"([+-]?\d{1,9}(?:\.\d{1,9})?)(?:/(\d{1,9})|点|番|%)?")
_LABELLED = re.compile(r"(?:no\.?|#|第)?\s*(\d{1,9})(?:番目?|[.:)、](?!\d).*)?", re.DOTALL)


@lru_cache(maxsize=512)
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def fitted(value: Any, model: type[BaseModel], notes: list[str]) -> Any:
    """Normalise `value` to `model`'s schema where the meaning is clear. notes: receives a line for
    each change.
    """
    root = _schema(model)
    return _Fitting(root.get("$defs", {}), notes).fit(value, root, "")


class _Fitting:
    def __init__(self, known: dict[str, Any], notes: list[str]) -> None:
        self._known, self._notes = known, notes

    def fit(self, value: Any, part: dict[str, Any], place: str) -> Any:
        """Normalise `value` to a part of the schema."""
        if "$ref" in part:
            return self.fit(value, self._known[part["$ref"].rpartition("/")[2]], place)
        if "anyOf" in part:
            return next(
                (new for p in part["anyOf"] if (new := self.fit(value, p, place)) is not value),
                value,
            )
        if part.get("type") == "object":
            return self._object(value, part, place)
        if part.get("type") == "array":
            return self._array(value, part, place)
        new = _scalar(value, part)
        if new is not value:
            self._notes.append(f"{place}: {str(value)[:40]!r} → {new!r}")
        return new

    def _array(self, value: Any, part: dict[str, Any], place: str) -> Any:
        if value is None and not part.get("minItems"):
            return []
        items = {"synonyms": part.get("synonyms", {}), **part.get("items", {})}
        if isinstance(value, str | int | float) and items.get("type") not in (None, "object"):
            value = [value] if value != "" else []
        if not isinstance(value, list):
            return value
        return [self.fit(item, items, f"{place}.{n}") for n, item in enumerate(value)]

    def _object(self, value: Any, part: dict[str, Any], place: str) -> Any:
        fields: dict[str, Any] = part.get("properties", {})
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]
        if not isinstance(value, dict) or not fields:
            return value
        value = self._unfolded(self._named(value, fields, place), part, place)
        return {
            key: self.fit(given, fields.get(key, {}), f"{place}.{key}".lstrip("."))
            for key, given in value.items()
            # Optional fields may be null.
            if given is not None or "default" not in fields.get(key, ())
        }

    def _named(self, value: dict[str, Any], fields: dict[str, Any], place: str) -> dict[str, Any]:
        """Rename fields to their names in the schema."""
        out = {}
        for key, given in value.items():
            named = [
                f for f, part in fields.items() if plain(key) in map(plain, (f, *names_of(part)))
            ]
            if key not in fields and len(named) == 1 and named[0] not in value:
                self._notes.append(f"{place}{key} → {named[0]}")
                key = named[0]
            out[key] = given
        return out

    def _unfolded(self, value: dict[str, Any], part: dict[str, Any], place: str) -> dict[str, Any]:
        """Remove a wrapper object with another name around some or all of the fields."""
        fields = part["properties"]
        hulls = {plain(part.get("title", "")), *_HULLS}
        for key, inner in value.items():
            if key in fields or not isinstance(inner, dict):
                continue
            inner = self._named(inner, fields, place)
            alone = not fields.keys() & value.keys()
            if not inner.keys() <= fields.keys() - value.keys() or (
                alone and plain(key) not in hulls
            ):
                continue
            self._notes.append(f"{place}{key}: unfolded")
            return {**{k: v for k, v in value.items() if k != key}, **inner}
        return value


def _scalar(value: Any, part: dict[str, Any]) -> Any:
    choices = part.get("enum", [part["const"]] if "const" in part else None)
    if choices is not None:
        return _choice(value, choices, part.get("synonyms", {}))
    match part.get("type"):
        case "integer" | "number":
            return _number(value, part)
        case "boolean" if isinstance(value, str):
            return _SAID.get(plain(value), value)
        case "string" if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        case "string" if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return "\n".join(value)
    return value


def _choice(value: Any, choices: list[Any], synonyms: dict[str, Any]) -> Any:
    """The matching choice."""
    if isinstance(value, bool | None) or value in choices:
        return value
    said = plain(int(value) if isinstance(value, float) and value.is_integer() else value)
    found = [c for c in choices if said in map(plain, (c, *synonyms.get(str(c), ())))]
    if not found and isinstance(value, str) and (number := _LABELLED.fullmatch(said)):
        found = [c for c in choices if c == int(number[1]) and not isinstance(c, bool | str)]
    return found[0] if len(found) == 1 else value


def number_of(value: Any, most: float | None = None) -> int | float | None:
    """The finite number that a value is or spells: 3, 1.4, "+2", "２", "4点", and "4/5" if the
    scale ends at `most` = 5; `None` for others."""
    if isinstance(value, str):
        found = _COUNTED.fullmatch(plain(value).replace(" ", "").replace("±0", "0"))
        if found is None or (found[2] and int(found[2]) != most):
            return None
        value = float(found[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value


def _number(value: Any, part: dict[str, Any]) -> Any:
    """The number, never clipped to the scale."""
    low, high = part.get("minimum"), part.get("maximum")
    number = number_of(value, high)
    if number is None:
        return value
    if part["type"] == "integer" and number != int(number):
        if low is None or high is None or high - low >= _SCALE or not low <= number <= high:
            return value
        # Round halves away from zero, as people do.
        number = int(math.copysign(abs(number) + 0.5, number))
    return value if number is value else number
