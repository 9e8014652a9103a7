"""Write the pages of the command line from it: python tools/cli_reference.py [--check].

docs/cli.md in English, docs/ja/cli.md in Japanese.

Taken from the commands' parameters, not from their printed help, so that the width of a
terminal does not show.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.core import TyperGroup
from typer.main import get_command

_DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = {"en": _DOCS / "cli.md", "ja": _DOCS / "ja" / "cli.md"}

_HEADS = {
    "en": """# The command line

Written by `python tools/cli_reference.py`; do not edit. `naisei COMMAND --help` prints the same,
in Japanese where the language is Japanese.

Options of `naisei` itself stand before the sub-command: `naisei --lang en runs list`.

Exit codes: 0 done; 1 unexpected error; 2 something given cannot be used; 3 stopped at a budget,
resumable; 4 nothing at all was scored; 130 interrupted, resumable.

An option with one value is given once.
""",
    "ja": """# コマンド

`python tools/cli_reference.py` が書き出したページです。手で直さないでください。
同じ内容を `naisei COMMAND --help` が表示します。

naisei 自体のオプションは、コマンドの前に置きます: `naisei --lang ja runs list`

終了コード: 0 完了、1 予期しないエラー、2 渡されたものが使えない、3 予算で停止（再開できる）、
4 1 件も採点できなかった、130 中断（再開できる）。

値が 1 つのオプションは 1 回だけ指定します。
""",
}
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


def _language() -> str:
    return os.environ.get("NAISEI_LANG", "en")


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


def _values(param: Any, info: Any, kind: Any) -> str:
    """What an option takes: its own word for it, its choices, or its type and bounds."""
    if param.metavar:
        return f"`{param.metavar}`"
    if get_origin(kind) is Literal:
        between = " or " if _language() == "en" else "、"
        return between.join(f"`{choice}`" for choice in get_args(kind))
    if kind is bool:
        return ""
    name = _KINDS[kind][_language() == "ja"]
    if info.min is not None and info.max is not None:
        between = f", {info.min:g} to " if _language() == "en" else f"、{info.min:g}〜"
        return f"{name}{between}{info.max:g}"
    return f"{name} ≥ {info.min:g}" if info.min is not None else name


def _params(command: Any, function: Callable[..., Any]) -> Iterator[tuple[str, str, str]]:
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
            text = f"{text} {_ENVIRONMENT[_language()].format(param.envvar)}"
        cells = [
            ", ".join(f"`{n}`" for n in names),
            "" if word else _values(param, info, kind),
            "" if empty else f"`{default}`",
            text,
        ]
        row = " | ".join(cell.replace("|", "\\|") for cell in cells)
        yield info.rich_help_panel or "", word, f"| {row} |"


def _command(name: str, command: Any, function: Callable[..., Any] | None) -> str:
    level = "##" if name.count(" ") < 2 else "###"
    out = [f"{level} {name}", "", " ".join((command.help or "").split())]
    if function is None:
        return "\n".join(out) + "\n"
    params = list(_params(command, function))
    if name != "naisei":
        words = [word for _, word, _ in params if word]
        out += ["", f"`{' '.join([name, *words, '[OPTIONS]'])}`"]
    panels: dict[str, list[str]] = {}
    for panel, _, row in params:
        panels.setdefault(panel, []).append(row)
    for panel, rows in panels.items():
        out += ["", f"{panel or _PANEL[_language()]}:"] if len(panels) > 1 else []
        out += ["", f"| {_COLUMNS[_language()]}|", "|---|---|---|---|", *rows]
    return "\n".join(out) + "\n"


def reference() -> str:
    """The page in the language that NAISEI_LANG names."""
    return "\n".join([_HEADS[_language()], *(_command(*each) for each in commands())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if it is stale")
    parser.add_argument("--page", choices=tuple(PAGES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.page is None:
        # A process each: the commands' help is chosen as they are imported.
        command = [sys.executable, __file__, *(["--check"] if options.check else [])]
        return max(
            subprocess.run([*command, "--page", language], check=False).returncode
            for language in PAGES
        )
    os.environ["NAISEI_LANG"] = options.page
    text, page = reference(), PAGES[options.page]
    if options.check:
        if not page.exists() or page.read_text("utf-8") != text:
            name = page.relative_to(_DOCS.parent)
            print(f"{name} is stale: run python tools/cli_reference.py", file=sys.stderr)
            return 1
        return 0
    page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
