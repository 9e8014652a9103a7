"""A JSON schema filled with the first value of every choice: the scripted model's filler."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

__all__ = ["fill"]

_WORD = "文"


def fill(schema: dict[str, Any], given: JsonValue = None) -> JsonValue:
    """A value of `schema`: first enum values and alternatives, least numbers, short texts.

    given: what is fixed already, an object; the rest is filled. Optional properties are
    left out, unless given. Lists have their least length, numbers are 1 if nothing bounds
    them, texts are 「文」 repeated to the least length.
    """
    value: JsonValue = _fill(schema, schema, given)
    return value


def _fill(schema: dict[str, Any], root: dict[str, Any], given: JsonValue) -> Any:
    if "$ref" in schema:
        return _fill(_resolved(schema["$ref"], root), root, given)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _fill(_alternative(schema[key], root, given), root, given)
    if isinstance(given, dict) or schema.get("type") == "object":
        return _object(schema, root, given if isinstance(given, dict) else {})
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    return _plain(schema, root)


def _object(schema: dict[str, Any], root: dict[str, Any], given: dict[str, JsonValue]) -> JsonValue:
    parts: dict[str, dict[str, Any]] = schema.get("properties", {})
    needed = schema.get("required", [])
    out: dict[str, JsonValue] = {}
    for name, part in parts.items():
        if name in given:
            value = given[name]
            out[name] = _fill(part, root, value) if isinstance(value, dict) else value
        elif name in needed:
            out[name] = _fill(part, root, None)
    return out | {name: value for name, value in given.items() if name not in parts}


def _plain(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})] * schema.get("minItems", 0)
        return [_fill(item, root, None) for item in items]
    if kind in ("integer", "number"):
        if "exclusiveMinimum" in schema:
            return schema["exclusiveMinimum"] + 1
        return schema.get("minimum", min(1, schema.get("maximum", 1)))
    if kind == "boolean":
        return False
    if kind == "string":
        least, most = schema.get("minLength", 1), schema.get("maxLength", 1)
        return _WORD * min(max(1, least), max(most, least))
    return None


def _alternative(
    choices: list[dict[str, Any]], root: dict[str, Any], given: JsonValue
) -> dict[str, Any]:
    """The first alternative, or the first that knows every name given."""
    if not isinstance(given, dict):
        return choices[0]
    for choice in choices:
        parts = _resolved(choice["$ref"], root) if "$ref" in choice else choice
        if set(given) <= set(parts.get("properties", {})):
            return choice
    return choices[0]


def _resolved(ref: str, root: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = root["$defs"][ref.rpartition("/")[2]]
    return found
