"""`ambigact40-open` and `ambigact40-hard`, with their English: they come with the package.

Source: their data cards, `naisei/data/ambigact40_open/README.md` and `ambigact40_hard/README.md`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from naisei.clarify.data.loader import Loaded, load_path
from naisei.core import InputError
from naisei.lang import say


def folder(language: str = "ja", name: str = "ambigact40_open") -> Path:
    """Where the instances lie: the Japanese ones, or for `en` their translation."""
    own = Path(str(files("naisei") / "data" / name))
    return own / "en" if language == "en" else own


def build(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded:
    """`ambigact40-open[:SPLIT]`; `test` by default. The seed has no part in it.

    Raises:
        InputError: unknown split, or two splits that differ.
    """
    return load_path(folder(), split=_split(argument, split), actions=actions)


def build_english(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded:
    """`ambigact40-open-en[:SPLIT]`: the same instances in English, with the same ids.

    The 40 actions are those of `ambigact40-open`, in their English text.

    Raises:
        InputError: unknown split, or two splits that differ.
    """
    return _english("ambigact40_open", argument, split, actions)


def build_hard(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded:
    """`ambigact40-hard[:SPLIT]` (`dev`, `test`, `all`): four and more plausible actions, and twins
    with the same words in the same room and another wish.

    Raises:
        InputError: unknown split, or two splits that differ.
    """
    own = folder(name="ambigact40_hard")
    return load_path(own, split=_split(argument, split), actions=actions)


def build_hard_english(
    argument: str, *, split: str | None, seed: int, actions: str | None
) -> Loaded:
    """`ambigact40-hard-en[:SPLIT]`: the same instances in English.

    Raises:
        InputError: unknown split, or two splits that differ.
    """
    return _english("ambigact40_hard", argument, split, actions)


def _english(name: str, argument: str, split: str | None, actions: str | None) -> Loaded:
    return load_path(
        folder("en", name),
        split=_split(argument, split),
        actions=actions or folder() / "actions.jsonl",
    )


def _split(argument: str, split: str | None) -> str:
    if argument and split and argument != split:
        raise InputError(
            say(
                f"二つの分割が指定されています: '{argument}' と '{split}'",
                f"two splits are asked for: '{argument}' and '{split}'",
            ),
            place="--data",
            remedy=say("どちらか一つにしてください", "give one of them"),
        )
    return argument or split or "test"
