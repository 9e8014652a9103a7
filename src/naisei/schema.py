"""Schemas of models' replies: pydantic models with a description for each field.

class Reply(BaseModel):
    thought: str = model_field("判断の理由。二文以内", "The reason, in two sentences at most")
    action: int = model_field("行動の番号", "Number of the action")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, Field


@lru_cache(maxsize=32)  # shared prefix of an experiment's prompts
def prompt_language(text: str) -> str:
    """`ja` or `en`: the language of a prompt, by the share of kana and kanji in its letters."""
    japanese = sum(map(str.isalpha, "".join(_KANA_AND_KANJI.findall(text))))
    return "ja" if japanese * 4 > sum(map(str.isalpha, text)) else "en"


_KANA_AND_KANJI = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")


def model_field(
    ja: str,
    en: str,
    default: Any = ...,
    *,
    called: tuple[str, ...] = (),
    synonyms: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    **bounds: Any,
) -> Any:
    """A field that a model fills in, with a description in each language. default: for a missing
    value; the field is still requested. called: alternative names of the field in replies.
    synonyms: value → alternative words for it. bounds: of the value, as for `pydantic.Field`; only
    a short range of whole numbers is sent to the model.
    """
    extra: Any = {_TOLD: {"ja": ja, "en": en}}
    if called:
        extra["called"] = list(called)
    if synonyms:
        extra["synonyms"] = {value: list(words) for value, words in synonyms.items()}
    return Field(default, json_schema_extra=extra, **bounds)


def names_of(field: Mapping[str, Any]) -> list[str]:
    """Alternative names of a field in a pydantic JSON schema that a reply may use."""
    return [*field.get("called", ()), *field.get(_TOLD, {}).values()]


_TOLD = "told"
#: A range of up to this many whole numbers is sent as an enumeration, which every decoder enforces.
_RANGE = 25
_KEPT = ("type", "enum", "minItems", "maxItems")


def json_schema(model: type[BaseModel], language: str) -> dict[str, Any]:
    """The JSON schema of `model` as it is sent: the fields in their declared order, all required
    and no others allowed, as strict decoders need, each with a one-line description in `language`.
    Names of classes, docstrings, defaults and validation bounds are not sent."""
    raw = model.model_json_schema()
    return _object(raw, raw.get("$defs", {}), language)


def _object(raw: dict[str, Any], known: dict[str, Any], language: str) -> dict[str, Any]:
    fields = raw.get("properties", {})
    return {
        "type": "object",
        "properties": {name: _field(part, known, language) for name, part in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _field(raw: dict[str, Any], known: dict[str, Any], language: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if description := raw.get(_TOLD, {}).get(language):
        out["description"] = description
    if "$ref" in raw:
        name = raw["$ref"].rpartition("/")[2]
        # Recursive models are not expanded endlessly: the second occurrence is any object.
        part = known.get(name, {"type": "object"})
        return out | _field(part, {k: v for k, v in known.items() if k != name}, language)
    choices: Sequence[dict[str, Any]] = [
        part for part in raw.get("anyOf", ()) if part.get("type") != "null"
    ]
    if len(choices) == 1:
        return out | _field(choices[0], known, language)
    if choices:
        return out | {"anyOf": [_field(part, known, language) for part in choices]}
    if raw.get("type") == "object" and "properties" in raw:
        return out | _object(raw, known, language)
    out |= {key: raw[key] for key in _KEPT if key in raw}
    if isinstance(values := raw.get("additionalProperties"), dict):
        out["additionalProperties"] = _field(values, known, language)
    if "" in out.get("enum", ()):  # fields of older records, not requested from models
        out["enum"] = [value for value in out["enum"] if value != ""]
    if "const" in raw:
        out["enum"] = [raw["const"]]
    low, high = raw.get("minimum"), raw.get("maximum")
    if raw.get("type") == "integer" and low is not None and high is not None:
        out |= {"enum": list(range(low, high + 1))} if high - low < _RANGE else {}
    if "items" in raw:
        out["items"] = _field(raw["items"], known, language)
    return out
