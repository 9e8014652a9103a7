"""An option with one value that is given twice is refused, of every command."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer
from typer.main import get_command

from commandline import Naisei
from naisei.cli.app import _OTHERS, app, refuse_repeats
from naisei.cli.derived import command_of
from naisei.core import InputError
from naisei.system.registry import BUILT_IN, find_system


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """A command, and those within it."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def every() -> Iterator[tuple[str, Any]]:
    yield "naisei", get_command(app)
    for name, (place, *_) in _OTHERS.items():
        module, _, attribute = place.partition(":")
        found = get_command(getattr(import_module(module), attribute))
        yield from commands(refuse_repeats(found), name)
    for name in BUILT_IN:
        system = find_system(name)
        verbs = {e.verb for e in system.experiments if e.verb} | {v.name for v in system.verbs}
        verbs |= {"ablate"} if any(e.ablation for e in system.experiments) else set()
        verbs |= {"demo"} if system.demo else set()
        for verb in sorted(verbs):
            yield from commands(refuse_repeats(command_of(system, verb)), f"{name} {verb}")


def test_every_option_of_one_value_of_every_command() -> None:
    seen = 0
    for path, command in every():
        context = typer.Context(command, info_name=path)
        for option in command.get_params(context):
            if option.param_type_name != "option":
                continue
            word = [option.opts[0], *([] if option.is_flag else ["1"] * option.nargs)]
            parser = command.make_parser(context)
            if option.multiple:
                assert len(parser.parse_args(word * 2)[0][option.name]) == 2, (path, word)
                continue
            assert option.name in parser.parse_args([*word])[0], (path, word)
            with pytest.raises(InputError) as told:
                parser.parse_args(word * 2)
            assert told.value.place == option.opts[0] and told.value.remedy, path
            seen += 1
    assert seen > 500


@pytest.mark.parametrize(
    "line",
    [
        "clarify ablate --model a:b --model c:d",
        "clarify run --limit 1 --limit=1",
        "clarify run --sampling agent.seed=1 --sampling agent.seed=2 --agent llm --model a:b",
        "intent ask x --threshold clarity=1 --threshold clarity=2",
        "runs fork r --step 1 --model agent=a --model agent=b",
        "--lang en --lang en clarify run",
    ],
)
def test_on_the_command_line(naisei: Naisei, line: str) -> None:
    done = naisei(*line.split(), NAISEI_LANG="en")
    assert done.code == 2 and ("only once" in done.err or "set twice" in done.err), done.err
