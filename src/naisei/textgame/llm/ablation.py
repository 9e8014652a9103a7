"""The rows of the thesis's Tables 3.2 and 3.3 as configurations.

Source: the text-game thesis, §§3.4.2, 3.5.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from naisei.core import InputError
from naisei.textgame.config import GameConfig

__all__ = ["OTHER_MODEL", "ROWS", "TABLES", "configs"]

OTHER_MODEL = "other-model"

#: Row → the player's settings in which it differs from `full`.
ROWS: Mapping[str, dict[str, JsonValue]] = {
    "full": {},
    OTHER_MODEL: {},
    "no-cot": {"thinking": False},
    "no-one-shot": {"example": "none"},
    "no-fa": {"feedback": "none"},
    "easy-one-shot": {"example": "easy"},
}

#: Title → the rows it holds, in the thesis's order.
TABLES: Mapping[str, tuple[str, ...]] = {
    "Parts of the prompt (Table 3.2)": ("full", OTHER_MODEL, "no-cot", "no-one-shot", "no-fa"),
    "Choice of the example (Table 3.3)": ("full", "no-one-shot", "easy-one-shot"),
}


def configs(
    base: GameConfig, rows: Sequence[str] = (), other_model: str | None = None
) -> dict[str, GameConfig]:
    """Row → configuration, all else as in `base`; all rows by default, `full` always first.

    Without another model its row is left out of the default.

    Raises:
        InputError: an unknown row; no model, or no other one for its row; a setting in `base`
            that makes a row the same as `full`.
    """
    if "player" not in base.models:
        raise InputError(
            "the player needs a model, and none is given",
            place="--model",
            remedy="give --model PROVIDER:NAME, e.g. --model openai:gpt-5-nano or --model local:",
        )
    if unknown := [row for row in rows if row not in ROWS]:
        raise InputError(
            f"unknown row '{unknown[0]}'", place="--rows", remedy=f"known: {', '.join(ROWS)}"
        )
    if other_model is None and OTHER_MODEL in rows:
        raise InputError(
            "the row other-model has no model",
            place="--other-model",
            remedy="give --other-model PROVIDER:NAME",
        )
    chosen = [
        row
        for row in ROWS
        if row == "full" or (row in rows if rows else row != OTHER_MODEL or other_model)
    ]
    out = {}
    for row in chosen:
        if clash := [key for key in ROWS[row] if key in base.agent_options]:
            raise InputError(
                f"the row {row} sets '{clash[0]}' itself",
                place=f"--agent-option {clash[0]}",
                remedy="leave the setting out, or choose other --rows",
            )
        update: dict[str, object] = {"agent_options": {**base.agent_options, **ROWS[row]}}
        if row == OTHER_MODEL and other_model:
            update["models"] = dict.fromkeys(base.models, other_model)
        out[row] = base.model_copy(update=update)
    return out
