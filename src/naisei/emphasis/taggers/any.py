"""A trained tagger of any kind, from the file or folder that training wrote."""

from __future__ import annotations

from pathlib import Path

from naisei.core import InputError
from naisei.emphasis.schemas import Tagger
from naisei.emphasis.taggers.rule import FirstSentence
from naisei.emphasis.taggers.store import load
from naisei.lang import say

__all__ = ["RULE", "load_tagger"]

RULE = "rule"


def load_tagger(name: str | Path) -> Tagger:
    """`rule`: the first sentence of each paragraph. Else a path: a CRF tagger's file, or the
    folder that training wrote.

    Raises:
        InputError: nothing there, or no tagger.
    """
    path = Path(name)
    if str(name) == RULE:
        return FirstSentence()
    if (path / "tagger.npz").is_file() and not (path / "tagger.json").is_file():
        return load(path / "tagger.npz")
    if (path / "crf.npz").is_file():
        # Like the next, it needs the extra `train`, and says so if it is not there.
        from naisei.emphasis.taggers.stack import load as load_stack

        return load_stack(path)
    if path.is_dir():
        from naisei.emphasis.taggers.neural.store import load as load_neural

        return load_neural(path)
    if not path.is_file():
        raise InputError(
            say(f"タガーがありません: {name}", f"there is no tagger {name}"),
            place="--tagger",
            remedy=say(
                f"{RULE}、または学習で書かれたファイルかフォルダーを指定してください",
                f"give {RULE}, or the file or folder that training wrote",
            ),
        )
    return load(path)
