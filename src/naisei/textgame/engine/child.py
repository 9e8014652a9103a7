"""The process that holds one game's interpreter: JSON requests in, JSON answers out.

Run as `python -m naisei.textgame.engine.child`. The interpreter is C code that can crash or
hang; here it takes nothing with it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from threading import Thread
from typing import Any

__all__ = ["main"]

_ROOM = re.compile(r"-= (.+?) =-")


def main() -> None:
    """Serve `{"open": path}` and `{"step": command}` until standard input closes."""
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    Thread(target=_end_with_the_run, args=(os.getppid(),), daemon=True).start()
    game: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "open" in request:
                game = _open(request["open"])
                answer = _view(game.reset(), done=False)
            else:
                state, _, done = game.step(request["step"])
                answer = _view(state, done=done)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _end_with_the_run(parent: int) -> None:
    """A killed run closes the input, but an interpreter that hangs would not notice."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _open(path: str) -> Any:
    import textworld

    infos = textworld.EnvInfos(
        description=True,
        inventory=True,
        admissible_commands=True,
        score=True,
        max_score=True,
        won=True,
        lost=True,
        feedback=True,
    )
    return textworld.start(path, infos)


def _view(state: Any, *, done: bool) -> dict[str, Any]:
    description = (state.description or "").strip()
    heading = _ROOM.search(description)
    return {
        "room": heading[1] if heading else "",
        "description": description,
        "inventory": (state.inventory or "").strip(),
        "candidates": list(state.admissible_commands or ()),
        "feedback": (state.feedback or "").strip(),
        "score": int(state.score or 0),
        "max_score": int(state.max_score or 0),
        "done": bool(done),
        "won": bool(state.won),
        "lost": bool(state.lost),
    }


if __name__ == "__main__":
    main()
