"""Commands whose parameters are groups of flags, so that no list of options is written twice.

    @dataclass(frozen=True)
    class Endpoint:
        base_url: options.BaseUrl = None

    @grouped
    def run(data: options.Data = "…", *, endpoint: Endpoint) -> None: ...

To typer, `run` has the flags `--data` and `--base-url`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["grouped"]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a parameter for each field of its parameters that are dataclasses.

    Every field is an annotated option with a plain default. No two have the same name.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        name = parameter.name
        if name in groups:
            flat += _fields(groups[name])
        else:
            flat.append(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
            )

    @wraps(command)
    def called(**given: Any) -> None:
        whole = {
            name: group(**{f.name: given.pop(f.name) for f in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **whole)

    # Typer and the reference of the command line look at these.
    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in flat}
    return called


def _fields(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
