"""The flags of an experiment, and the configurations built from them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import typer

from naisei.cli.parameters import flag_parameter, more_parameter, parameter, put, validated
from naisei.core import InputError
from naisei.lang import say
from naisei.plugins import pairs
from naisei.system.config import PANELS, SEED, Config, Flag, Parameters, Printed, flags_of
from naisei.system.declare import Experiment, RawOptions
from naisei.system.execute import RunOptions
from naisei.system.sampling import FLAG as SAMPLING
from naisei.system.sampling import parsed, sampled

C = TypeVar("C", bound=Config)
#: Fields of `RunOptions` that need a model.
_MODELS_ONLY = frozenset(
    ("base_url", "timeout", "structured", "cache", "requests_per_minute", "tokens_per_minute")
)


class Flags:
    """The flags of an experiment, and their configuration.

    single: axis flags take one value. only: keys of the available flags, for commands other than
    runs. defaults: key → default that replaces the field's own.
    """

    def __init__(
        self,
        experiment: Experiment[Any],
        *,
        single: bool = False,
        only: Sequence[str] | None = None,
        defaults: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.experiment, self.single, self.only = experiment, single, only
        self.defaults = defaults
        # Its own fields first, then those shared by every configuration.
        inputs = [] if experiment.inputs is None else flags_of(experiment.inputs)
        every = [*flags_of(experiment.config), *inputs]
        own = sorted(every, key=lambda f: f.path[0] in Config.model_fields)
        self.fields = {f.key: f for f in own if only is None or f.key in only}
        self.running = {
            f.key: f
            for f in flags_of(RunOptions)
            if only is None or f.key in only or (f.told["panel"] == "models" and f.key != "cache")
        }
        if not experiment.roles:
            self.running = {k: f for k, f in self.running.items() if k not in _MODELS_ONLY}

    def parameters(self) -> list[inspect.Parameter]:
        """Return the typer parameters of configuration, models and run."""
        out = [self._parameter(flag) for flag in self.fields.values()]
        out += [more_parameter(flag) for flag in self.fields.values() if flag.told.get("more")]
        if self.experiment.roles:
            out += [*self._model_parameters()]
        out += [self._parameter(flag) for flag in self.running.values()]
        if self.only is None:
            place = typer.Option(
                "--run-dir",
                help=say(
                    "実行ディレクトリ (既定: runs/ の下で、名前は設定から決まる。"
                    "同じコマンドなら続きから再開する)",
                    "Run directory; by default one under runs/ named by the configuration, so that "
                    "the same command continues the same run.",
                ),
                rich_help_panel=say(*PANELS["run"]),
            )
            out.append(parameter("run_dir", Annotated[Path | None, place]))
            out += [flag_parameter(flag, False, many=False) for flag in flags_of(Printed)]
        return out

    def _parameter(self, flag: Flag) -> inspect.Parameter:
        many = flag.many and not (flag.axis and self.single)
        default = None if flag.required else self.defaults.get(flag.key, flag.default)
        if flag.path == ("concurrency",):
            default = self.experiment.concurrency
            if default is None:
                told = {**flag.told, "shown": ("コア数", "processor cores")}
                return flag_parameter(replace(flag, told=told), None, many=False)
        elif many and default is not None:
            default = list(flag.axis_values) or ([default] if flag.axis else list(default))
        return flag_parameter(flag, default, many=many)

    def _model_parameters(self) -> list[inspect.Parameter]:
        panel = say(*PANELS["models"])
        fan = not self.single and any(flag.axis for flag in self.fields.values())
        model = typer.Option(
            "--model",
            metavar="PROVIDER:NAME",
            envvar="NAISEI_MODEL",
            help=say("全役割の既定のモデル", "Model of every role that has none of its own.")
            + (
                say(" (複数可。それぞれ表の 1 行になる)", " Repeatable: a row each.") if fan else ""
            ),
            rich_help_panel=panel,
        )
        out = [parameter("model", Annotated[list[str] | None if fan else str | None, model])]
        own = [role.name for role in self.experiment.roles if not role.like]
        for role in own:
            option = typer.Option(
                f"--{role}-model",
                metavar="PROVIDER:NAME",
                help=say(f"{role} のモデル (既定: --model)", f"Model of the {role}."),
                rich_help_panel=panel,
            )
            out.append(parameter(f"{role}_model", Annotated[str | None, option]))
        if sampled := [role.name for role in self.experiment.roles if role.sampled]:
            whose = ", ".join(sampled)
            heat = typer.Option(
                "--temperature",
                min=0.0,
                help=say(f"サンプリング温度 ({whose})", f"Sampling temperature of: {whose}."),
                rich_help_panel=panel,
            )
            most = typer.Option(
                "--max-output-tokens",
                min=1,
                help=say(
                    f"1 回の応答の上限 ({whose})。推論型のモデルでは小さくしないこと",
                    f"Bound on one reply of: {whose}. Keep it large for reasoning models.",
                ),
                rich_help_panel=panel,
            )
            out.append(parameter("temperature", Annotated[float | None, heat]))
            out.append(parameter("max_output_tokens", Annotated[int | None, most]))
        roles = ", ".join(role.name for role in self.experiment.roles)
        fine = typer.Option(
            SAMPLING,
            metavar="[ROLE.]KEY=VALUE",
            help=say(
                f"役割ごとの temperature、top_p、max_tokens、seed、reasoning_effort (複数可)。"
                f"例: seed=1。役割: {roles}",
                f"temperature, top_p, max_tokens, seed or reasoning_effort of a role, repeatable, "
                f"such as seed=1; roles: {roles}.",
            ),
            rich_help_panel=panel,
        )
        out.append(parameter("sampling", Annotated[list[str] | None, fine]))
        return out

    def running_of(self, given: dict[str, Any]) -> tuple[bool, Path | None, RunOptions]:
        """Remove `--json`, `--run-dir` and the run options from `given`, and return them."""
        values = {key: given.pop(key) for key in self.running if key in given}
        options = validated(RunOptions, values, self.running)
        return given.pop("json", False), given.pop("run_dir", None), options

    def configs(
        self,
        given: dict[str, Any],
        preset: Mapping[str, Any] = MappingProxyType({}),
        *,
        running: RunOptions | None = None,
    ) -> dict[str, Any]:
        """Return the configurations from the flags, by label: one, or several for a study. Reports
        flags without effect on stderr.
        """
        roles = [role for role in self.experiment.roles if not role.like]
        model_of = {r.name: m for r in roles if (m := given.pop(f"{r.name}_model", None))}
        heat, most = given.pop("temperature", None), given.pop("max_output_tokens", None)
        asked = {"temperature": heat, "max_tokens": most}
        doers = {key: value for key, value in asked.items() if value is not None}
        names = [role.name for role in self.experiment.roles]
        sampling = parsed(given.pop("sampling", None) or (), names)
        models = given.pop("model", None)
        models = list(models) if isinstance(models, (list, tuple)) else [models]
        axes: list[list[tuple[Flag, Any]]] = []
        values: dict[str, Any] = dict(preset)
        for key, flag in self.fields.items():
            if more := given.pop(f"{key}_more", None):
                given[key] = [*given.get(key, ()), *more]
            if key not in given and key in self.defaults:
                given[key] = self.defaults[key]
            if key not in given and flag.axis_values and not self.single:
                given[key] = list(flag.axis_values)
            if key not in given:
                if flag.required:
                    raise InputError(
                        say("指定が必要です", "must be given"), place=flag.option.split("/")[0]
                    )
                continue
            value = given.pop(key)
            if flag.axis and isinstance(value, (list, tuple)):
                axes.append([(flag, one) for one in dict.fromkeys(value)])
            else:
                put(values, flag.path, pairs(value, flag.option) if flag.pairs else value)
        out: dict[str, Any] = {}
        idle: list[list[str]] = []
        seeds = max((len(axis) for axis in axes if axis[0][0].path == ("seed",)), default=0)
        for model, *chosen in product(models or [None], *axes):
            combined = _copied(values)
            for flag, one in chosen:
                put(combined, flag.path, one)
            every = {axis[0][0].path[0]: [one for _, one in axis] for axis in axes}
            asked_of = RawOptions(combined, model, model_of, every)
            config = self._config(asked_of, doers, sampling)
            idle.append(self._ineffective(asked_of, doers, sampling, config))
            label = self.experiment.label
            named = label(config) if label is not None else _label(chosen, model)
            if seeds > 1:
                named += f" {SEED}{config.seed}"
            # Add the model if configurations would otherwise share a label.
            out[named if out.get(named, config) == config else f"{named} {model}"] = config
        told = [option for option in idle[0] if all(option in each for each in idle)]
        if running is not None and not any(config.models for config in out.values()):
            given_too = running.model_fields_set.intersection(_MODELS_ONLY, self.running)
            told += sorted(self.running[key].option for key in given_too)
        tell_ineffective(told)
        return out

    def _config(
        self, given: RawOptions, doers: Parameters, sampling: Mapping[str, Parameters]
    ) -> Any:
        if isinstance(embedder := given.values.get("embedder"), str):
            from naisei.models.embedders import check_embedder

            check_embedder(embedder)  # even if nothing will be embedded
        values = self.experiment.settle(given)
        config = validated(self.experiment.config, values, self.fields)
        models: dict[str, str] = {}
        for role in self.experiment.roles:
            if role.needed(config):
                named = given.model_of.get(role.like or role.name) or given.model
                models |= {role.name: named} if named else {}
        told = sampled(self.experiment, config, doers=doers, asked=sampling)
        return config.model_copy(update={"models": models, "sampling": told})

    def _ineffective(
        self,
        given: RawOptions,
        doers: Parameters,
        sampling: Mapping[str, Parameters],
        config: Any,
    ) -> list[str]:
        """Return the options without effect in this configuration."""
        roles = {role.name: role.needed(config) for role in self.experiment.roles}
        idle = [f"--{name}-model" for name in given.model_of if not roles[name]]
        if given.model is not None and not any(roles.values()):
            idle.append("--model")
        if not any(role.sampled and roles[role.name] for role in self.experiment.roles):
            options = {"temperature": "--temperature", "max_tokens": "--max-output-tokens"}
            idle += [options[key] for key in doers]
        idle += [f"{SAMPLING} {name}.…" for name in sampling if name and not roles[name]]
        for flag in self.fields.values():
            asked, used = _at(given.values, flag.path), _attribute(config, flag.path)
            needs = flag.told.get("needs")
            if needs and asked is not None and _attribute(config, needs.split(".")) is False:
                idle.append(flag.option)
            if not isinstance(asked, str) or not isinstance(used, str):
                continue
            # `auto` and paths are resolved, not ignored.
            bare = asked.partition(":")[0]  # its own settings follow a colon
            if used not in (asked, bare) and asked != "auto" and str(Path(asked).resolve()) != used:
                idle.append(f"{flag.option} {asked}")
        return idle


def tell_ineffective(options: Sequence[str]) -> None:
    """Print a line on stderr for each given option without effect."""
    for option in options:
        print(
            say(f"{option} はこの構成では効きません", f"{option} has no effect here"),
            file=sys.stderr,
        )


def _at(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = values
    for part in path:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _attribute(config: Any, path: Sequence[str]) -> Any:
    for part in path:
        config = getattr(config, part, None)
    return config


def configurations(experiment: Experiment[C], **given: Any) -> dict[str, C]:
    """Return the configurations that the command would build from flags, by label.

    given: key of a flag (`agent_option`, `model`, `judge_model`) → its value; a list for a
    repeatable flag.

    Raises:
        InputError: an unknown key, or the same error as the command reports for the flag.
    """
    made: dict[str, C] = Flags(experiment).configs(given)
    for unknown in given:
        raise InputError(
            say("そのような設定はありません", "there is no such option"), place=unknown
        )
    return made


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    return {k: _copied(v) if isinstance(v, dict) else v for k, v in values.items()}


def _label(chosen: Sequence[tuple[Flag, Any]], model: str | None) -> str:
    parts = [str(value) for flag, value in chosen if flag.path != ("seed",)]
    return " ".join([*parts, model] if model else parts) or "run"
