"""Natural mistakes in every system: one message each, exit code 2, no traceback, nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import Naisei

_MODEL = "--model scripted:model.jsonl"

_MISTAKES = f"""
clarify run --agent random --data nothere.jsonl
clarify run --agent random --data empty
clarify run --agent random --data empty.jsonl
clarify run --agent random --data image.png
clarify run --agent random --data bad.jsonl
clarify run --agent random --split nothing
clarify run --agent bayes --memory dairy
clarify run --agent random --embedder word2vec
clarify run --agent random --simulator nobody
clarify run --agent nobody
clarify run --agent random --run-dir full
clarify run --agent random --simulator-model openai:x --simulator llm
clarify audit --simulator psychic
clarify ablate --rows nothing
director talk --topic x
director talk --topic x --character nobody {_MODEL}
director talk --topic x --policy mild {_MODEL}
director check nothere.txt
director check empty
director check image.png
director report empty.jsonl
director report bad.jsonl
director characters show nobody
relationship run nothere.toml {_MODEL}
relationship run empty.toml {_MODEL}
relationship run --embedder word2vec {_MODEL}
relationship run --personas nobody {_MODEL}
relationship run --start noday {_MODEL}
relationship rate nothere.jsonl
relationship rate empty.jsonl
relationship rate image.png
relationship rate bad.jsonl
relationship plot nothere.json
relationship report full
relationship recall --from-locomo nothere
relationship recall --from-locomo empty
relationship recall --from-locomo bad.jsonl
textgame run --games nothere
textgame run --games empty
textgame run --twc empty
textgame run --games empty --agent nobody
textgame play nothere.z8
textgame ablate --rows nothing
intent index nothere
intent index full --embedder word2vec
intent ask hi --index nothere
intent ask hi --index empty
intent eval --data nothere.jsonl --index nothere
emphasis tag nothere.md
emphasis tag image.png
emphasis tag full
emphasis tag full/notes.md --tagger nobody
emphasis eval nothere
emphasis train nothere --out model
runs show full
""".strip().splitlines()


@pytest.mark.parametrize("line", _MISTAKES)
def test_a_mistake_is_one_message(naisei: Naisei, line: str) -> None:
    for folder in ("empty", "full"):
        Path(folder).mkdir()
    Path("full/notes.md").write_text("一行。\n", encoding="utf-8")
    for name in ("empty.jsonl", "empty.toml"):
        Path(name).touch()
    Path("image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    Path("bad.jsonl").write_text("no json\n", encoding="utf-8")
    Path("model.jsonl").write_text('{"reply": "はい"}\n', encoding="utf-8")
    before = sorted(Path().rglob("*"))
    done = naisei(*line.split())
    assert done.code == 2, done
    assert done.err.count("error: ") == 1 and "Traceback" not in done.err, done.err
    assert "unexpected" not in done.err, done.err
    assert sorted(Path().rglob("*")) == before


def test_a_study_is_not_mixed_with_a_run(naisei: Naisei) -> None:
    flags = ["clarify", "run", "--limit", 2, "--trials", 1, "-q", "--agent", "random"]
    assert naisei(*flags, "--run-dir", "one").code == 0
    both = naisei(*flags, "--agent", "bayes", "--run-dir", "one")
    assert both.code == 2 and "single run" in both.err
    assert naisei(*flags, "--agent", "bayes", "--run-dir", "two").code == 0
    assert naisei(*flags, "--run-dir", "two").code == 2


def test_what_has_no_effect_is_told(naisei: Naisei) -> None:
    flags = ["--agent", "bayes", "--memory", "tur", "--model", "openai:x", "--temperature", 1]
    done = naisei("clarify", "run", "--limit", 1, "-q", *flags)
    assert done.code == 0
    told = [line.split(" has no effect")[0] for line in done.err.splitlines()]
    assert told == ["--model", "--temperature", "--memory tur"]
