"""A person at the terminal, who gives a line where no draft would do."""

from __future__ import annotations

import asyncio
import sys

from naisei.core import AskUser, Handler, InputError, Where
from naisei.lang import say
from naisei.lengths import MESSAGE, too_long

__all__ = ["Terminal"]


class Terminal(Handler):
    """Prints the question on stderr and reads the answer from stdin, one line."""

    async def perform(self, effect: AskUser, where: Where) -> str:
        """Raises `InputError` if stdin is at its end: nobody is there."""
        told = effect.question
        while told:
            print(f"{told}\n> ", end="", file=sys.stderr, flush=True)
            answer = await asyncio.to_thread(sys.stdin.readline)
            told = too_long(answer, MESSAGE)
        if not answer:
            raise InputError(
                say("端末で誰も答えませんでした", "nobody answered at the terminal"),
                place="--policy person",
                remedy=say(
                    "端末で `naisei runs resume DIR` として続けるか、"
                    "--policy best か --policy refuse で始め直してください",
                    "go on with `naisei runs resume DIR` at a terminal, or begin anew with "
                    "--policy best or --policy refuse",
                ),
            )
        return str(answer).rstrip("\r\n")
