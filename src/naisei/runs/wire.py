"""Requests as a reader sees them: message by message, then the schema, with tokens and prefix.

The golden requests under `naisei/data/wire` are written so (`tools/wire.py`): one file a role of a
sample episode, its first requests one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from os.path import commonprefix
from pathlib import Path
from typing import Any

WIRE = Path(str(files("naisei") / "data" / "wire"))

_PIECES = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]|[A-Za-z]+|\d|\n|[^\sA-Za-z\d]")


@dataclass(frozen=True, slots=True)
class Request:
    """The body of one request, and the step of the episode that it belongs to."""

    step: str
    body: dict[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        """`{}` for a request of plain text."""
        asked = self.body.get("response_format", {})
        found: dict[str, Any] = asked.get("json_schema", {}).get("schema", {})
        return found

    @property
    def messages(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.body["messages"]
        return found

    @property
    def text(self) -> str:
        """All that a model reads, in the order in which a server lays it out: schema first."""
        said = [f"[{m['role']}]\n{m['content']}" for m in self.messages]
        form = json.dumps(self.schema, ensure_ascii=False) if self.schema else ""
        return "\n".join([form, *said])


def tokens(text: str) -> int:
    """About how many tokens a text is, whatever the model: a Japanese character 0.85, a word a
    fifth of its letters and at least 1, a figure or a mark 0.7."""
    weight = 0.0
    for piece in _PIECES.findall(text):
        if piece[0] >= "\u3000":
            weight += 0.85
        else:
            weight += max(1.0, len(piece) / 5) if piece[0].isalpha() else 0.7
    return round(weight)


def shared(earlier: Sequence[Request], now: Request) -> float:
    """The share of a request, 0 to 1, that begins as an earlier one of the same role did: what a
    server that keeps prefixes need not read again."""
    common = (commonprefix([one.text, now.text]) for one in earlier)  # noqa: RUF071 (no paths)
    return max((len(text) / len(now.text) for text in common), default=0.0)


def as_text(requests: Sequence[Request]) -> str:
    """For a file or a terminal."""
    parts = []
    for at, request in enumerate(requests):
        head = f"=== step {request.step} · {tokens(request.text)} tokens"
        if at:
            head += f" · {100 * shared(requests[:at], request):.0f} % as before"
        parts.append(head)
        parts += [f"--- {m['role']}\n{m['content']}" for m in request.messages]
        rest = {k: v for k, v in request.body.items() if k not in ("messages", "response_format")}
        if request.schema:
            parts.append(f"--- schema\n{json.dumps(request.schema, ensure_ascii=False, indent=1)}")
        if rest:
            parts.append(f"--- parameters\n{json.dumps(rest, ensure_ascii=False)}")
    return "\n".join(parts) + "\n"


def golden() -> dict[str, str]:
    """`SYSTEM/ROLE.SAMPLE` → the golden requests."""
    paths = sorted(WIRE.glob("*/*.txt"))
    return {f"{path.parent.name}/{path.stem}": path.read_text(encoding="utf-8") for path in paths}
