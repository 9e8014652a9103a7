"""Listing of the runs in a folder, and full-text search over their episodes.

The folder holds a cached list with one line per idle run, valid until the run's files change, so
only new or changed logs are opened.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from naisei import __version__
from naisei.core import InputError
from naisei.files import plain_file, write_atomically
from naisei.lang import say
from naisei.runs.directory import LOG, RunDirectory
from naisei.runs.frozen import Frozen, model_name
from naisei.runs.lock import locked
from naisei.runs.log import RunLog

#: File name of the cached list in the folder of the runs.
LIST = ".naisei-runs.json"
#: Up to this many new runs, rewriting the list is slower than reading them.
_FEW = 16

#: Size and modification time (ns) of the run's folder and files; 0 for missing files.
_Mark = tuple[int, ...]
_MARKED = ("", "config.json", LOG, f"{LOG}-wal", "lock.holder")


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a list. state: `done`, `running`, `stopped`, `broken` (then `note` says why); empty
    as long as only its config was read.

    study: the folder of the study that it belongs to. task: which of the system's experiments.
    """

    path: Path
    system: str = ""
    created: str = ""
    state: str = ""
    scored: int = 0
    failed: int = 0
    total: int = 0
    tokens: int = 0
    usd: float | None = None
    note: str = ""
    study: Path | None = None
    agent: str = ""
    models: tuple[str, ...] = ()
    task: str = ""

    @property
    def broken(self) -> bool:
        """Whether the run cannot be read."""
        return self.state == "broken"

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "path": str(self.path), "study": str(self.study or "")}


@dataclass(frozen=True, slots=True)
class _ListCache:
    """naisei: the version that wrote it; another one looks for itself. lines: by the path of the
    run in the folder, with the mark of its files."""

    naisei: str
    lines: dict[str, tuple[_Mark, Listed]]


def runs(root: Path) -> list[Listed]:
    """Return the runs under a folder and in its studies; empty if the folder does not exist.

    A study is a folder that is not a run and contains at least one readable run. Its runs stay
    together, at the position of the newest.
    """
    return look_at_all(root, find_runs(root))


def find_runs(root: Path) -> list[Listed]:
    """Like `runs`, without reading logs: runs changed since the last list have no state."""
    lines, groups = _read(root).lines, []
    for name in _folders(root):
        run = _found_at(root / name, lines.get(name))
        if run is not None:
            groups.append([run])
            continue
        study = [
            run
            for inner in _folders(root / name)
            if (run := _found_at(root / name / inner, lines.get(f"{name}/{inner}"), root / name))
        ]
        if any(not run.broken for run in study):
            groups.append(sorted(study, key=lambda run: run.created, reverse=True))
    groups.sort(key=lambda group: group[0].created, reverse=True)
    return [run for group in groups for run in group]


def look_at_all(root: Path, runs: Sequence[Listed]) -> list[Listed]:
    """Return the runs of a folder with data from their logs, cached there if writable."""
    listed, new = [], {}
    for run in runs:
        mark = () if run.state else _mark(str(run.path))
        listed.append(looked_at(run))
        if mark and _log_is_a_file(mark) and listed[-1].state in ("done", "stopped"):
            new[run.path.relative_to(root).as_posix()] = mark, listed[-1]
    if len(new) >= _FEW:
        lines = {**_read(root).lines, **new}
        there = {name: line for name, line in lines.items() if (root / name).is_dir()}
        with suppress(InputError):  # read-only folder: the logs are opened again next time
            write_atomically(root / LIST, _adapter().dump_json(_ListCache(__version__, there)))
    return listed


@cache
def _adapter() -> TypeAdapter[_ListCache]:
    return TypeAdapter(_ListCache)


def _read(root: Path) -> _ListCache:
    """Return the cached list; empty if this version cannot read it."""
    path = root / LIST
    with suppress(InputError, OSError, ValidationError):
        plain_file(path)
        kept = _adapter().validate_json(path.read_bytes())
        if kept.naisei == __version__:
            return kept
    return _ListCache(__version__, {})


def _folders(root: Path) -> list[str]:
    """Return the names of the subfolders; empty if the folder is missing or unreadable."""
    try:
        with os.scandir(root) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def _stat(path: str) -> tuple[int, int]:
    try:
        stat = os.stat(path)  # noqa: PTH116 - of many runs: a Path of each takes as long again
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_mtime_ns


def _mark(path: str) -> _Mark:
    return tuple(figure for name in _MARKED for figure in _stat(f"{path}/{name}"))


def _found_at(
    path: Path, kept: tuple[_Mark, Listed] | None, study: Path | None = None
) -> Listed | None:
    """Return the run in a folder; `None` if there is none."""
    mark = _mark(str(path))
    if kept is not None and kept[0] == mark:
        return replace(kept[1], path=path, study=study)
    return found_at(path, study) if mark[3] else None


