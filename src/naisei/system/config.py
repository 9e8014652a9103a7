"""Configurations whose fields are the flags of a command.

    class TeaConfig(Config):
        cups: int = flag(2, "杯数", "Cups to make.", ge=1)

`cups` defines the flag `--cups`, its help in both languages, its bounds, its default, the
key `cups` of the frozen configuration, and its row in the reference.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.fields import FieldInfo

from naisei.entries import names
from naisei.lang import say

#: Precedes the seed at the end of the label of a configuration that runs under several seeds.
SEED = "seed="
#: Help panels by the names that configurations use: titles in Japanese and English.
PANELS = {
    "task": ("課題", "Task"),
    "models": ("モデル", "Models"),
    "connections": ("接続", "Connections"),
    "run": ("実行", "Run"),
    "budget": ("予算", "Budget"),
    "input": ("入力", "Input"),
    "output": ("出力", "Output"),
}
_KEY = "flag"


def flag(
    default: Any,
    ja: str,
    en: str,
    *,
    name: str | None = None,
    short: str | None = None,
    panel: str | tuple[str, str] = "task",
    metavar: str | None = None,
    env: str | None = None,
    shown: str | tuple[str, str] | None = None,
    axis: bool | tuple[Any, ...] = False,
    argument: bool = False,
    more: bool = False,
    formats: tuple[str, ...] = (),
    needs: str = "",
    choices: str | tuple[str, ...] = (),
    meant: Mapping[str, tuple[str, str]] = {},
    **bounds: Any,
) -> Any:
    """Define a field of a configuration that is a flag of its command.

    Args:
        default: default of the field; `...` for a required flag.
        ja, en: help in Japanese and English.
        name: name of the flag, by default `--field-name`; for a boolean with both forms, such as
            `--judge/--no-judge` (the default for a field that is true by default).
        short: one letter with its hyphen, such as `-q`.
        panel: help panel: a key of `PANELS`, or a title in both languages.
        metavar: placeholder for the value in the help.
        env: environment variable that the flag falls back to.
        shown: default value as shown in the help.
        axis: if the flag is repeated, each value is a separate configuration, and the runs of
            all of them are compared (a study). A tuple: the default values.
        argument: a positional argument instead of a flag.
        more: the command's positional arguments are also values of this repeatable flag, so that
            `--personas A B` sets both.
        formats: date and time formats, as for `strptime`.
        needs: attribute of the whole configuration, such as `rules.judge`; if it is False,
            the flag has no effect, and the command reports this.
        choices: the values that a form offers, or the entry-point group that names them. A
            text with neither choices nor a `max_length` may name a file, so no form asks for it.
        meant: description of each choice, in Japanese and English, for forms.
        bounds: bounds of the value, as for `pydantic.Field`: ge, gt, le, lt, min_length.
            `exclude`: omitted from the frozen configuration, since it changes no result.
    """
    told: dict[str, Any] = {"ja": ja, "en": en, "name": name, "short": short, "panel": panel}
    told |= {"metavar": metavar, "env": env, "shown": shown, "axis": axis}
    told |= {"argument": argument, "more": more, "formats": formats, "needs": needs}
    told |= {"choices": choices, "meant": meant}
    kept: dict[str, Any] = {key: value for key, value in told.items() if value}
    return Field(default, description=en, json_schema_extra={_KEY: kept}, **bounds)


class Options(BaseModel):
    """Frozen settings; unknown names are refused. The base class has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Printed(Options):
    """Flags of a command that prints a result."""

    as_json: bool = flag(
        False,
        "結果を JSON で標準出力の最後の行に出力する",
        "Print the result as JSON, the last line of stdout.",
        name="--json",
        panel="output",
    )


def store_flag() -> Any:
    """The flag `--store`: store logs and a server's user data in a database."""
    ja = "記録を置く PostgreSQL (postgresql://…)。既定はファイル"
    en = "PostgreSQL that keeps the logs, postgresql://…; files by default."
    return flag(None, ja, en, name="--store", panel="output", metavar="URL", env="NAISEI_STORE")


def engine_flag() -> Any:
    """The flag `--engine`: run episodes on a cluster."""
    ja = (
        "エピソードを実行する場所: local (このプロセス)、ray (RAY_ADDRESS のクラスター、"
        "なければこのマシン)、ray://HOST:PORT。結果は変わらない"
    )
    en = (
        "Where episodes run: local (this process), ray (the cluster of RAY_ADDRESS, else this "
        "machine), or ray://HOST:PORT. Results are the same."
    )
    return flag("local", ja, en, name="--engine", panel="run", metavar="ENGINE")


def seed_flag(*, axis: bool = False) -> Any:
    """The flag `--seed`, for all random number generators."""
    ja, en = "乱数シード", "Seed of all that is random."
    if axis:
        ja += " (複数可。シードをまたいで集計する)"
        en = "Seed of all that is random; repeatable: figures are pooled over the seeds."
    return flag(0, ja, en, panel="run", axis=axis, ge=0, le=2**32 - 1)


def port_flag(default: int) -> Any:
    """The flag `--port` of a server."""
    ja, en = "ポート (0 は空いているもの)", "Port; 0 is any free one."
    return flag(default, ja, en, panel="connections", ge=0, le=65535)


#: Sampling parameters of a model: temperature, top_p, max_tokens, seed, reasoning_effort.
Parameters = dict[str, float | int | str]


