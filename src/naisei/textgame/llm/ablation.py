"""The rows of the thesis's Tables 3.2, 3.3, 5.5 and 6.2 as configurations.

Source: the text-game thesis, §§3.4.2, 3.5.3, 5.5.3, 6.5.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.config import GameConfig

__all__ = ["OTHER_MODEL", "ROWS", "TABLES", "configs"]

OTHER_MODEL = "other-model"

_DIALOGUE: dict[str, JsonValue] = {"prompt": "dialogue", "history_chars": 0}
_NAVIGATING: dict[str, JsonValue] = {**_DIALOGUE, "navigator": True}

#: Row → the player's settings that it makes.
ROWS: Mapping[str, dict[str, JsonValue]] = {
    "full": {},
    OTHER_MODEL: {},
    "no-cot": {"thinking": False},
    "no-one-shot": {"example": "none"},
    "no-fa": {"feedback": "none"},
    "easy-one-shot": {"example": "easy"},
    "dialogue": _DIALOGUE,
    "navigator": _NAVIGATING,
    "other-dialogue": _DIALOGUE,
    "other-navigator": _NAVIGATING,
}

#: Title → the rows it holds, in the thesis's order.
TABLES: Mapping[str, tuple[str, ...]] = {
    "Parts of the prompt (Table 3.2)": ("full", OTHER_MODEL, "no-cot", "no-one-shot", "no-fa"),
    "Choice of the example (Table 3.3)": ("full", "no-one-shot", "easy-one-shot"),
    "Zero-shot, and with the navigator (Tables 5.5 and 6.2)": (
        *("dialogue", "navigator", "other-dialogue", "other-navigator"),
    ),
}
#: Rows of the other model.
_OTHERS = (OTHER_MODEL, "other-dialogue", "other-navigator")
#: By default: the parts of the prompt.
_DEFAULT = tuple(row for row in ROWS if row not in TABLES[list(TABLES)[-1]])


def configs(
    base: GameConfig, rows: Sequence[str] = (), other_model: str | None = None
) -> dict[str, GameConfig]:
    """Row → configuration, all else as in `base`; the parts of the prompt by default.

    Parts of the prompt are compared with `full`, which then comes first. Without another model
    its row is left out of the default.

    Raises:
        InputError: an unknown row; no model, or no other one for its row; a setting in `base`
            that makes a row the same as `full`.
    """
    if "player" not in base.models:
        raise InputError(
            say(
                "役割 player にはモデルが要りますが、指定されていません",
                "the player needs a model, and none is given",
            ),
            place="--model",
            remedy=say(
                "--model PROVIDER:NAME を付けてください "
                "(例: --model openai:gpt-5-nano、--model local:)",
                "give --model PROVIDER:NAME, e.g. --model openai:gpt-5-nano or --model local:",
            ),
        )
    if unknown := [row for row in rows if row not in ROWS]:
        raise InputError(
            say(f"'{unknown[0]}' という行はありません", f"unknown row '{unknown[0]}'"),
            place="--rows",
            remedy=say("使えるもの: ", "known: ") + ", ".join(ROWS),
        )
    if other_model is None and (others := [row for row in rows if row in _OTHERS]):
        raise InputError(
            say(
                f"行 {others[0]} のモデルが指定されていません",
                f"the row {others[0]} has no model",
            ),
            place="--other-model",
            remedy=say(
                "--other-model PROVIDER:NAME を付けてください",
                "give --other-model PROVIDER:NAME",
            ),
        )
    default = [row for row in _DEFAULT if row != OTHER_MODEL or other_model]
    wanted = {*(rows or default)}
    if wanted & {*_DEFAULT}:
        wanted.add("full")
    chosen = [row for row in ROWS if row in wanted]
    out = {}
    for row in chosen:
        if clash := [key for key in ROWS[row] if key in base.agent_options]:
            raise InputError(
                say(
                    f"'{clash[0]}' は行 {row} が決める設定です",
                    f"the row {row} sets '{clash[0]}' itself",
                ),
                place=f"--agent-option {clash[0]}",
                remedy=say(
                    "この設定を外すか、--rows で別の行を選んでください",
                    "leave the setting out, or choose other --rows",
                ),
            )
        update: dict[str, object] = {"agent_options": {**base.agent_options, **ROWS[row]}}
        if row in _OTHERS and other_model:
            update["models"] = dict.fromkeys(base.models, other_model)
        out[row] = base.model_copy(update=update)
    return out