def _log_is_a_file(mark: _Mark) -> bool:
    """Return whether the log is a file rather than a database."""
    return mark[2 * _MARKED.index(LOG) + 1] > 0


def found_at(path: Path, study: Path | None = None) -> Listed:
    """Return a single run, without reading its log."""
    try:
        frozen = Frozen.read(path / "config.json")
    except InputError as error:
        return Listed(path, state="broken", note=error.message, study=study)
    return Listed(
        path,
        frozen.system,
        frozen.created,
        study=study,
        agent=frozen.agent,
        models=frozen.models,
        task=str(frozen.config.get("task", "")),
    )


def looked_at(run: Listed) -> Listed:
    """Return the run with data from its log."""
    if run.state:
        return run
    try:
        # Digests are verified when a single run is opened.
        with RunDirectory.look(run.path, check=False) as directory:
            scored, failed = directory.log.outcomes()
            ledger = directory.log.ledger()
            total = directory.log.get("episodes")
    except (InputError, TypeError, ValueError) as error:  # or rows written by another program
        return replace(run, state="broken", note=getattr(error, "message", str(error)))
    total = total if isinstance(total, int) else 0
    state = "running" if locked(run.path) else "done" if total and scored == total else "stopped"
    return replace(
        run,
        state=state,
        scored=scored,
        failed=failed,
        total=total,
        tokens=ledger.tokens,
        usd=ledger.usd,
    )


def list_text(listed: Sequence[Listed]) -> str:
    """Format one line per run; the runs of a study are indented under a line for the study."""
    head = ("run", "agent", "started", "state", "scored", "tokens", "$")
    rows = []
    study = None
    for run in listed:
        if run.study and run.study != study:
            rows.append((f"{run.study}/", *("" for _ in head[1:])))
        study = run.study
        rows.append(_row(run))
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )


def _row(run: Listed) -> tuple[str, ...]:
    return (
        f"  {run.path.name}" if run.study else str(run.path),
        ", ".join(filter(None, (run.agent, *dict.fromkeys(map(model_name, run.models))))),
        run.created.replace("T", " ")[5:16],
        f"{run.state}: {run.note}" if run.note else run.state,
        f"{run.scored}/{run.total}" + (f" −{run.failed}" if run.failed else ""),
        f"{run.tokens:,}",
        "?" if run.usd is None else f"{run.usd:.4f}",
    )


#: Number of effects in memory at once, and of characters around a match.
_AT_ONCE, _AROUND = 500, 60
#: Numbers are not searched.
_EFFECTS = (
    "SELECT seq, episode, path, kind, request, result FROM events"
    " WHERE seq > ? AND kind != 'embed' ORDER BY seq LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """An effect that holds the text. run: its folder. kind: of the effect. excerpt: the match in
    context, on one line."""

    run: Path
    episode: str
    step: str
    kind: str
    excerpt: str

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "run": str(self.run)}


@dataclass(slots=True)
class Search:
    """An iterator over hits, run by run. prompts: also search prompts, not only lines, answers,
    actions and memories. Case and character width are ignored.

    runs, effects: number searched so far. unread: runs that could not be searched, and why.
    """

    text: str
    places: Sequence[Listed]
    prompts: bool = False
    runs: int = 0
    effects: int = 0
    unread: dict[Path, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Hit]:
        wanted = _folded(self.text)
        for place in self.places:
            try:
                if place.broken:
                    raise InputError(place.note)
                with RunDirectory.look(place.path, check=False) as directory:
                    for episode, step, kind, text in self._texts(directory.log):
                        if wanted in (folded := _folded(text)):
                            around = _around(folded, folded.index(wanted), len(wanted))
                            yield Hit(place.path, episode, step, kind, around)
            except InputError as error:
                self.unread[place.path] = error.message
            else:
                self.runs += 1

    def _texts(self, log: RunLog) -> Iterator[tuple[str, str, str, str]]:
        last = -1
        while rows := log.select(_EFFECTS, (last, _AT_ONCE)):
            last = rows[-1][0]
            for _, episode, step, kind, request, result in rows:
                self.effects += 1
                told = [result] if kind == "chat" and not self.prompts else [request, result]
                texts = (t for part in told if part for t in _strings(log.unpacked(part)))
                yield episode, step, kind, "\n".join(texts)

    def describe(self) -> str:
        """Describe the scope of the search in a sentence."""
        unread = "".join(f"; {path}: {why}" for path, why in self.unread.items())
        where = (
            say("プロンプトを含む", "prompts included")
            if self.prompts
            else say("プロンプトを除く", "without prompts")
        )
        return say(
            f"実行 {self.runs} 個、やりとり {self.effects:,} 件を調べました ({where})",
            f"searched {self.runs} runs, {self.effects:,} effects ({where})",
        ) + (say("。読めない実行", "; not read") + unread if unread else "")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _around(text: str, at: int, length: int) -> str:
    start, end = max(0, at - _AROUND), at + length + _AROUND
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if type(value) is list else ():
        yield from _strings(each)
