"""Errors of taggers in the reader's language."""

from __future__ import annotations

from pathlib import Path

import pytest

from both_languages import KANA
from naisei.core import InputError
from naisei.emphasis.taggers.crf import CrfPlan, load, train
from naisei.lang import speaking


def test_an_error_is_said_in_both_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_LANG", "en")
    with pytest.raises(InputError) as said:
        train([], plan=CrfPlan())
    assert said.value.message == "nothing is emphasised in the 0 articles to learn from"
    assert said.value.remedy == "give documents that have bold words"
    file = tmp_path / "tagger"
    file.write_bytes(b"no tagger")
    with pytest.raises(InputError) as said:
        load(file)
    assert said.value.message.startswith("this is no trained CRF tagger: ")
    assert said.value.remedy == "give the file that training wrote"
    with speaking("ja"):
        for do in (lambda: train([], plan=CrfPlan()), lambda: load(file)):
            with pytest.raises(InputError) as told:
                do()
            assert KANA.search(told.value.message) and KANA.search(told.value.remedy)
