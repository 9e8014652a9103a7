"""The commands of a system, derived from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from naisei.cli.app import refuse_repeats
from naisei.cli.flags import Flags
from naisei.cli.parameters import parameter, signed, typed_in, with_options
from naisei.cli.profile import fit
from naisei.core import InputError
from naisei.entries import load_entry
from naisei.lang import say
from naisei.runs.lines import print_lines
from naisei.system.config import Config
from naisei.system.declare import Ablation, Experiment, System, Verb
from naisei.system.execute import RunOptions
from naisei.system.registry import Text
from naisei.terminal import Console

if TYPE_CHECKING:
    from naisei.core import Event
    from naisei.runs.task import Task

#: Help text of a system's command `demo`.
_DEMO = ("デモ (naisei demo のこの部分だけ)", "A demonstration: this part of `naisei demo`.")

C = TypeVar("C", bound=Config)


class _SystemGroup(TyperGroup):
    """The commands of one system, which import their modules when called."""

    def __init__(self, system: System, **options: Any) -> None:
        super().__init__(name=system.name, help=say(*system.about), no_args_is_help=True, **options)
        self.system = system
        for experiment in system.experiments:
            if experiment.verb:
                self.add_command(_stub(experiment.verb, experiment.about))
            if experiment.ablation is not None:
                self.add_command(_stub("ablate", experiment.ablation.about))
        for verb in system.verbs:
            self.add_command(_stub(verb.name, verb.about))
        if system.demo:
            self.add_command(_stub("demo", _DEMO))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the real command; the help of the group lists stubs of the same names."""
        name, found, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, found, rest
        command = command_of(self.system, name)
        repeatable = [str(p.name) for p in command.params if getattr(p, "multiple", False)]
        fit(ctx.default_map, name, repeatable)
        return name, refuse_repeats(command), rest


def _stub(name: str, about: Text) -> TyperCommand:
    return TyperCommand(name, help=say(*about))


def group_of(system: System) -> _SystemGroup:
    """Return the group `naisei SYSTEM` with all its commands."""
    return _SystemGroup(system)


def command_of(system: System, name: str) -> Any:
    """Return one command of a system.

    Raises:
        KeyError: there is no command of this name.
    """
    for experiment in system.experiments:
        if experiment.verb == name:
            return _typer_command(_run_command(system, experiment), name, experiment.about)
        if experiment.ablation is not None and name == "ablate":
            command = _ablate_command(system, experiment, experiment.ablation)
            return _typer_command(command, name, experiment.ablation.about)
    for verb in system.verbs:
        if verb.name == name:
            return _verb_command(verb)
    if name == "demo" and system.demo:
        from naisei.cli.demo import command_of as demo_of

        return _typer_command(demo_of(system.name), name, _DEMO)
    raise KeyError(name)


def _verb_command(verb: Verb) -> Any:
    found = load_entry(verb.command)
    if isinstance(found, typer.Typer):
        for each in found.registered_commands:
            if each.callback is not None:
                each.callback = with_options(each.callback)
        command = get_command(found)
        command.name, command.help = verb.name, command.help or say(*verb.about)
        return command
    if verb.shares is not None:
        found = _sharing(verb, verb.shares, found)
    return _typer_command(with_options(found), verb.name, verb.about)


def _sharing(
    verb: Verb, experiment: Experiment[Any], function: Callable[..., Any]
) -> Callable[..., None]:
    """Make a command of a function that takes a configuration, run options and flags of its own."""
    flags = Flags(experiment, single=True, only=verb.flags)
    hints = get_type_hints(function, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name])
        for p in inspect.signature(function).parameters.values()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
        and (verb.flags is not None or p.name not in ("run_dir", "as_json"))
    ]

    def command(context: typer.Context, **parameters: Any) -> None:
        mine = {p.name: parameters.pop(p.name) for p in own}
        given = typed_in(context, parameters)
        as_json, run_dir, options = flags.running_of(given)

        def configure(**fields: Any) -> Any:
            (config,) = flags.configs(dict(given), preset=fields, running=options).values()
            return config

        if verb.flags is None:
            function(configure, options, run_dir=run_dir, as_json=as_json, **mine)
        else:
            function(configure(**verb.preset), options, **mine)

    return signed(command, [*own, *flags.parameters()])


def _typer_command(function: Callable[..., Any], name: str, about: Text) -> Any:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name, help=say(*about))(function)
    return get_command(app)


