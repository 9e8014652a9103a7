"""Flags as typer parameters: for a field, an options model, or a whole command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from pydantic import BaseModel, ValidationError

from naisei.cli.errors import translated
from naisei.cli.profile import refuse_unknown
from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import bounded
from naisei.plugins import pairs
from naisei.system.config import Flag, flags_of


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a command: each parameter that is an options model becomes its flags.

    def train(plan: TrainingOptions, data: TrainingData) -> None: ...

    Required fields become required flags; other defaults come from the models.
    """
    hints = get_type_hints(function, include_extras=True)
    own = dict(inspect.signature(function).parameters)
    # A command already built from flags reads typer's context itself.
    looks = own.pop("context", None) is not None
    models = {
        name: hint
        for name in own
        if isinstance(hint := hints[name], type) and issubclass(hint, BaseModel)
    }
    if not models:
        return function
    flags = {name: {f.key: f for f in flags_of(model)} for name, model in models.items()}

    def command(context: typer.Context, **given: Any) -> None:
        typed = typed_in(context, given)
        for name, model in models.items():
            values: dict[str, Any] = {}
            for key, flag in flags[name].items():
                value = given.pop(key)
                if key in typed:
                    put(values, flag.path, pairs(value, flag.option) if flag.pairs else value)
            given[name] = validated(model, values, flags[name])
        function(**{"context": context} if looks else {}, **given)

    command.__name__ = function.__name__  # typer takes the command name from it
    parameters: list[inspect.Parameter] = []
    for p in own.values():
        if p.name in models:
            # Output flags come last, whichever class declares them.
            ordered = sorted(flags[p.name].values(), key=lambda f: f.told["panel"] == "output")
            parameters += map(_option_parameter, ordered)
        else:
            parameters.append(parameter(p.name, hints[p.name], p.default))
    return signed(command, parameters)


def _option_parameter(flag: Flag) -> inspect.Parameter:
    if flag.required:
        return flag_parameter(flag, inspect.Parameter.empty, many=flag.many)
    default = list(flag.default or ()) or None if flag.many else flag.default
    return flag_parameter(flag, default, many=flag.many)


def flag_parameter(flag: Flag, default: Any, *, many: bool) -> inspect.Parameter:
    """Return a typer flag. many: may be repeated. default: empty for a required flag."""
    many = many or flag.pairs
    # Typer does not support a list of a Literal; the configuration rejects other values.
    one = str if many and get_origin(flag.kind) is Literal else flag.kind
    kind: Any = list.__class_getitem__(one) if many else one
    if flag.argument:
        argument = typer.Argument(
            metavar=flag.told.get("metavar"), help=flag.help, show_default=flag.shown_default
        )
        return parameter(flag.key, Annotated[kind, argument], default)
    option = typer.Option(
        flag.option,
        *filter(None, [flag.told.get("short")]),
        metavar="KEY=VALUE" if flag.pairs else flag.told.get("metavar") or _choices(flag, many),
        envvar=flag.told.get("env"),
        help=flag.help,
        show_default=flag.shown_default,
        rich_help_panel=flag.panel,
        formats=list(flag.told["formats"]) if "formats" in flag.told else None,
        **flag.bounds,  # type: ignore[arg-type]
    )
    if default is inspect.Parameter.empty:
        return parameter(flag.key, Annotated[kind, option], default)
    return parameter(flag.key, Annotated[kind | None, option], None if flag.pairs else default)


def _choices(flag: Flag, many: bool) -> str | None:
    """Return `a|b` for a repeatable flag with fixed choices; typer shows those of a single one."""
    return "|".join(get_args(flag.kind)) if many and get_origin(flag.kind) is Literal else None


def parameter(key: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(key, kind, default=default, annotation=annotation)


def more_parameter(flag: Flag) -> inspect.Parameter:
    """Return positional arguments that are further values of a flag."""
    argument = typer.Argument(
        metavar=f"[{flag.told.get('metavar', 'VALUE')}]...",
        help=say(f"{flag.option} の続き", f"More of {flag.option}."),
        show_default=False,
    )
    return parameter(f"{flag.key}_more", Annotated[list[flag.kind] | None, argument])  # type: ignore[name-defined]


def signed(
    function: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Give a function, which takes a context first, these parameters for typer."""
    first = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    parameters = [first, *parameters]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    return function


def typed_in(context: typer.Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values from the command line, environment or `naisei.toml`, without defaults.

    Raises:
        InputError: `naisei.toml` names an unknown flag of this command.
    """
    refuse_unknown(context.default_map, parameters)
    sources = {key: context.get_parameter_source(key) for key in parameters}
    default = (None, "DEFAULT")
    return {k: v for k, v in parameters.items() if getattr(sources[k], "name", None) not in default}


def validated(model: type[Any], values: Mapping[str, Any], flags: Mapping[str, Flag]) -> Any:
    """Raises `InputError` at the flag with an invalid value."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(str(part) for part in first["loc"] if not isinstance(part, int))
        at = next((f for f in flags.values() if f.path == path[: len(f.path)]), None)
        place = at.option.split("/")[0] if at is not None else ".".join(path)
        if first["type"] == "string_too_long":
            bounded(str(first["input"]), int(first["ctx"]["max_length"]), place=place)
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(translated(message), place=place) from error


def put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        values = values.setdefault(part, {})
    values[path[-1]] = value


def check_served(index: Path | None, models: Iterable[str], settings: Any = None) -> None:
    """Validate at startup what a server will open. Raises `InputError`."""
    from naisei.models.registry import open_model
    from naisei.retrieval.store import Store

    for model in models:
        open_model(model, settings)
    if index is not None:
        Store(index).close()
