"""Web conversations as runs: listed and shown like any other, and continued at their page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.system.declare import System


def _elsewhere(config: dict[str, Any], path: Path) -> InputError:
    page = str(config.get("kind", "")).partition("-")[0]
    return InputError(
        say(
            "ブラウザでの会話は、話していた人のページで続けます",
            "a conversation is continued on the page where it began",
        ),
        place=str(path),
        remedy=say(
            f"naisei serve を動かし、同じブラウザで /{page}/{path.name} を開いてください",
            f"run naisei serve and open /{page}/{path.name} in the same browser",
        ),
    )


SYSTEM = System(
    name="web",
    about=("ブラウザでの会話", "Conversations in the browser."),
    replay="naisei.web.replays.conversations:REPLAY",
    elsewhere=_elsewhere,
)
