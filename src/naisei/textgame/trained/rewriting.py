"""Walkthroughs with `navigate to <item>` in place of the ways to it.

Source: the text-game thesis, §6.2.2: at a movement command, the next command that is none is
looked up; if the navigator knows its item, the whole way is replaced, else the command stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from naisei.textgame.trained.navigator import NAVIGATE
from naisei.textgame.trained.recorded import RecordedStep

__all__ = ["Rewritten", "rewrite", "target_item"]

_TARGETS = (
    re.compile(r"^cook .+ with (?P<item>.+)$"),
    re.compile(r"^take (?P<item>.+?)(?: from .+)?$"),
    re.compile(r"^examine (?P<item>.+)$"),
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """counts: commands, moves (`go` only), places (ways replaced) and replaced (`go` commands in
    them), as the thesis reports them."""

    steps: tuple[RecordedStep, ...]
    counts: Counter[str]


def target_item(command: str, *, meal: bool = False) -> str:
    """What a command needs to be near of; empty if it names nothing that can be walked to.

    For cooking that is the appliance, since the food is in hand. meal: `prepare meal` needs the
    cookbook's room (not in the thesis).
    """
    if meal and command == "prepare meal":
        return "cookbook"
    found = (pattern.match(command) for pattern in _TARGETS)
    return next((m["item"] for m in found if m), "")


def rewrite(steps: Sequence[RecordedStep], *, meal: bool = False) -> Rewritten:
    """The steps of a game; a way that is replaced becomes its first step, with the command that
    replaces it. Pure: what the navigator knew at each step was recorded with it."""
    out: list[RecordedStep] = []
    counts: Counter[str] = Counter(commands=len(steps), moves=0, places=0, replaced=0)
    counts["moves"] = sum(_is_go(step) for step in steps)
    at = 0
    while at < len(steps):
        step = steps[at]
        if not step.moves:
            out.append(step)
            at += 1
            continue
        end = next((i for i in range(at, len(steps)) if not steps[i].moves), len(steps))
        item = target_item(steps[end].action, meal=meal) if end < len(steps) else ""
        command = NAVIGATE + item
        if item and command in step.navigate:
            out.append(step.model_copy(update={"action": command}))
            counts["places"] += 1
            counts["replaced"] += sum(_is_go(s) for s in steps[at:end])
            at = end
        else:
            out.append(step)
            at += 1
    return Rewritten(tuple(out), counts)


def _is_go(step: RecordedStep) -> bool:
    return step.action.startswith("go ")
