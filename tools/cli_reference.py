"""The commands, their arguments and options in Markdown, for the pages of the command line.

Taken from the commands' parameters, not from their printed help, so that the width of a
terminal does not show. The language of the help is that of NAISEI_LANG when naisei is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.core import TyperGroup
from typer.main import get_command

_COLUMNS = {"en": "option | takes | default | ", "ja": "オプション | 値 | 既定 | "}
_PANEL = {"en": "Options", "ja": "オプション"}
_ENVIRONMENT = {"en": "Environment: `{}`.", "ja": "環境変数: `{}`"}

#: Kind of value → how the page calls it, English and Japanese.
_KINDS = {
    int: ("integer", "整数"),
    float: ("number", "数"),
    str: ("text", "文字列"),
    Path: ("path", "パス"),
    datetime: ("date", "日時"),
}


def commands() -> Iterator[tuple[str, Any, Callable[..., Any] | None]]:
    """Full name, command and function of everything that can be called, in the order of the
    help. A group has no function."""
    from naisei.cli.app import app

    yield from _walk("naisei", get_command(app))


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any, Callable[..., Any] | None]]:
    """A command and, of a group, what is in it, groups of its own last."""
    if not isinstance(command, TyperGroup):
        yield name, command, command.callback.__wrapped__
        return
    root = command.callback if name == "naisei" else None
    yield name, command, getattr(root, "__wrapped__", None)
    context = command.context_class(command)
    inner = [command.resolve_command(context, [sub])[1] for sub in command.commands]
    named = list(zip(command.commands, inner, strict=True))
    if name != "naisei":
        named.sort(key=lambda each: isinstance(each[1], TyperGroup))
    for sub, found in named:
        yield from _walk(f"{name} {sub}", found)


def _kind(annotation: Any) -> Any:
    """The type within `list[…] | None` and the like."""
    inner = [a for a in get_args(annotation) if a is not NoneType]
    if get_origin(annotation) is Literal or not inner:
        return annotation
    return _kind(inner[0])


def _values(param: Any, info: Any, kind: Any, language: str) -> str:
    """What an option takes: its own word for it, its choices, or its type and bounds."""
    if param.metavar:
        return f"`{param.metavar}`"
    if get_origin(kind) is Literal:
        between = " or " if language == "en" else "、"
        return between.join(f"`{choice}`" for choice in get_args(kind))
    if kind is bool:
        return ""
    name = _KINDS[kind][language == "ja"]
    if info.min is not None and info.max is not None:
        between = f", {info.min:g} to " if language == "en" else f"、{info.min:g}〜"
        return f"{name}{between}{info.max:g}"
    return f"{name} ≥ {info.min:g}" if info.min is not None else name


def _params(
    command: Any, function: Callable[..., Any], language: str
) -> Iterator[tuple[str, str, str]]:
    """Panel, the word of an argument (empty for an option), and the row of each parameter."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function).parameters
    for param in command.params:
        if param.name not in hints:  # --help, completion
            continue
        annotation, info = get_args(hints[param.name])[:2]
        kind, word = _kind(annotation), ""
        names = [*param.opts, *param.secondary_opts]
        if param.param_type_name == "argument":
            word = param.metavar or param.name.upper()
            names = [word]
        default = signature[param.name].default
        if kind is bool:
            default = names[0] if default is True else None
        if isinstance(param.show_default, str):
            default = param.show_default
        empty = default is inspect.Parameter.empty or default is None or default == ""
        if word and not empty:
            word = f"[{word}]"
        text = " ".join((param.help or "").split())
        if param.envvar:
            text = f"{text} {_ENVIRONMENT[language].format(param.envvar)}"
        cells = [
            ", ".join(f"`{n}`" for n in names),
            "" if word else _values(param, info, kind, language),
            "" if empty else f"`{default}`",
            text,
        ]
        row = " | ".join(cell.replace("|", "\\|") for cell in cells)
        yield info.rich_help_panel or "", word, f"| {row} |"


def _command(name: str, command: Any, function: Callable[..., Any] | None, language: str) -> str:
    level = "##" if name.count(" ") < 2 else "###"
    out = [f"{level} {name}", "", " ".join((command.help or "").split())]
    if function is None:
        return "\n".join(out) + "\n"
    params = list(_params(command, function, language))
    if name != "naisei":
        words = [word for _, word, _ in params if word]
        out += ["", f"`{' '.join([name, *words, '[OPTIONS]'])}`"]
    panels: dict[str, list[str]] = {}
    for panel, _, row in params:
        panels.setdefault(panel, []).append(row)
    for panel, rows in panels.items():
        out += ["", f"{panel or _PANEL[language]}:"] if len(panels) > 1 else []
        out += ["", f"| {_COLUMNS[language]}|", "|---|---|---|---|", *rows]
    return "\n".join(out) + "\n"


def reference(language: str) -> str:
    """Every command below the page's own words; language: en or ja."""
    return "\n".join(_command(*each, language) for each in commands())
