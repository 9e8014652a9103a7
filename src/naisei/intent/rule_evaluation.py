"""The evaluation without a model: form of the message, and how spread its results are."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import Evidence
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weights
from naisei.intent.evidence import coverage, substance, sufficient
from naisei.intent.judged import Judged
from naisei.intent.messages import choose_question, open_question, worry_question
from naisei.intent.rules import Setting
from naisei.intent.schemas import Evaluation
from naisei.intent.topics import label, topics
from naisei.japanese.answers import Stance, understand
from naisei.japanese.asking import Asking, is_greeting, read_asking

__all__ = ["grade", "spread", "vagueness"]

#: A section covers a question as well as the best one from this share of its coverage.
_TIED = 0.9


def grade(
    dialogue: Dialogue, hits: Sequence[Evidence], weights: Weights, setting: Setting
) -> Judged:
    """The indicators and the question back, from the words said and what they find."""
    whole = " ".join(dialogue.said)
    said = [read_asking(text) for text in dialogue.said]
    held = sufficient(whole, hits, weights, setting.rules)
    ties = spread(whole, hits, weights)
    clarity = min(5, 1 + max(0, vagueness(said, ties, held=held) - 1))
    offered = tuple(option for e in dialogue.exchanges for option in e.options)
    options = topics(hits, setting.rules.options, used=offered)
    consulting = said[0].consultation
    # Nothing is gained by asking on: all topics were offered, or the person cannot say.
    spent = bool(dialogue.exchanges) and (len(options) < 2 or _at_a_loss(dialogue))
    language = setting.rules.language
    if spent:
        clarity, options = 1, ()
    asks = clarity > 1
    worry = worry_question(whole, options, language) if asks and consulting else ""
    if len(options) >= 2:
        lacking = choose_question(dialogue, options, language)
    else:
        lacking, options = open_question(dialogue, language), ()
    talk = is_greeting(dialogue.utterance)
    return Judged(
        evaluation=Evaluation(
            clarity=clarity,
            is_question=5 if talk else 1 if said[0].question else 2,
            is_consultation=1 if consulting else 5,
            in_internal_docs=1 if held else 4,
            ask_person=5 if held and not consulting else 3 if held else 1,
            ask_missing_info=lacking if asks and not consulting else "",
            res_consultation=worry,
        ),
        evaluator="rules",
        options=options if asks else (),
    )


def vagueness(said: Sequence[Asking], ties: int, *, held: bool) -> int:
    """0 (clear) to about 7, from the words of the whole dialogue; asked back from 2 on.

    ties: sections that cover the words equally well. held: whether any covers them enough.
    """
    first, words = said[0], {w for a in said for w in a.matter}
    points = 2 if first.broad and len(said) == 1 else 0
    points += 0 if any(a.aspect for a in said) else 1
    points += {0: 3, 1: 2, 2: 1}.get(len(words), 0)
    points += 2 if ties >= 6 else 1 if ties >= 3 else 0 if ties == 2 else -1
    # A question in full whose words the documents do not hold is not vague but unanswerable.
    if not held and first.aspect and not first.consultation and len(words) >= 2:
        points -= 2
    # A worry is drawn out once, however many words it takes (①).
    worry = first.consultation and len(said) == 1
    # A first answer that only narrows the matter down still leaves open what about it.
    narrowed = len(said) == 2 and not said[1].aspect
    return max(2 if worry or narrowed else 0, points)


def spread(query: str, hits: Sequence[Evidence], weights: Weights) -> int:
    """How many sections cover the query's words about as well as the best one does."""
    words = substance(query)
    best: dict[str, float] = {}
    for hit in hits:
        if not hit.meta.get("superseded_by") and not hit.meta.get("duplicate_of"):
            name = label(hit)
            best[name] = max(best.get(name, 0.0), coverage(words, weights.idf, hit))
    top = max(best.values(), default=0.0)
    return sum(value >= _TIED * top for value in best.values()) if top > 0 else len(best)


def _at_a_loss(dialogue: Dialogue) -> bool:
    """The last answer says nothing: it is empty, a refusal, or 「わかりません」."""
    last = dialogue.exchanges[-1].answer
    return not read_asking(last).matter or understand(last).stance in (
        Stance.UNSURE,
        Stance.REFUSED,
    )
