"""The evaluation without a model: form of the message, and how spread its results are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.core import Evidence
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weights
from naisei.intent.evidence import coverage, substance, sufficient
from naisei.intent.judged import Judged
from naisei.intent.messages import choose_question, open_question, worry_question
from naisei.intent.rules import Setting
from naisei.intent.schemas import Evaluation
from naisei.intent.topics import label, title_of, topics
from naisei.japanese.answers import at_a_loss, none_of_them
from naisei.japanese.query_analysis import QueryAnalysis, analyse_query, is_greeting

__all__ = ["grade", "sought", "spread", "vagueness"]

#: A section covers a question as well as the best one from this share of its coverage.
_TIED = 0.9


def sought(dialogue: Dialogue) -> str:
    """What the rules look up: what was said, a broad request by its words of substance alone,
    so that 「について教えて」 finds nothing of its own."""
    first, *more = dialogue.said
    asking = analyse_query(first)
    core = " ".join(asking.matter) if asking.broad and asking.matter else first
    return " ".join([core, *more])


def grade(
    dialogue: Dialogue, hits: Sequence[Evidence], weights: Weights, setting: Setting
) -> Judged:
    """The indicators and the question back, from the words said and what they find."""
    whole = " ".join(dialogue.said)
    said = [analyse_query(text) for text in dialogue.said]
    words = substance(whole)
    covers = {hit.id: coverage(words, weights.idf, hit) for hit in hits}
    held = sufficient(whole, hits, weights, setting.rules)
    within = _meant(dialogue, hits)
    vague = vagueness(said, spread(hits, covers), held=held, narrowed=bool(within))
    offered = tuple(option for e in dialogue.exchanges for option in e.options)
    options = topics(hits, setting.rules.options, covers=covers, used=offered, within=within)
    # Somebody who took what was offered, and left nothing to choose from, is not asked openly.
    settled = _picked(dialogue) and len(options) < 2
    consulting = said[0].consultation
    last = dialogue.exchanges[-1].answer if dialogue.exchanges else ""
    if (consulting and len(said) == 1) or none_of_them(last) or len(options) < 2:
        options, within = (), ""
    asks = vague >= 2 and not settled and not (dialogue.exchanges and at_a_loss(last))
    language = setting.rules.language
    if options:
        question = choose_question(dialogue, options, language, within=within)
    elif consulting:
        question = worry_question(dialogue, language)
    else:
        question = open_question(dialogue, language)
    return Judged(
        evaluation=Evaluation(
            clarity=min(5, vague) if asks else 1,
            is_question=5 if is_greeting(dialogue.utterance) else 1 if said[0].question else 2,
            is_consultation=1 if consulting else 5,
            in_internal_docs=1 if held else 4,
            ask_person=5 if held and not consulting else 3 if held else 1,
            ask_missing_info=question if asks and not consulting else "",
            res_consultation=question if asks and consulting else "",
        ),
        evaluator="rules",
        options=options if asks else (),
    )


def vagueness(
    said: Sequence[QueryAnalysis], ties: int, *, held: bool, narrowed: bool = False
) -> int:
    """0 (clear) to about 7, from the words of the whole dialogue; asked back from 2 on.

    ties: sections that cover the words equally well. held: whether any covers them enough.
    narrowed: the last answer chose a document, and not what about it.
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
    # A first answer that only narrows the matter down still leaves open what about it; and what
    # cannot be answered after one question may be after another.
    second = len(said) == 2 and not said[1].aspect
    open_still = narrowed or (second and (ties > 1 or first.consultation))
    unheld = len(said) > 1 and not held
    return max(2 if worry or open_still or unheld else 0, points)


def spread(hits: Sequence[Evidence], covers: Mapping[str, float]) -> int:
    """How many sections cover the words about as well as the best one does.

    covers: hit → how much of them it covers.
    """
    best: dict[str, float] = {}
    for hit in hits:
        if not hit.meta.get("superseded_by") and not hit.meta.get("duplicate_of"):
            name = label(hit)
            best[name] = max(best.get(name, 0.0), covers[hit.id])
    top = max(best.values(), default=0.0)
    return sum(value >= _TIED * top for value in best.values()) if top > 0 else len(best)


def _picked(dialogue: Dialogue) -> bool:
    """Whether the last answer is one of the options that were offered."""
    return bool(dialogue.exchanges) and (
        dialogue.exchanges[-1].answer in dialogue.exchanges[-1].options
    )


def _meant(dialogue: Dialogue, hits: Sequence[Evidence]) -> str:
    """The title of the document that the last answer chose as a whole; empty if it did not."""
    if not dialogue.exchanges:
        return ""
    last = dialogue.exchanges[-1]
    titles = {title_of(hit) for hit in hits}
    return last.answer if last.answer in last.options and last.answer in titles else ""
