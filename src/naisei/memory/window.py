"""Window: the last k reflections, each newly written (Reflexion).

Source: Shinn et al., Reflexion (NeurIPS 2023), §3: the reflector gets the trajectory with its
outcome and the stored reflections; the standard window is 3, as in Table 3 of the R-Clarify
paper.
"""

from __future__ import annotations

from collections import deque

from pydantic import JsonValue


class Window:
    """Stores the last `k` notes (k ≥ 1), oldest first. The reflector reads them and adds one."""

    name = "reflexion"
    prompt = "reflexion.v4"
    reflects = True

    def __init__(self, k: int = 3) -> None:
        if k < 1:
            raise ValueError("a window holds at least one note")
        self.notes: deque[str] = deque(maxlen=k)

    def recall(self) -> str:
        return "\n\n".join(self.notes)

    def previous(self) -> str:
        return self.recall()

    def add(self, item: JsonValue) -> None:
        self.notes.append(str(item))


def build() -> Window:
    """An empty window of 3."""
    return Window()
