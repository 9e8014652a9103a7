"""Walkthroughs, replayed: what was to be seen and chosen from at each of their commands."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from naisei.core import Act, Flow
from naisei.textgame.schemas import START, View
from naisei.textgame.trained.candidates import accepted, offered
from naisei.textgame.trained.navigator import navigate_candidates
from naisei.textgame.trained.notebook import Notebook
from naisei.textgame.trained.situation import Situation

__all__ = ["RecordedGame", "RecordedStep", "record"]


class RecordedStep(BaseModel):
    """A command of a walkthrough.

    candidates: after the filter of §6.3.3. navigate: what the navigator would have offered.
    moves: whether it is `go …` or opens a door.
    """

    model_config = ConfigDict(frozen=True)

    situation: Situation
    action: str
    candidates: tuple[str, ...]
    navigate: tuple[str, ...] = ()
    moves: bool = False


class RecordedGame(BaseModel):
    """walkthrough: the commands, as they stand. inadmissible: how many the engine would not have
    accepted; they were left out. won: whether the others ended the game well."""

    model_config = ConfigDict(frozen=True)

    game: str
    walkthrough: tuple[str, ...]
    steps: tuple[RecordedStep, ...]
    inadmissible: int = 0
    won: bool = False


def record(game: str, walkthrough: Sequence[str]) -> Flow[RecordedGame]:
    """Replay a walkthrough; a command that is not among the engine's candidates is skipped."""
    view = View.of((yield from Act(START)))
    notebook, last = Notebook(), ""
    steps: list[RecordedStep] = []
    skipped = 0
    for command in walkthrough:
        if view.done:
            break
        situation = notebook.see(view, last)
        if command not in accepted(view):
            # Nothing was asked of the engine, so the next command meets the same view.
            skipped, last = skipped + 1, ""
            continue
        verb, _, rest = command.partition(" ")
        steps.append(
            RecordedStep(
                situation=situation,
                action=command,
                candidates=offered(view),
                navigate=navigate_candidates(notebook),
                moves=verb == "go" or (verb == "open" and notebook.is_door(rest)),
            )
        )
        view, last = View.of((yield from Act(command))), command
    return RecordedGame(
        game=game,
        walkthrough=tuple(walkthrough),
        steps=tuple(steps),
        inadmissible=skipped,
        won=view.won,
    )
