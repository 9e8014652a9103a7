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
    assert "0 articles" in said.value.message
    assert "bold" in said.value.remedy
    file = tmp_path / "tagger"
    file.write_bytes(b"no tagger")
    with pytest.raises(InputError) as said:
        load(file)
    assert "CRF" in said.value.message
    assert "training" in said.value.remedy
    with speaking("ja"):
        for do in (lambda: train([], plan=CrfPlan()), lambda: load(file)):
            with pytest.raises(InputError) as told:
                do()
            assert KANA.search(told.value.message) and KANA.search(told.value.remedy)
