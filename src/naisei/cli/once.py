"""An option with one value is given once: whoever gives it twice is told, and none is dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from naisei.lang import say


def refuse_repeats(command: Any) -> Any:
    """The command, or the group and all that is in it, with options that are counted.

    Its parser raises `InputError` for an option that takes one value and is there twice.
    """
    for inner in getattr(command, "commands", {}).values():
        refuse_repeats(inner)
    command.make_parser = partial(_counting, command.make_parser)
    return command


def _counting(make: Any, context: Any) -> Any:
    parser = make(context)
    parse = parser.parse_args

    def parse_args(args: list[str]) -> Any:
        values, rest, order = parse(args)
        if not context.resilient_parsing:  # completion is no command yet
            _check(order)
        return values, rest, order

    parser.parse_args = parse_args
    return parser


def _check(order: Sequence[Any]) -> None:
    """order: a parameter for each time that it is on the command line."""
    for parameter, times in Counter(order).items():
        if times > 1 and not parameter.multiple and not parameter.count:
            raise repeated(parameter.opts[0])


def repeated(option: str) -> Exception:
    """The `InputError` for an option that is given more than once."""
    from naisei.core import InputError  # the help does not wait for the core

    return InputError(
        say("1 回しか指定できません", "can be given only once"),
        place=option,
        remedy=say(
            "どれか 1 つにするか、値ごとに実行してください",
            "give one of them, or run the command once for each value",
        ),
    )
