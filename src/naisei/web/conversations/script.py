"""Scripts that ship, in the place of a model: a page shows itself where no model is given."""

from __future__ import annotations

from pathlib import Path

_DATA = Path(__file__).parents[2] / "data"
#: A conversation's model that means the script of its page.
SCRIPT = "script"


def shipped_script(name: str, model: str | None) -> str | None:
    """The model as providers know it: of `SCRIPT` the bundled file, any other as it is."""
    if model != SCRIPT:
        return model
    return f"scripted:{_DATA / name}"
