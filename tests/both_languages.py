"""What is said to people, held against both of its languages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from naisei.core import InputError
from naisei.lang import speaking

KANA = re.compile("[ぁ-んァ-ヶ]")
#: What is done, its message, its remedy, in English.
Wrong = tuple[Callable[[], object], str, str]


def refused(do: Callable[[], object]) -> InputError:
    """The error that it ends with, in English; in Japanese it is about the same place."""
    with speaking("en"), pytest.raises(InputError) as said:
        do()
    with speaking("ja"), pytest.raises(InputError) as told:
        do()
    assert KANA.search(told.value.message), told.value.message
    assert told.value.remedy == said.value.remedy or KANA.search(told.value.remedy)
    assert told.value.place == said.value.place
    return said.value


def said_in_both(do: Callable[[], object], message: str, remedy: str) -> None:
    """It fails with just these words in English, and with Japanese ones about the same place."""
    error = refused(do)
    assert (error.message, error.remedy) == (message, remedy)
