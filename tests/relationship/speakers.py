"""A model that answers to all of the relationship commands."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def brain(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Every role: what it says hangs on nothing but the conversation."""
    told = json.dumps(messages, ensure_ascii=False, sort_keys=True)
    draw = hashlib.sha256(told.encode()).digest()
    fields = set((schema or {}).get("properties", {}))
    if "summary" in fields:
        return json.dumps({"summary": f"約束をした。{draw[0]}"}, ensure_ascii=False)
    if "importances" in fields:
        count = messages[-1]["content"].count("\n")
        return json.dumps({"importances": [1 + draw[i] % 10 for i in range(count)]})
    if fields and (schema or {})["properties"]["Power"]["type"] == "string":
        return json.dumps(dict.fromkeys(("Power", "Intimacy", "TaskOriented"), f"{draw[0]}は？"))
    if fields:
        names = ("Power", "Intimacy", "TaskOriented")
        reply: dict[str, Any] = {name: draw[i] % 7 - 3 for i, name in enumerate(names)}
        # One number alone, two with a reason: both are read.
        for name in names[1:]:
            why = f"{name}は最初の発言から。"
            reply[name] = {"evidence": [1], "reason": why, "value": reply[name]}
        return json.dumps(reply, ensure_ascii=False)
    return f"そうですね、{draw[0]}の件、{draw[1]}日までに直します。"
