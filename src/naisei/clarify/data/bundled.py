"""The bundled data sets `ambigact40-open` and `ambigact40-hard`, in Japanese and English.

Source: their data cards, `naisei/data/ambigact40_open/README.md` and `ambigact40_hard/README.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from naisei.clarify.data.loader import Loaded, load_path
from naisei.clarify.schemas import Language
from naisei.core import InputError
from naisei.lang import say


def folder(language: str = "ja", name: str = "ambigact40_open") -> Path:
    """The folder of the Japanese instances, or, for `en`, of their translation."""
    own = Path(str(files("naisei") / "data" / name))
    return own / "en" if language == "en" else own


def _source(name: str, language: Language) -> Callable[..., Loaded]:
    """Loads `NAME[:SPLIT]`, `test` by default; ignores the seed. Both sets and languages share the
    40 actions, with texts in the requested language.

    The source raises InputError for an unknown split, or for two conflicting splits.
    """

    def build(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded:
        if argument and split and argument != split:
            raise InputError(
                say(
                    f"二つの分割が指定されています: '{argument}' と '{split}'",
                    f"two splits are asked for: '{argument}' and '{split}'",
                ),
                place="--data",
                remedy=say("どちらか一つにしてください", "give one of them"),
            )
        return load_path(
            folder(language, name),
            split=argument or split or "test",
            actions=actions or folder() / "actions.jsonl",
        )

    return build


build = _source("ambigact40_open", "ja")
build_english = _source("ambigact40_open", "en")
#: At least four plausible actions, and pairs that differ only in the wish.
build_hard = _source("ambigact40_hard", "ja")
build_hard_english = _source("ambigact40_hard", "en")