class Config(Options):
    """Everything that changes the results of a run; frozen into its directory.

    models: role → `provider:name`. sampling: role → parameters of its model. seed: for all
    randomness. prompts: a folder with the user's own prompts; see `naisei.lang.own_prompts`.
    """

    models: dict[str, str] = {}
    sampling: dict[str, Parameters] = {}
    seed: int = seed_flag(axis=True)
    prompts: str = flag(
        "",
        "同梱のプロンプトの代わりに使うフォルダー (NAME.ja.md など)",
        "A folder of prompts that stand in for the bundled ones, such as NAME.ja.md.",
        panel="models",
        metavar="DIR",
        exclude_if=lambda folder: not folder,
    )

    @field_validator("prompts")
    @classmethod
    def _whole_path(cls, folder: str) -> str:
        """Return the absolute path, so that the run can be resumed from anywhere."""
        return str(Path(folder).resolve()) if folder else ""

    @property
    def package(self) -> str:
        """The package of the system that defines the configuration."""
        parts = type(self).__module__.split(".")
        return ".".join(parts[: 2 if parts[0] == "naisei" else 1])


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag derived from a field.

    path: path of the field through nested configurations. kind: type of one value. many: the flag
    may be repeated and yields a list. pairs: `KEY=VALUE` arguments that yield a mapping.
    """

    path: tuple[str, ...]
    kind: Any
    many: bool
    pairs: bool
    field: FieldInfo
    told: Mapping[str, Any]

    @property
    def key(self) -> str:
        """A Python identifier, unique among the flags of a command."""
        key = self.option.lstrip("-").split("/")[0].replace("-", "_")
        return f"{key}_" if iskeyword(key) else key

    @property
    def option(self) -> str:
        """The flag as typed: `--quota`, `--clarify/--no-clarify`."""
        if given := self.told.get("name"):
            return str(given)
        plain = "--" + self.path[-1].replace("_", "-")
        off = self.kind is bool and self.default is True
        return f"{plain}/--no-{plain[2:]}" if off else plain

    @property
    def axis(self) -> bool:
        return bool(self.told.get("axis"))

    @property
    def argument(self) -> bool:
        return bool(self.told.get("argument"))

    @property
    def axis_values(self) -> tuple[Any, ...]:
        """The default values of an axis; empty if that is the field's default alone."""
        axis = self.told.get("axis")
        return axis if isinstance(axis, tuple) else ()

    def of(self, config: Any) -> Any:
        """Return the flag's value in a frozen configuration (JSON); `None` if it has none."""
        for name in self.path:
            config = config.get(name) if isinstance(config, dict) else None
        return config

    @property
    def choices(self) -> tuple[Any, ...]:
        """The allowed values, from a `Literal` or as declared; empty if unrestricted."""
        if get_origin(self.kind) is Literal:
            return get_args(self.kind)
        given = self.told.get("choices", ())
        return tuple(names(given)) if isinstance(given, str) else given

    def meaning(self, choice: str) -> str:
        """Return a short description of a choice; empty if none is declared."""
        return say(*self.told.get("meant", {}).get(choice, ("", "")))

    @property
    def in_forms(self) -> bool:
        """Whether a form may ask for the flag: none of its values names a file."""
        bounded = any(isinstance(rule, annotated_types.MaxLen) for rule in self.field.metadata)
        told = bool(self.choices) or self.kind in (bool, int, float)
        return told or (self.kind is str and not self.many and bounded)

    @property
    def default(self) -> Any:
        return self.field.get_default(call_default_factory=True)

    @property
    def required(self) -> bool:
        return self.field.is_required()

    @property
    def help(self) -> str:
        return say(self.told["ja"], self.told["en"])

    @property
    def label(self) -> str:
        """The first words of the help, used as the label of a form field."""
        return re.split(r"[:。、]| \(|, ", self.help.rstrip("."), maxsplit=1)[0]

    @property
    def panel(self) -> str:
        panel = self.told.get("panel", "task")
        return say(*(PANELS[panel] if isinstance(panel, str) else panel))

    @property
    def shown_default(self) -> str | bool:
        """The default shown in the help, if it differs from the field's own."""
        shown = self.told.get("shown", True)
        if shown is True and self.axis_values:
            return ", ".join(map(str, self.axis_values))
        if shown is True:
            return not (self.required or self.default in (None, False, "", (), {}))
        return str(shown if isinstance(shown, str) else say(*shown))

    @property
    def bounds(self) -> dict[str, float]:
        """Inclusive bounds of a number: min, max. The pydantic model checks exclusive ones."""
        out: dict[str, float] = {}
        for rule in (*self.field.metadata, *self.told.get("item", ())):
            if isinstance(rule, annotated_types.Ge):
                out["min"] = rule.ge  # type: ignore[assignment]
            elif isinstance(rule, annotated_types.Le):
                out["max"] = rule.le  # type: ignore[assignment]
        return out


def flags_of(config: type[BaseModel], within: tuple[str, ...] = ()) -> Iterator[Flag]:
    """Yield the flags of a configuration, including nested ones, in declared order."""
    for name, field in config.model_fields.items():
        path = (*within, name)
        extra = field.json_schema_extra
        told = extra.get(_KEY) if isinstance(extra, dict) else None
        kind = _without_none(field.annotation)
        if isinstance(told, Mapping):
            many, pairs = get_origin(kind) in (tuple, list), get_origin(kind) is dict
            one: Any = get_args(kind)[0] if many else str if pairs else kind
            if get_origin(one) is Annotated:
                told = {**told, "item": one.__metadata__}
                one = get_args(one)[0]
            yield Flag(path, one, many or bool(told.get("axis")), pairs, field, told)
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from flags_of(kind, path)


def _without_none(annotation: Any) -> Any:
    """Return `T` for `T | None`."""
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [a for a in get_args(annotation) if a is not type(None)]
        return rest[0] if len(rest) == 1 else Union[tuple(rest)]  # noqa: UP007
    return annotation
