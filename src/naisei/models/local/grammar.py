"""JSON schemas as llama.cpp grammars that leave no room for blank lines.

Given a schema the OpenAI way, llama.cpp allows white space between any two tokens, and a
small model can spend its whole limit on blank lines. The same schema as an explicit
llguidance grammar fixes it; integer bounds hold there, too.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_grammar"]

#: One space after `:` and `,` as in the JSON that models learnt from: without it the embedded
#: model slipped from Japanese into English on every prompt tried. `coerce_one_of`: pydantic
#: writes tagged unions as `oneOf`. `lenient`: keywords that the grammar cannot express are
#: left to the validation that every reply gets anyway.
_OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "coerce_one_of": True,
    "lenient": True,
}


def json_grammar(schema: dict[str, Any] | None = None) -> str:
    """A grammar for JSON on one line that fits `schema`; for any JSON object without one.

    Objects that do not say whether they take further properties take none: else a model
    invents them until its limit.
    """
    body = {**_closed(schema or {"type": "object"}), "x-guidance": _OPTIONS}
    return f"%llguidance {{}}\nstart: %json {json.dumps(body, ensure_ascii=False)}\n"


def _closed(part: Any) -> Any:
    if isinstance(part, list):
        return [_closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    out = {key: _closed(value) for key, value in part.items()}
    if part.get("type") == "object" and isinstance(part.get("properties"), dict):
        out.setdefault("additionalProperties", False)
    return out