def _run_command(system: System, experiment: Experiment[Any]) -> Callable[..., None]:
    flags = Flags(experiment)

    def run(context: typer.Context, **parameters: Any) -> None:
        from naisei.cli.printing import print_result, print_study
        from naisei.system.execute import execute

        given = typed_in(context, parameters)
        keys = frozenset(given)
        as_json, run_dir, options = flags.running_of(given)
        configs = flags.configs(given, running=options)
        if len(configs) > 1:
            from naisei.system.studies import execute_study

            title = f"{system.name} {experiment.verb}"
            study = execute_study(experiment, configs, options, title=title, run_dir=run_dir)
            print_study(study, as_json=as_json)
            raise typer.Exit(study.exit_code)
        config = next(iter(configs.values()))
        task = experiment.load(config)
        if experiment.again and run_dir is None:
            run_dir = _incomplete(task)
        options, live = shown_live(experiment, task, options, run_dir, as_json)
        result = execute(experiment, config, options, run_dir=run_dir, task=task, on_event=live)
        hints = experiment.hints(config, keys) if experiment.hints is not None else ()
        print_result(result, as_json=as_json, hints=hints)
        raise typer.Exit(result.exit_code)

    return signed(run, flags.parameters())


def _ablate_command(
    system: System, experiment: Experiment[Any], declared: Ablation[Any]
) -> Callable[..., None]:
    varied = replace(experiment, config=declared.config or experiment.config)
    flags = Flags(varied, single=True, defaults=declared.defaults)
    rows = ", ".join(declared.rows)
    option = typer.Option(
        "--rows",
        metavar="ROW,…",
        help=say(f"表の行 (コンマ区切り): {rows}", f"Rows of the table, with commas: {rows}."),
        rich_help_panel=say("課題", "Task"),
    )

    def ablate(context: typer.Context, **parameters: Any) -> None:
        from naisei.cli.printing import print_study
        from naisei.system.studies import execute_study

        given = typed_in(context, parameters)
        chosen = [r for row in given.pop("rows", "").split(",") if (r := row.strip())]
        as_json, run_dir, options = flags.running_of(given)
        (config,) = flags.configs(given, running=options).values()
        study = execute_study(
            experiment,
            ablation(experiment, config, chosen),
            options,
            title=f"{system.name} ablate",
            run_dir=run_dir,
        )
        print_study(study, as_json=as_json)
        raise typer.Exit(study.exit_code)

    row_names = parameter("rows", Annotated[str | None, option])
    return signed(ablate, [row_names, *flags.parameters()])


def ablation(
    experiment: Experiment[Any], config: Config, chosen: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the configurations of the chosen rows, otherwise equal to `config`.

    Raises:
        InputError: an unknown row.
    """
    declared = experiment.ablation
    assert declared is not None
    for name in chosen:
        if name not in declared.rows:
            known = ", ".join(declared.rows)
            raise InputError(
                say(f"'{name}' という行はありません", f"unknown row '{name}'"),
                place="--rows",
                remedy=say(f"使えるもの: {known}", f"known: {known}"),
            )
    if declared.chosen is not None:
        chosen = declared.chosen(config, chosen)
    names = chosen or tuple(declared.rows)
    made = {name: declared.rows[name].change(config) for name in names}
    return {name: _with_needed_models(experiment, one) for name, one in made.items()}


def _incomplete(task: Task[Any]) -> Path:
    """Return the task's directory, or the first numbered one without a complete run."""
    from naisei.runs.directory import RunDirectory
    from naisei.runs.frozen import Frozen, named_path, tell_changes

    frozen = Frozen.of(task)
    first = named_path(task.system, [frozen])
    for n in count(1):
        path = first if n == 1 else first.with_name(f"{first.name}-{n}")
        if not (path / "config.json").exists():
            if path == first:
                tell_changes(path, frozen)
            return path
        with RunDirectory.look(path) as run:
            if run.log.counts()[0] < len(task.episodes()):
                return path
    raise AssertionError("there is always a next number")


def shown_live(
    experiment: Experiment[Any],
    task: Task[Any],
    options: RunOptions,
    run_dir: Path | None,
    as_json: bool,
) -> tuple[RunOptions, Callable[[Event], None] | None]:
    """Return the run function, and the live printer if there is a single episode."""
    from naisei.runs.directory import RunDirectory
    from naisei.runs.frozen import default_path

    if experiment.live is None or options.quiet or len(task.episodes()) != 1:
        return options, None
    path = run_dir or default_path(task)
    earlier = []
    if (path / "config.json").exists():
        with RunDirectory.look(path) as run:
            earlier = [e for name in run.log.known_episodes() for e in run.log.read(name)]
    console = Console(stderr=as_json)
    lines = experiment.live(task, console, earlier)
    # A progress bar would overwrite the lines.
    quiet = options.model_copy(update={"quiet": True})
    return quiet, lambda event: print_lines(lines(event), console)


def _with_needed_models(experiment: Experiment[Any], config: Any) -> Any:
    needed = set(experiment.needed(config))
    changes = {
        "models": {r: m for r, m in config.models.items() if r in needed},
        "sampling": {r: s for r, s in config.sampling.items() if r in needed},
    }
    return config.model_copy(update=changes)
