"""The subprocess with one game's interpreter: JSON requests in, JSON answers out.

Run as `python -m naisei.textgame.engine.child`. The interpreter is C code; in a subprocess it can
crash or hang without affecting the run.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

_ROOM = re.compile(r"-= (.+?) =-")


def main() -> None:
    """Serve `{"open": path}`, `{"step": command}` and `{"compile": path, "to": path}` until
    standard input closes."""
    # Keep libraries' output out of the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    Thread(target=_end_with_the_run, args=(os.getppid(),), daemon=True).start()
    game: Any = None
    other: Any = None
    answer: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "compile" in request:
                answer = _compile(request["compile"], Path(request["to"]))
            elif "open" in request:
                path = Path(request["open"])
                other = _other(path, other)
                if other is None:
                    game, state = _open(str(path))
                    answer = _view(state, done=False)
                else:
                    answer = other.open(path).model_dump(mode="json")
            elif writes_files(request["step"]):
                answer = {**answer, "feedback": REFUSED}
            elif other is not None:
                answer = other.step(request["step"]).model_dump(mode="json")
            else:
                state, _, done = game.step(request["step"])
                answer = _view(state, done=done)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


#: Commands with which an interpreter reads or writes files. It matches the first nine letters of
#: words, and accepts several commands in a line.
_FILES = re.compile(
    r"(?<![^\W_])(?:save|restore|(?:un|no)?script|transcrip\w*|recording\w*|replay)(?![^\W_])"
    r"|(?:^|[.,;]|\bthen\b|\boops\b|\bo\b)\s*record\b|[\\\x00-\x1f]",
    re.IGNORECASE,
)
REFUSED = "That command is switched off here."


def writes_files(command: str) -> bool:
    """Whether a command makes the interpreter read or write a file."""
    return _FILES.search(command) is not None


def _end_with_the_run(parent: int) -> None:
    """Exit when the parent dies; a hanging interpreter would not notice its closed input."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _compile(source: str, target: Path) -> dict[str, Any]:
    """Compile a game; returns the failure and its step, or ""."""
    import textworld

    from naisei.textgame.make.many import compiled

    step = "load"
    try:
        game = textworld.Game.load(source)
        step = "compile"
        compiled(game, textworld.GameOptions(), target)
    except OSError as error:
        return {"errno": error.errno, "error": error.strerror}
    except Exception as error:  # a broken file can raise anything inside textworld
        return {"step": step, "error": f"{type(error).__name__}: {error}"}
    return {}


def _other(path: Path, last: Any) -> Any:
    """A plug-in engine for a file; `None` for TextWorld files. last: the previous game's engine,
    reused for the same file type."""
    if path.suffix == ".z8":
        return None
    from naisei.textgame.engine.others import other_engine

    kind = other_engine(path)
    assert kind is not None, "`playable` gives no other file"
    return last if isinstance(last, kind) else kind()


def _open(path: str) -> tuple[Any, Any]:
    """Open a game; returns it with its first state."""
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
    game = textworld.start(path, infos)
    inner = game.unwrapped
    asking = inner._gather_infos
    inner._gather_infos = _without_asking(inner, asking)
    state = game.reset()
    if not (state.description and state.inventory):  # the game does not report them by itself
        inner._gather_infos = asking
        state = game.reset()
    return game, state


def _without_asking(inner: Any, gather: Callable[[], None]) -> Callable[[], None]:
    """Skip textworld's `look` and `inventory` after each command for games that report both by
    themselves; they take two thirds of the time."""

    def gather_rest() -> None:
        infos = inner.request_infos
        required = infos.description, infos.inventory
        infos.description = infos.inventory = False
        try:
            gather()
        finally:
            infos.description, infos.inventory = required

    return gather_rest


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
