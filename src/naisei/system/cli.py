"""The commands of a system, derived from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer
from pydantic import ValidationError
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.options import pairs
from naisei.system.config import Config, Flag, flags_of
from naisei.system.declare import Experiment, Given, System, Verb
from naisei.system.execute import RunOptions
from naisei.system.registry import Text
from naisei.terminal import Console

if TYPE_CHECKING:
    from naisei.runs.task import Task

__all__ = ["ablation", "command_of", "configurations", "group_of"]

C = TypeVar("C", bound=Config)

_MODELS = ("モデル", "Models")
_RUN = ("実行", "Run")
_OUTPUT = ("出力", "Output")


class SystemGroup(TyperGroup):
    """The commands of one system; what a command needs is imported when it is called."""

    def __init__(self, system: System, **options: Any) -> None:
        super().__init__(name=system.name, help=say(*system.about), no_args_is_help=True, **options)
        self.system = system
        for experiment in system.experiments:
            self.add_command(_stub(experiment.verb, experiment.about))
            if experiment.rows:
                self.add_command(_stub("ablate", experiment.rows_about))
        for verb in system.verbs:
            self.add_command(_stub(verb.name, verb.about))
        if system.demo:
            self.add_command(_stub("demo", ("短いデモ", "A short demonstration.")))

    def get_command(self, ctx: Any, name: str) -> Any:
        """The command itself. The help of the group lists stubs of the same names."""
        found = super().get_command(ctx, name)
        return found if found is None or ctx.resilient_parsing else command_of(self.system, name)


def _stub(name: str, about: Text) -> TyperCommand:
    return TyperCommand(name, help=say(*about))


def group_of(system: System) -> SystemGroup:
    """`naisei SYSTEM` with all its commands."""
    return SystemGroup(system)


def command_of(system: System, name: str) -> Any:
    """One command of a system.

    Raises:
        KeyError: it has none of that name.
    """
    for experiment in system.experiments:
        if experiment.verb == name:
            return _typer_command(_run_command(system, experiment), name, experiment.about)
        if experiment.rows and name == "ablate":
            return _typer_command(_ablate_command(system, experiment), name, experiment.rows_about)
    for verb in system.verbs:
        if verb.name == name:
            return _verb_command(verb)
    if name == "demo" and system.demo:
        about = ("短いデモ", "A short demonstration.")
        return _verb_command(Verb("demo", about, system.demo))
    raise KeyError(name)


def _verb_command(verb: Verb) -> Any:
    module, _, attribute = verb.command.partition(":")
    found = getattr(import_module(module), attribute)
    if isinstance(found, typer.Typer):
        command = get_command(found)
        command.name, command.help = verb.name, command.help or say(*verb.about)
        return command
    if verb.shares is not None:
        found = _sharing(verb, verb.shares, found)
    return _typer_command(found, verb.name, verb.about)


def _sharing(
    verb: Verb, experiment: Experiment[Any], function: Callable[..., Any]
) -> Callable[..., None]:
    """A function of a configuration, run options and flags of its own, as a command."""
    flags = Flags(experiment, single=True, only=verb.flags)
    hints = get_type_hints(function, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name])
        for p in inspect.signature(function).parameters.values()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    ]

    def command(context: typer.Context, **parameters: Any) -> None:
        mine = {p.name: parameters.pop(p.name) for p in own}
        given = _typed_in(context, parameters)
        _, _, options = flags.running_of(given)
        (config,) = flags.configs(given, preset=verb.preset).values()
        function(config, options, **mine)

    return _signed(command, [*own, *flags.parameters()])


def _typer_command(function: Callable[..., Any], name: str, about: Text) -> Any:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name, help=say(*about))(function)
    return get_command(app)


def _run_command(system: System, experiment: Experiment[Any]) -> Callable[..., None]:
    flags = Flags(experiment)

    def run(context: typer.Context, **parameters: Any) -> None:
        from naisei.system.execute import execute, execute_study
        from naisei.system.printing import print_result, print_study

        given = _typed_in(context, parameters)
        as_json, run_dir, options = flags.running_of(given)
        configs = flags.configs(given)
        if len(configs) > 1:
            title = f"{system.name} {experiment.verb}"
            study = execute_study(experiment, configs, options, title=title, run_dir=run_dir)
            print_study(study, as_json=as_json)
            raise typer.Exit(study.exit_code)
        config = next(iter(configs.values()))
        task, options, live = _shown_live(experiment, config, options, run_dir, as_json)
        result = execute(experiment, config, options, run_dir=run_dir, task=task, on_event=live)
        hints = experiment.hints(config) if experiment.hints is not None else ()
        print_result(result, as_json=as_json, hints=hints)
        raise typer.Exit(result.exit_code)

    return _signed(run, flags.parameters())


def _ablate_command(system: System, experiment: Experiment[Any]) -> Callable[..., None]:
    flags = Flags(experiment, single=True, defaults=experiment.rows_default)
    rows = ", ".join(experiment.rows)
    option = typer.Option(
        "--rows",
        metavar="ROW,…",
        help=say(f"表の行 (コンマ区切り): {rows}", f"Rows of the table, with commas: {rows}."),
        rich_help_panel=say("課題", "Task"),
    )

    def ablate(context: typer.Context, **parameters: Any) -> None:
        from naisei.system.execute import execute_study
        from naisei.system.printing import print_study

        given = _typed_in(context, parameters)
        chosen = [r for row in given.pop("rows", "").split(",") if (r := row.strip())]
        as_json, run_dir, options = flags.running_of(given)
        (config,) = flags.configs(given).values()
        study = execute_study(
            experiment,
            ablation(experiment, config, chosen),
            options,
            title=f"{system.name} ablate",
            run_dir=run_dir,
        )
        print_study(study, as_json=as_json)
        raise typer.Exit(study.exit_code)

    parameter = _parameter("rows", Annotated[str | None, option])
    return _signed(ablate, [parameter, *flags.parameters()])


def ablation(
    experiment: Experiment[Any], config: Config, chosen: Sequence[str] = ()
) -> dict[str, Any]:
    """The configurations of the rows chosen, all else as in `config`.

    Raises:
        InputError: a row that there is not.
    """
    sensible = experiment.chosen_rows(config) if experiment.chosen_rows is not None else None
    names = list(chosen or sensible or experiment.rows)
    for name in names:
        if name not in experiment.rows:
            known = ", ".join(experiment.rows)
            raise InputError(
                say(f"'{name}' という行はありません", f"unknown row '{name}'"),
                place="--rows",
                remedy=say(f"使えるもの: {known}", f"known: {known}"),
            )
    made = {name: experiment.rows[name].change(config) for name in names}
    return {name: _with_needed_models(experiment, one) for name, one in made.items()}


def _shown_live(
    experiment: Experiment[Any],
    config: Config,
    options: RunOptions,
    run_dir: Path | None,
    as_json: bool,
) -> tuple[Task[Any], RunOptions, Any]:
    """The loaded task, and what prints a run of a single episode as it goes."""
    from naisei.runs.directory import RunDirectory
    from naisei.runs.frozen import default_path

    task = experiment.load(config)
    if experiment.live is None or options.quiet or len(task.episodes()) != 1:
        return task, options, None
    path = run_dir or default_path(task)
    earlier = []
    if (path / "config.json").exists():
        with RunDirectory.look(path) as run:
            earlier = [e for name in run.log.known_episodes() for e in run.log.read(name)]
    live = experiment.live(task, Console(stderr=as_json), earlier)
    # A progress bar would write across the lines.
    return task, options.model_copy(update={"quiet": True}), live


class Flags:
    """The flags of an experiment, and what they amount to.

    single: flags that make several configurations are taken once. only: keys of the fields' flags
    there are, for what is no run. defaults: key → default, where it is not the field's own.
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
        # Its own fields before those that every configuration has.
        own = sorted(flags_of(experiment.config), key=lambda f: f.path[0] in Config.model_fields)
        self.fields = {f.key: f for f in own if only is None or f.key in only}
        self.running = {
            f.key: f
            for f in flags_of(RunOptions)
            if only is None or (f.told["panel"] == "models" and f.key != "cache")
        }
        if not experiment.roles:
            models = {"base_url", "timeout", "structured", "cache"}
            models |= {"requests_per_minute", "tokens_per_minute"}
            self.running = {k: f for k, f in self.running.items() if k not in models}

    def parameters(self) -> list[inspect.Parameter]:
        """For typer: those of the configuration, of the models, of the run."""
        out = [self._parameter(flag) for flag in self.fields.values()]
        if self.experiment.roles:
            out += [*self._model_parameters()]
        out += [self._parameter(flag) for flag in self.running.values()]
        if self.only is None:
            out.append(_parameter("run_dir", Annotated[Path | None, _run_dir()]))
            out.append(_parameter("json", Annotated[bool, _json()], default=False))
        return out

    def _parameter(self, flag: Flag) -> inspect.Parameter:
        many = (flag.many and not (flag.axis and self.single)) or flag.pairs
        default = None if flag.required else self.defaults.get(flag.key, flag.default)
        if flag.path == ("concurrency",):
            default = self.experiment.concurrency
        elif flag.pairs:
            default = None
        elif many and default is not None:
            default = [default] if flag.axis else list(default)
        option = typer.Option(
            flag.option,
            *filter(None, [flag.told.get("short")]),
            metavar="KEY=VALUE" if flag.pairs else flag.told.get("metavar"),
            envvar=flag.told.get("env"),
            help=flag.help,
            show_default=flag.shown_default,
            rich_help_panel=flag.panel,
            **flag.bounds,  # type: ignore[arg-type]
        )
        kind: Any = list.__class_getitem__(flag.kind) if many else flag.kind
        return _parameter(flag.key, Annotated[kind | None, option], default)

    def _model_parameters(self) -> list[inspect.Parameter]:
        panel = say(*_MODELS)
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
        out = [_parameter("model", Annotated[list[str] | None if fan else str | None, model])]
        own = [role.name for role in self.experiment.roles if not role.like]
        for role in own:
            option = typer.Option(
                f"--{role}-model",
                metavar="PROVIDER:NAME",
                help=say(f"{role} のモデル (既定: --model)", f"Model of the {role}."),
                rich_help_panel=panel,
            )
            out.append(_parameter(f"{role}_model", Annotated[str | None, option]))
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
            out.append(_parameter("temperature", Annotated[float | None, heat]))
            out.append(_parameter("max_output_tokens", Annotated[int | None, most]))
        return out

    def running_of(self, given: dict[str, Any]) -> tuple[bool, Path | None, RunOptions]:
        """`--json`, `--run-dir` and how to carry out the run, which are taken out of `given`."""
        values = {key: given.pop(key) for key in self.running if key in given}
        options = _valid(RunOptions, values, self.running)
        return given.pop("json", False), given.pop("run_dir", None), options

    def configs(
        self, given: dict[str, Any], preset: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        """The configurations that the flags amount to, by label: one, or several for a study."""
        roles = [role for role in self.experiment.roles if not role.like]
        model_of = {r.name: m for r in roles if (m := given.pop(f"{r.name}_model", None))}
        heat, most = given.pop("temperature", None), given.pop("max_output_tokens", None)
        asked = {"temperature": heat, "max_tokens": most}
        sampling = {key: value for key, value in asked.items() if value is not None}
        models = given.pop("model", None)
        models = list(models) if isinstance(models, (list, tuple)) else [models]
        axes: list[list[tuple[Flag, Any]]] = []
        values: dict[str, Any] = dict(preset)
        for key, flag in self.fields.items():
            if key not in given and key in self.defaults:
                given[key] = self.defaults[key]
            if key not in given:
                if flag.required:
                    raise InputError(
                        say("指定が必要です", "must be given"), place=flag.option.split("/")[0]
                    )
                continue
            value = given.pop(key)
            if flag.axis and isinstance(value, (list, tuple)):
                axes.append([(flag, one) for one in value])
            else:
                _put(values, flag.path, pairs(value) if flag.pairs else value)
        out: dict[str, Any] = {}
        for model, *chosen in product(models or [None], *axes):
            combined = _copied(values)
            for flag, one in chosen:
                _put(combined, flag.path, one)
            every = {axis[0][0].path[0]: [one for _, one in axis] for axis in axes}
            config = self._config(Given(combined, model, model_of, every), sampling)
            label = self.experiment.label
            out[label(config) if label is not None else _label(chosen, model)] = config
        return out

    def _config(self, given: Given, sampling: Mapping[str, float]) -> Any:
        values = self.experiment.settle(given)
        config = _valid(self.experiment.config, values, self.fields)
        models: dict[str, str] = {}
        for role in self.experiment.roles:
            if role.needed(config):
                named = given.model_of.get(role.like or role.name) or given.model
                models |= {role.name: named} if named else {}
        told = {
            role.name: dict(sampling)
            for role in self.experiment.roles
            if sampling and role.sampled and role.needed(config)
        }
        return config.model_copy(update={"models": models, "sampling": told})


def _with_needed_models(experiment: Experiment[Any], config: Any) -> Any:
    needed = set(experiment.needed(config))
    changes = {
        "models": {r: m for r, m in config.models.items() if r in needed},
        "sampling": {r: s for r, s in config.sampling.items() if r in needed},
    }
    return config.model_copy(update=changes)


def configurations(experiment: Experiment[C], **given: Any) -> dict[str, C]:
    """The configurations that the command would make of flags, by label.

    given: key of a flag (`agent_option`, `model`, `judge_model`) → its value; lists where it may
    be repeated.

    Raises:
        InputError: as the command does, at the flag.
    """
    return Flags(experiment).configs(given)


def _valid(model: type[Any], values: Mapping[str, Any], flags: Mapping[str, Flag]) -> Any:
    """Raises `InputError` at the flag whose value does not fit."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(str(part) for part in first["loc"] if not isinstance(part, int))
        at = next((f for f in flags.values() if f.path == path[: len(f.path)]), None)
        place = at.option.split("/")[0] if at is not None else ".".join(path)
        raise InputError(first["msg"].removeprefix("Value error, "), place=place) from error


def _typed_in(context: typer.Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What was given on the command line or in the environment, without defaults."""
    sources = {key: context.get_parameter_source(key) for key in parameters}
    default = (None, "DEFAULT")
    return {k: v for k, v in parameters.items() if getattr(sources[k], "name", None) not in default}


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        values = values.setdefault(part, {})
    values[path[-1]] = value


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    return {k: _copied(v) if isinstance(v, dict) else v for k, v in values.items()}


def _label(chosen: Sequence[tuple[Flag, Any]], model: str | None) -> str:
    parts = [str(value) for _, value in chosen]
    return " ".join([*parts, model] if model else parts) or "run"


def _parameter(key: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(key, kind, default=default, annotation=annotation)


def _signed(
    function: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """The function with these parameters, for typer and for the reference."""
    first = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    parameters = [first, *parameters]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    return function


def _run_dir() -> Any:
    return typer.Option(
        "--run-dir",
        help=say(
            "実行ディレクトリ (既定: runs/ の下で、名前は設定から決まる。"
            "同じコマンドなら続きから再開する)",
            "Run directory; by default one under runs/ named by the configuration, so that the "
            "same command continues the same run.",
        ),
        rich_help_panel=say(*_RUN),
    )


def _json() -> Any:
    return typer.Option(
        "--json",
        help=say(
            "結果を JSON 1 行で標準出力の最後に出す",
            "Print the result as JSON, the last line of stdout.",
        ),
        rich_help_panel=say(*_OUTPUT),
    )
