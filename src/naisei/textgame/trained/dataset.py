"""From recorded walkthroughs to what is learned: a positive, its negatives, and wrong actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from naisei.textgame.trained.labels import ProcessingExample, processing_examples
from naisei.textgame.trained.recorded import RecordedGame
from naisei.textgame.trained.rewriting import rewrite
from naisei.textgame.trained.situation import Situation

__all__ = ["Choice", "Choices", "choices", "negatives", "wrong_actions"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A state and what the walkthrough did there. others: the candidates that it did not take."""

    game: str
    situation: Situation
    action: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """counts: of the rewriting (empty without navigator), and `left_out`: commands that the
    filter removes, and states with a single candidate, from which nothing is to be learned."""

    of: tuple[Choice, ...]
    counts: Counter[str]


def choices(recordings: Sequence[RecordedGame], *, navigator: bool, meal: bool = False) -> Choices:
    """Every choice of the walkthroughs (thesis §5.3.3).

    navigator: with `navigate to …` among the candidates, and the walkthroughs rewritten. meal:
    see `rewriting.target_item`.
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
            shown = step.candidates + (step.navigate if navigator else ())
            others = tuple(each for each in shown if each != step.action)
            if step.action not in shown or not others:
                counts["left_out"] += 1
                continue
            out.append(Choice(game.game, step.situation, step.action, others))
    return Choices(tuple(out), counts)


def negatives(choice: Choice, count: int, *, seed: str) -> tuple[str, ...]:
    """At most `count` of the other candidates, without repetition (§6.3.3)."""
    if len(choice.others) <= count:
        return choice.others
    return tuple(Random(seed).sample(choice.others, count))


def wrong_actions(recordings: Sequence[RecordedGame]) -> tuple[ProcessingExample, ...]:
    """The classifier's examples (§5.2.3), of every game in which the cookbook was read."""
    out: list[ProcessingExample] = []
    for game in recordings:
        cookbook = next((s.situation.cookbook for s in game.steps if s.situation.cookbook), "")
        states = [step.candidates for step in game.steps]
        out += processing_examples(game.game, cookbook, states, set(game.walkthrough))
    return tuple(out)
