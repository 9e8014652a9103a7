"""kill -9 before each write of whole commands, then the same command again: it goes on or says what
to do, ends with what an undisturbed one ends with, and what was printed as done was there.

Commands that train with torch or play games are tried where those are installed.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.attack.base import Attempt
from benchmarks.attack.writes import counting, killing, writes_seen_by
from naisei.core import Event, InputError
from naisei.runs.log import RunLog

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

_DATA = Path(__file__).parents[2] / "src/naisei/data"


@dataclass(frozen=True)
class Command:
    """A command in a folder of its own. made: what it made, as something that can be compared;
    raises where that is half. prepare: puts there what it needs. needs: modules. partly: what is
    wrong before it has gone on, from the folder and what a whole one makes."""

    arguments: tuple[str, ...]
    made: Callable[[Path], Any]
    prepare: Callable[[Path], None] = lambda folder: None
    needs: tuple[str, ...] = ()
    partly: Callable[[Path, Any], str] = lambda folder, whole: ""


@dataclass(frozen=True, slots=True)
class _Ended:
    """code: of the exit, negative for a signal. out, err: what was printed."""

    code: int
    out: str
    err: str


def _forked(folder: Path, work: Callable[[], None]) -> _Ended:
    """Of a child process in `folder`, which imports nothing anew."""
    out, err = folder / ".out", folder / ".err"
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 70
        try:
            os.chdir(folder)
            for number, path in ((1, out), (2, err)):
                os.dup2(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.environ["NAISEI_LANG"] = "en"
            try:
                work()
                code = 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 0
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = [path.read_text("utf-8", errors="replace") for path in (out, err)]
    for path in (out, err):
        path.unlink()
    return _Ended(code, *texts)


def _run(command: Command, folder: Path, number: int | None, counted: Path | None) -> _Ended:
    """number: the write before which it is killed. counted: gets the names of all writes."""
    from naisei.cli.main import main

    def work() -> None:
        names: list[str] = []
        act = counting(names) if number is None else killing(number)
        try:
            with writes_seen_by(act):
                main([part.format(data=_DATA) for part in command.arguments])
        finally:
            if counted is not None:
                counted.write_text("\n".join(names), "utf-8")

    return _forked(folder, work)


@dataclass(frozen=True, slots=True)
class Whole:
    """What an undisturbed command begins with, does (its writes by name) and makes."""

    command: Command
    before: Path
    writes: list[str]
    made: Any


def whole(command: Command, folder: Path) -> Whole:
    """folder: gets what it begins with."""
    before, here = folder / "before", folder / "here"
    before.mkdir(parents=True)
    command.prepare(before)
    shutil.copytree(before, here)
    ended = _run(command, here, None, folder / "writes")
    if ended.code:
        raise RuntimeError(f"{command.arguments}: exit {ended.code}: {ended.err[-900:]}")
    writes = (folder / "writes").read_text("utf-8").splitlines()
    return Whole(command, before, writes, command.made(here))


def tried(whole: Whole, numbers: list[int]) -> str:
    """What is wrong after it was killed before these writes, one after another, and run again to
    its end; empty if nothing is."""
    command = whole.command
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as name:
        folder = Path(name) / "here"
        shutil.copytree(whole.before, folder)
        try:
            for number in numbers:
                ended = _run(command, folder, number, None)
                if ended.code not in (0, -signal.SIGKILL):
                    return f"exit {ended.code}: {ended.err[-500:]}"
                if ended.out.rstrip().endswith("}") and command.made(folder) != whole.made:
                    return "it was printed as done and was not there"
                if why := command.partly(folder, whole.made):
                    return why
            ended = _run(command, folder, None, None)
            if ended.code:
                return f"the next one: exit {ended.code}: {ended.err[-500:]}"
            made = command.made(folder)
        except (InputError, OSError) as error:
            return f"it cannot be read: {error}"
        if made != whole.made:
            return f"it ended with something else: {_difference(whole.made, made)}"
        return ""


def _difference(one: Any, other: Any) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        return ", ".join(
            f"{key}: {_difference(one.get(key), other.get(key))}"
            for key in sorted({*one, *other})
            if one.get(key) != other.get(key)
        )
    return f"{str(one)[:150]} → {str(other)[:150]}"


# Runs.


def _of_run(folder: Path) -> dict[str, Any]:
    """Results, every event but its times, and whether the report is whole."""
    run = folder / "run"
    with closing(RunLog(run / "log.sqlite", read_only=True)) as log:
        events = {name: [_plain(e) for e in log.read(name)] for name in log.known_episodes()}
    page = (run / "report.html").read_text("utf-8")
    return {
        "results": (run / "results.jsonl").read_text("utf-8"),
        "events": events,
        "report": page.rstrip().endswith("</html>"),
        "files": sorted(each.name for each in run.iterdir() if each.name != "log.sqlite.writers"),
    }


def _plain(event: Event) -> tuple[Any, ...]:
    return (event.where.step, event.kind, event.digest, event.request, event.result, event.failure)


def _half_a_run(folder: Path, whole: Any) -> str:
    """Results that are there are all of them; an event that is there is as it will be."""
    run = folder / "run"
    results = run / "results.jsonl"
    if results.exists() and results.read_text("utf-8") != whole["results"]:
        return "half of the results"
    if not (run / "log.sqlite").exists():
        return ""
    try:
        with closing(RunLog(run / "log.sqlite", read_only=True)) as log:
            for name in log.known_episodes():
                events = [_plain(e) for e in log.read(name)]
                if events != whole["events"][name][: len(events)]:
                    return f"{name} is not as it would have been"
    except InputError as error:
        # A log that was about to be made is none yet.
        made = (run / "log.sqlite").stat().st_size or (run / "log.sqlite-wal").exists()
        return f"it cannot be looked at: {error}" if made else ""
    return ""


# Indexes.


def _documents(folder: Path) -> None:
    """An index is there, and since then a document came, one went and one changed."""
    docs = folder / "docs"
    docs.mkdir()
    for n in range(5):
        (docs / f"{n}.md").write_text(
            f"# 規程 {n}\n\n{n} 番の休暇は前日までに届け出る。\n", "utf-8"
        )
    (docs / "long.txt").write_text("出張の旅費は実費を支払う。\n" * 4000, "utf-8")
    shutil.copytree(_DATA / "handbook/leave", docs / "leave")
    _prepared(folder, "intent", "index", "docs", "--index", "index", "--embedder", "ngram", "-q")
    (docs / "0.md").unlink()
    (docs / "1.md").write_text("# 規程 1\n\n休暇は当日でもよい。\n", "utf-8")
    (docs / "new.html").write_text("<title>寮</title><p>寮の門限は二十三時。</p>", "utf-8")


def _main(*arguments: str) -> None:
    from naisei.cli.main import main

    main(list(arguments))


def _of_index(folder: Path) -> dict[str, Any]:
    from naisei.retrieval.index import Index

    with Index.open(folder / "index") as index:
        found = {
            asked: [(hit.chunk.path, hit.chunk.text) for hit in index.search(asked, k=3)]
            for asked in ("休暇の届け出", "寮の門限は？", "旅費")
        }
        titles = index.outline()
    generations = list((folder / "index").glob("generation-*"))
    return {"titles": titles, "found": found, "generations": len(generations)}


def _half_an_index(folder: Path, whole: Any) -> str:
    """It answers as before, or as it will."""
    now = _of_index(folder)
    if now["titles"] == whole["titles"]:
        return "" if now["found"] == whole["found"] else "another answer of the same documents"
    return "" if ("規程 0", ()) in now["titles"] else f"of neither: {now['titles']}"


# What learns, and what it learns from.


def _corpus(folder: Path) -> None:
    docs = folder / "docs"
    docs.mkdir()
    for n in range(6):
        lines = [f"**設定{k}**の変更は{n}日かかります。" for k in range(4)]
        (docs / f"{n}.md").write_text(f"# 手引き {n}\n\n" + "\n\n".join(lines) + "\n", "utf-8")
    _prepared(folder, "emphasis", "corpus", "--from", "docs", "--out", "corpus.jsonl")


def _tiny_encoder(folder: Path) -> None:
    from emphasis.tiny_encoder import folder as encoder

    _corpus(folder)
    _prepared_by(folder, lambda: encoder(folder / "encoder") and None)


def _games(folder: Path) -> None:
    _prepared(folder, "textgame", "make", "cooking", "--out", "games", "--n", "3")


def _walkthroughs(folder: Path) -> None:
    def make() -> None:
        from naisei.textgame.trained.recordings import Recording, _write
        from textgame.trained_kit import recorded, tiny_encoder

        game = recorded()
        _write(folder / "games.jsonl.gz", Recording((game,)))
        texts = [f"{s.state.text} {' '.join(s.candidates)}" for s in game.steps]
        tiny_encoder(folder / "encoder", texts)

    _prepared_by(folder, make)


def _prepared(folder: Path, *arguments: str) -> None:
    _prepared_by(folder, lambda: _main(*arguments))


def _prepared_by(folder: Path, work: Callable[[], None]) -> None:
    ended = _forked(folder, work)
    if ended.code:
        raise RuntimeError(f"exit {ended.code}: {ended.err[-900:]}")


def _files(*names: str) -> Callable[[Path], dict[str, Any]]:
    """Of these files or folders, and which others are there."""

    def made(folder: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in names:
            place = folder / name
            for each in sorted(place.rglob("*")) if place.is_dir() else [place]:
                if each.is_file():
                    found[str(each.relative_to(folder))] = each.read_bytes()
        return found

    return made


def _no_half(*names: str) -> Callable[[Path, Any], str]:
    """What is there under its own name is whole."""

    def wrong(folder: Path, whole: Any) -> str:
        for name, content in _files(*names)(folder).items():
            if name in whole and content != whole[name]:
                return f"half of {name}"
        return ""

    return wrong


_TRAIN = ("--rate", "0.003", "--batch", "4", "--max-tokens", "96")
COMMANDS: Mapping[str, Command] = {
    "clarify run": Command(
        ("clarify", "run", "--agent", "random", "--limit", "5", "--concurrency", "3", "--run-dir",
         "run", "-q", "--json"),
        _of_run,
        partly=_half_a_run,
    ),
    "intent index": Command(
        ("intent", "index", "docs", "--index", "index", "--embedder", "ngram", "-q"),
        _of_index,
        _documents,
        partly=_half_an_index,
    ),
    "emphasis corpus": Command(
        ("emphasis", "corpus", "--from", "docs", "--out", "made.jsonl"),
        _files("made.jsonl"),
        _corpus,
        partly=_no_half("made.jsonl"),
    ),
    "emphasis train crf": Command(
        ("emphasis", "train", "corpus.jsonl", "--tagger", "crf", "--dev", "4", "--out", "out",
         "-q"),
        _files("out"),
        _corpus,
        partly=_no_half("out"),
    ),
    "emphasis train": Command(
        ("emphasis", "train", "corpus.jsonl", "--tagger",
         "transformer-title-crf:layers=1,limit=40,encoder=encoder,steps=4,every=1", "--dev", "4",
         "--out", "out", "-q", "--device", "cpu"),
        _files("out/tagger.json", "out/weights.safetensors"),
        _tiny_encoder,
        ("torch", "transformers", "safetensors"),
        _no_half("out/tagger.json", "out/weights.safetensors"),
    ),
    "textgame record": Command(
        ("textgame", "record", "--games", "games", "--out", "made.jsonl", "--processes", "1"),
        _files("made.jsonl"),
        _games,
        ("textworld",),
        _no_half("made.jsonl"),
    ),
    "textgame train": Command(
        ("textgame", "train", "--recorded", "games.jsonl.gz", "--encoder", "encoder", "--epochs",
         "2", *_TRAIN, "--out", "out", "-q"),
        _files("out/model.onnx", "out/model.json", "out/training/curve.svg"),
        _walkthroughs,
        ("torch", "transformers", "accelerate"),
        _no_half("out/model.onnx", "out/model.json"),
    ),
}  # fmt: skip


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        wholes: dict[str, Whole] = {}
        there = [
            name
            for name, command in COMMANDS.items()
            if all(importlib.util.find_spec(module) for module in command.needs)
        ]
        while time.monotonic() < until:
            for name in there:
                if time.monotonic() > until:
                    return
                if name not in wholes:
                    wholes[name] = whole(COMMANDS[name], Path(folder) / name)
                each = wholes[name]
                numbers = [rng.randrange(len(each.writes)) for _ in range(rng.randint(1, 3))]
                why = tried(each, numbers)
                note = f"{numbers} of {len(each.writes)}: {why}"
                yield Attempt(f"kill -9: {name}", "fell" if why else "held", bool(why), note)
