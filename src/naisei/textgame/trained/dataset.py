"""Training examples from recorded walkthroughs: choices with negatives, and wrong actions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from pydantic import BaseModel, ConfigDict

from naisei.textgame.cooking_state import NAVIGATE, TextState
from naisei.textgame.trained.recordings import RecordedGame, RecordedStep

# Wrong actions: the classifier's training examples.
#
# Source: the text-game thesis, §§5.2.2, 5.2.3.

_PROCESSING = re.compile(r"^(?:cook .+ with .+|(?:slice|dice|chop) .+ with knife)$")


class ProcessingExample(BaseModel):
    """A cookbook and an action that cooks or cuts. wrong: 0 if the walkthrough has the action, else
    1."""

    model_config = ConfigDict(frozen=True)

    game: str
    cookbook: str
    action: str
    wrong: int


def is_processing(action: str) -> bool:
    """Whether the action is `cook … with …` or `slice|dice|chop … with knife`."""
    return _PROCESSING.match(action) is not None


def processing_examples(
    game: str, cookbook: str, candidates: Iterable[Iterable[str]], walkthrough: Collection[str]
) -> list[ProcessingExample]:
    """Every distinct processing action among a game's candidates; empty without a cookbook.

    candidates: the candidates of each state along the walkthrough.
    """
    if not cookbook:
        return []
    actions = dict.fromkeys(a for state in candidates for a in state if is_processing(a))
    return [
        ProcessingExample(game=game, cookbook=cookbook, action=a, wrong=int(a not in walkthrough))
        for a in actions
    ]


# Walkthroughs with `navigate to <item>` instead of `go` commands.
#
# Source: the text-game thesis, §6.2.2: for a movement command, find the next other command;
# if the navigator knows its item, replace the whole path, else keep the command.

_TARGETS = (
    re.compile(r"^cook .+ with (?P<item>.+)$"),
    re.compile(r"^take (?P<item>.+?)(?: from .+)?$"),
    re.compile(r"^examine (?P<item>.+)$"),
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten walkthrough. counts, as the thesis reports them: commands, moves (only `go`),
    places (replaced paths) and replaced (`go` commands in them)."""

    steps: tuple[RecordedStep, ...]
    counts: Counter[str]


def target_item(command: str, *, meal: bool = False) -> str:
    """The item that a command must be near; "" if it needs none that can be walked to.

    For cooking it is the appliance, since the food is held. meal: `prepare meal` needs the
    cookbook's room (for the player hybrid; not in the thesis).
    """
    if meal and command == "prepare meal":
        return "cookbook"
    found = (pattern.match(command) for pattern in _TARGETS)
    return next((m["item"] for m in found if m), "")


def rewrite(steps: Sequence[RecordedStep], *, meal: bool = False) -> Rewritten:
    """Rewrite a game's steps; each replaced path becomes its first step with the replacing command.
    A pure function: each recorded step includes the navigator's knowledge."""
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


@dataclass(frozen=True, slots=True)
class Choice:
    """A state and the walkthrough's action in it. others: the other candidates."""

    game: str
    state: TextState
    action: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """counts: counts of the rewriting (empty without navigator), and `left_out`: commands that the
    filter removes and states with one candidate."""

    of: tuple[Choice, ...]
    counts: Counter[str]


def choices(recordings: Sequence[RecordedGame], *, navigator: bool, meal: bool = False) -> Choices:
    """Every choice of the walkthroughs (thesis §5.3.3).

    navigator: include `navigate to …` candidates and rewrite the walkthroughs. meal: see
    `target_item`.
    """
    out: list[Choice] = []
    counts: Counter[str] = Counter()
    for game in recordings:
        steps = game.steps
        if navigator:
            rewritten = rewrite(game.steps, meal=meal)
            steps = rewritten.steps
            counts.update(rewritten.counts)
        for step in steps:
            candidates = step.candidates + (step.navigate if navigator else ())
            others = tuple(each for each in candidates if each != step.action)
            if step.action not in candidates or not others:
                counts["left_out"] += 1
                continue
            out.append(Choice(game.game, step.state, step.action, others))
    return Choices(tuple(out), counts)


def negatives(choice: Choice, count: int, *, seed: str) -> tuple[str, ...]:
    """At most `count` random other candidates, without repetition (§6.3.3)."""
    if len(choice.others) <= count:
        return choice.others
    return tuple(Random(seed).sample(choice.others, count))


def wrong_actions(recordings: Sequence[RecordedGame]) -> tuple[ProcessingExample, ...]:
    """The classifier's examples (§5.2.3) of every game whose cookbook was read."""
    out: list[ProcessingExample] = []
    for game in recordings:
        cookbook = next((s.state.cookbook for s in game.steps if s.state.cookbook), "")
        states = [step.candidates for step in game.steps]
        out += processing_examples(game.game, cookbook, states, set(game.walkthrough))
    return tuple(out)


#: A state, an action, and its label.
Pair = tuple[TextState, str, float]


def pairs_of(
    source: Choice | ProcessingExample, count: int | None = None, *, seed: str = ""
) -> list[Pair]:
    """The pairs of an example; for a choice, the positive and at most `count` negatives."""
    if isinstance(source, ProcessingExample):
        return [(TextState(cookbook=source.cookbook), source.action, float(source.wrong))]
    others = source.others if count is None else negatives(source, count, seed=seed)
    return [(source.state, source.action, 1.0), *((source.state, each, 0.0) for each in others)]
