"""What is too long is said before anything is done with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.lengths import FIELD, LINE, MESSAGE, PROFILE, bounded, cached_text, too_long


def test_the_limit_itself_fits() -> None:
    assert too_long("あ" * FIELD, FIELD) == ""
    assert bounded("あ" * FIELD, FIELD, place="x") == "あ" * FIELD
    with pytest.raises(InputError, match=r"x: .*501 characters \(at most 500\)"):
        bounded("あ" * (FIELD + 1), FIELD, place="x")


def _row(text: str) -> str:
    return json.dumps({"utterance": text, "gold": 1})


@pytest.mark.parametrize(
    ("command", "name", "text"),
    [
        ("intent ask", "", "あ" * (MESSAGE + 1)),
        ("clarify run --agent random --data", "a.jsonl", _row("あ" * (MESSAGE + 1))),
        ("director check", "a.txt", "やな: " + "あ" * (LINE + 1)),
        ("director check --character", "a.toml", "# " + "あ" * PROFILE),
        ("director talk --model scripted:x --topic", "", "あ" * (FIELD + 1)),
        ("relationship rate", "a.txt", "青木: あ\n赤井: " + "あ" * (LINE + 1)),
    ],
)
def test_every_command_says_so_before_any_work(
    naisei: Naisei, tmp_path: Path, command: str, name: str, text: str
) -> None:
    if name:
        (tmp_path / name).write_text(text, "utf-8")
    done = naisei(*command.split(), name or text)
    assert done.code == 2, done.err
    assert "too long" in done.err
    assert len(done.err.splitlines()) <= 2
    assert not list(tmp_path.glob("runs"))


def test_long_texts_do_not_stay() -> None:
    read: list[str] = []
    heard = cached_text(1000)(lambda text: read.append(text) or len(text))
    for text in [*(str(n) for n in range(100)), *("あ" * (1000 + n) for n in range(100))] * 2:
        assert heard(text) == len(text)
    assert len(read) == 100 + 2 * 100
