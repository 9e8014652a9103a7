"""Rows of the language-model player's ablation, as configurations.

Source: the text-game thesis, §§3.4.2, 3.5.3, 5.5.3, 6.5.2 (Tables 3.2, 3.3, 5.5 and 6.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.config import AblationConfig

if TYPE_CHECKING:
    pass

_OTHER_MODEL = "other-model"

_DIALOGUE: dict[str, JsonValue] = {"prompt": "dialogue", "history_chars": 0}
_NAVIGATING: dict[str, JsonValue] = {**_DIALOGUE, "navigator": True}

#: Row → the player settings that it changes.
ROWS: Mapping[str, dict[str, JsonValue]] = {
    "full": {},
    _OTHER_MODEL: {},
    "no-cot": {"thinking": False},
    "no-one-shot": {"example": "none"},
    "no-fa": {"feedback": "none"},
    "easy-one-shot": {"example": "easy"},
    "dialogue": _DIALOGUE,
    "navigator": _NAVIGATING,
    "other-dialogue": _DIALOGUE,
    "other-navigator": _NAVIGATING,
}

#: Rows that run `--other-model`.
_OTHERS = (_OTHER_MODEL, "other-dialogue", "other-navigator")
#: Rows that remove a part of the prompt (default).
_DEFAULT = tuple(row for row in ROWS if not row.endswith(("dialogue", "navigator")))


def chosen(config: AblationConfig, rows: Sequence[str]) -> tuple[str, ...]:
    """The rows to run, in the order of `ROWS`; by default those that remove a part of the prompt.

    Rows of prompt parts also run `full`, their baseline, first. Without `--other-model` the default
    leaves that row out.

    Raises:
        InputError: a row needs another model and none is set.
    """
    others = [row for row in rows if row in _OTHERS]
    if others and config.other_model is None:
        raise InputError(
            say(
                f"行 {others[0]} のモデルが指定されていません",
                f"the row {others[0]} has no model",
            ),
            place="--other-model",
            remedy=say(
                "--other-model PROVIDER:NAME を付けてください",
                "add --other-model PROVIDER:NAME",
            ),
        )
    selected = {*rows} or {row for row in _DEFAULT if row != _OTHER_MODEL or config.other_model}
    if selected & {*_DEFAULT}:
        selected.add("full")
    return tuple(row for row in ROWS if row in selected)


def configured(config: AblationConfig, row: str) -> AblationConfig:
    """The configuration of a row, otherwise equal to `config`.

    Raises:
        InputError: `config` already sets an option of the row.
    """
    if clash := [key for key in ROWS[row] if key in config.agent_options]:
        raise InputError(
            say(
                f"'{clash[0]}' は行 {row} が決める設定です",
                f"row {row} already sets '{clash[0]}'",
            ),
            place=f"--agent-option {clash[0]}",
            remedy=say(
                "この設定を外すか、--rows で別の行を選んでください",
                "remove the setting, or choose other --rows",
            ),
        )
    update: dict[str, object] = {"agent_options": {**config.agent_options, **ROWS[row]}}
    if row in _OTHERS and config.other_model:
        update["models"] = dict.fromkeys(config.models, config.other_model)
    return config.model_copy(update=update)
