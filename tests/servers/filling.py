"""A JSON schema filled with first choices: what a server answers when nobody cares."""

from __future__ import annotations

from typing import Any


def fill(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """The first value of every choice, the least number, a word for a text."""
    root = schema if root is None else root
    if "$ref" in schema:
        return fill(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return fill(schema[key][0], root)
    kind = schema.get("type")
    if kind == "object":
        return {name: fill(part, root) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [fill(schema["items"], root) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return False
    return None if kind == "null" else "文"
