"""A conversation cannot go on without its person: where it is gone on with."""

from __future__ import annotations

from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.frozen import Frozen
from naisei.web.sittings.config import SittingConfig

__all__ = ["resume"]


def resume(path: Path) -> int:
    """Says where to go on. Called by `naisei runs resume`.

    Raises:
        InputError: always: somebody has to answer.
    """
    config = SittingConfig.model_validate(Frozen.read(path / "config.json").config)
    page = config.kind.partition("-")[0]
    raise InputError(
        say(
            "ブラウザでの会話は、話していた人のページで続けます",
            "a conversation is gone on with on the page of whoever held it",
        ),
        place=str(path),
        remedy=say(
            f"naisei serve を動かし、同じブラウザで /{page}/{path.name} を開いてください",
            f"run naisei serve and open /{page}/{path.name} in the same browser",
        ),
    )
