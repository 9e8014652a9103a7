"""Evaluates a dialogue with a model, or by rules if there is none or it fails."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from naisei.core import Chat, Evidence, Flow, InstrumentFailure, Now, Search
from naisei.intent.conditions import condition, kind_chosen
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weigh, Weights
from naisei.intent.evidence import (
    SearchResult,
    coverage,
    is_held,
    nearness,
    newest_first,
    strength,
    substance,
)
from naisei.intent.messages import (
    choose_question,
    evaluator_messages,
    numbered,
    open_question,
    worry_question,
)
from naisei.intent.rules import Setting
from naisei.intent.schemas import Evaluation, Judged
from naisei.intent.things import MEANT, headings_of, mentions, names, place_of, things
from naisei.japanese.answers import at_a_loss, none_of_them
from naisei.japanese.morph import normalise
from naisei.japanese.query_analysis import QueryAnalysis, analyse_query, is_greeting
from naisei.retrieval.types import QUOTED

#: The first hits are always offered; others need this share of the best coverage.
_FIRST, _FITTING = 3, 0.5
_LONGEST = 40
_NUMBERING = re.compile(
    r"^\s*(?:第?[0-9０-９一二三四五六七八九十]+(?:[.．、)）章節項]|\s)[0-9.．]*\s*|[■●◆▼◇○・#＃]+\s*|[(（][0-9０-９]+[)）]\s*)"
)


def label(hit: Evidence) -> str:
    """`title › heading` of a hit, short enough for a list."""
    title = title_of(hit)
    headings = hit.meta.get("headings")
    names = [_clean(str(h)) for h in headings] if isinstance(headings, list) else []
    inner = [h for h in names if h and _bare(h) != _bare(title)]
    if not inner:
        return title
    return f"{title} › {inner[-1]}"


def topics(
    hits: Sequence[Evidence],
    limit: int,
    *,
    covers: Mapping[str, float],
    used: Sequence[str] = (),
    within: str = "",
) -> tuple[str, ...]:
    """Return at most `limit` topics among the hits, all distinct and none in `used`.

    A document with several matching sections is offered as a whole, one with a single match by that
    section; if only one document matches or is chosen (`within`), its sections are offered.
    Outdated versions, near copies and hits barely related to the question are skipped.

    covers: hit → share of the question it covers, in [0, 1].
    """
    taken = {_bare(u) for u in used}
    documents = _by_document(_fitting(hits, covers))
    if within:
        documents = {path: d for path, d in documents.items() if title_of(d[0]) == within}
    if len(documents) == 1:
        sections = [hit for found in documents.values() for hit in found]
        names = [_section(hit) if within else label(hit) for hit in sections]
    else:
        names = [
            title_of(found[0]) if len({label(h) for h in found}) > 1 else label(found[0])
            for found in documents.values()
        ]
    chosen: list[str] = []
    for name in names:
        if name and _bare(name) not in taken:
            taken.add(_bare(name))
            chosen.append(name)
    return tuple(chosen[:limit])


def _fitting(hits: Sequence[Evidence], covers: Mapping[str, float]) -> list[Evidence]:
    """Return the hits with at least half the best coverage, plus the first few: semantic search may
    match other words."""
    top = max(covers.values(), default=0.0)
    return [
        hit
        for at, hit in enumerate(hits)
        if not hit.meta.get("superseded_by") and not hit.meta.get("duplicate_of")
        if QUOTED not in headings_of(hit)
        if at < _FIRST or (top > 0 and covers.get(hit.id, 0.0) >= _FITTING * top)
    ]


def _by_document(hits: Sequence[Evidence]) -> dict[str, list[Evidence]]:
    """Path → its hits, ordered by the total score of a document's three best hits, highest
    first."""
    found: dict[str, list[Evidence]] = {}
    for hit in hits:
        found.setdefault(str(hit.meta.get("path") or label(hit)), []).append(hit)
    weight = {path: sum(hit.score for hit in mine[:3]) for path, mine in found.items()}
    return {path: found[path] for path in sorted(found, key=lambda p: -weight[p])}


def title_of(hit: Evidence) -> str:
    """The title of a hit's document, short enough for a list."""
    return _clean(str(hit.meta.get("title") or hit.meta.get("path") or ""))


def _section(hit: Evidence) -> str:
    """The heading of a hit, if its document is already known."""
    return label(hit).removeprefix(f"{title_of(hit)} › ")


def _clean(text: str) -> str:
    text = _NUMBERING.sub("", " ".join(text.split()))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _bare(text: str) -> str:
    return "".join(c for c in normalise(text).lower() if c.isalnum())


#: A section with this share of the best coverage counts as equally good.
_TIED = 0.9


def sought(dialogue: Dialogue) -> str:
    """The rules' query: the messages; for a broad request only content words, so that
    「について教えて」 matches nothing."""
    first, *more = dialogue.full_messages
    asking = analyse_query(first)
    core = " ".join(asking.matter) if asking.broad and asking.matter else first
    return " ".join([core, *more])


#: Evidence from which a described situation is answered without asking.
_TOLD_ANSWERED = 0.6


def grade(
    dialogue: Dialogue, hits: Sequence[Evidence], weights: Weights, setting: Setting
) -> Judged:
    """Compute the indicators and the question back from the words and the hits."""
    whole = " ".join(dialogue.full_messages)
    said = [analyse_query(text) for text in dialogue.full_messages]
    words = substance(whole)
    covers = {hit.id: coverage(words, weights.idf, hit) for hit in hits}
    sure = strength(whole, hits, weights)
    held = is_held(whole, hits, weights, setting.rules)
    within = _chosen_document(dialogue, hits)
    if said[0].consultation and not said[0].worry and sure >= _TOLD_ANSWERED:
        # Requests that contain no worry and that the documents cover are answered.
        said[0] = replace(said[0], consultation=False, aspect=not said[0].broad)
    vague = vagueness(said, spread(hits, covers), held=held, narrowed=bool(within))
    offered = tuple(option for e in dialogue.exchanges for option in e.options)
    options = topics(hits, setting.rules.options, covers=covers, used=offered, within=within)
    # After a choice without further options, no open question.
    settled = _picked(dialogue) and len(options) < 2
    consulting = said[0].consultation
    last = dialogue.exchanges[-1].answer if dialogue.exchanges else ""
    if (consulting and len(said) == 1) or none_of_them(last) or len(options) < 2:
        options, within = (), ""
    # A continued request has the topic of the answered one.
    goes_on = dialogue.resumes and not dialogue.exchanges
    full = len(said) == 1 and said[0].question and not (consulting or said[0].broad)
    asks = vague >= 2 and not (settled or goes_on or (dialogue.exchanges and at_a_loss(last)))
    if weights.foreign:
        asks = False  # headings in another language cannot be offered
    if asks and full and (said[0].aspect or _NAMED_ALONE.search(normalise(whole))):
        asks = not (
            _nowhere(whole, hits, weights)
            or (said[0].aspect and _told_apart(whole, hits[: setting.rules.k]))
        )
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


#: 食堂のメニューは？
_NAMED_ALONE = re.compile("は[。？?]*$")


def _nowhere(query: str, hits: Sequence[Evidence], weights: Weights) -> bool:
    """Whether no hit matches the question's content words, so headings cannot be offered."""
    asked = things(query)[:1]
    far = nearness(hits, weights) < MEANT
    return bool(asked) and far and not any(names(asked[0], hit) for hit in hits)


#: Maximum number of matching sections for a full question to be clear.
_FEW = 2


def _told_apart(query: str, hits: Sequence[Evidence]) -> bool:
    """Whether a heading identifies the section of a full question, or only few sections match."""
    asked = things(query) or substance(query)
    few = sum(all(names(thing, hit) for thing in asked) for hit in hits)
    heads = any(all(mentions(thing, place_of(hit)) for thing in asked) for hit in hits)
    return bool(asked) and (heads or 1 <= few <= _FEW)


def vagueness(
    said: Sequence[QueryAnalysis], ties: int, *, held: bool, narrowed: bool = False
) -> int:
    """Score from 0 (clear) to about 7, from the words of the whole dialogue; 2 or more triggers a
    question back.

    ties: sections that cover the words equally well. held: whether any covers them enough.
    narrowed: the last answer chose only a document.
    """
    first, words = said[0], {w for a in said for w in a.matter}
    points = 2 if first.broad and len(said) == 1 else 0
    points += 0 if any(a.aspect for a in said) else 1
    points += {0: 3, 1: 2, 2: 1, 3: 0}.get(len(words), -1)
    many = 2 if ties >= 6 else 1 if ties >= 3 else 0 if ties == 2 else -1
    # For a full question with enough words, ties come from common words, not vagueness.
    points += min(many, 1 if len(words) > 2 else 2) if first.aspect else many
    # A full question with words missing from the documents is not vague but unanswerable.
    if not held and first.aspect and not first.consultation and len(words) >= 2:
        points -= 2
    # A worry prompts one question, whatever its length (①).
    worry = first.consultation and len(said) == 1
    # A first answer that only narrows the topic leaves the details open. What cannot be answered
    # after one question may be answerable after another.
    second = len(said) == 2 and not said[1].aspect
    open_still = narrowed or (second and (ties > 1 or first.consultation))
    unheld = len(said) > 1 and not held
    return max(2 if worry or open_still or unheld else 0, points)


def spread(hits: Sequence[Evidence], covers: Mapping[str, float]) -> int:
    """Number of sections that cover the words about as well as the best one.

    covers: hit → share of the words it covers.
    """
    best: dict[str, float] = {}
    for hit in hits:
        if not hit.meta.get("superseded_by") and not hit.meta.get("duplicate_of"):
            name = label(hit)
            best[name] = max(best.get(name, 0.0), covers[hit.id])
    top = max(best.values(), default=0.0)
    return sum(value >= _TIED * top for value in best.values()) if top > 0 else len(best)


def _picked(dialogue: Dialogue) -> bool:
    """Whether the last answer is one of the offered options."""
    return bool(dialogue.exchanges) and (
        dialogue.exchanges[-1].answer in dialogue.exchanges[-1].options
    )


def _chosen_document(dialogue: Dialogue, hits: Sequence[Evidence]) -> str:
    """The title of the document that the last answer chose as a whole; empty if none."""
    if not dialogue.exchanges:
        return ""
    last = dialogue.exchanges[-1]
    titles = {title_of(hit) for hit in hits}
    return last.answer if last.answer in last.options and last.answer in titles else ""


#: Number of headings shown to the evaluating model.
_HEADINGS = 12


def evaluate(dialogue: Dialogue, setting: Setting, notes: Sequence[str] = ()) -> Flow[Judged]:
    """Evaluate with a model; fall back on rules without a usable one. notes: the person's earlier
    statements about themselves."""
    failures: tuple[str, ...] = ()
    query = sought(dialogue)
    hits = yield from Search(query, k=setting.rules.depth, source="documents")
    weights = yield from Weigh(query)
    if "evaluator" in setting.rules.roles:
        now = yield from Now()
        current = [hit for hit in hits if not hit.meta.get("superseded_by")]
        headings = list(dict.fromkeys(map(label, current)))[:_HEADINGS]
        best = SearchResult(
            hits=tuple(newest_first(query, hits)[: setting.rules.k]), weights=weights
        )
        known = [*dialogue.full_messages, *notes, *setting.profile.fields.values()]
        depends = condition(query, best, known)
        kinds = depends.options if depends is not None and not kind_chosen(dialogue) else ()
        told = evaluator_messages(
            dialogue,
            setting,
            headings=headings,
            today=f"{now.astimezone():%Y-%m-%d (%a)}",
            kinds=kinds,
        )
        try:
            found = yield from Chat("evaluator", told, Evaluation)
            return _judged(found, setting)
        except InstrumentFailure as failure:
            failures = (f"evaluator: {failure}",)
    return grade(dialogue, hits, weights, setting).model_copy(update={"failures": failures})


def _judged(found: Evaluation, setting: Setting) -> Judged:
    """A model's evaluation with its choices below its question; urgent worries get no question
    back."""
    if found.move == "urgent":
        found = found.model_copy(update={"ask_missing_info": "", "res_consultation": ""})
    options = tuple(o.strip() for o in found.options if o.strip())[: setting.rules.options]
    if len(options) < 2:
        options = ()
    else:
        listed = {
            key: f"{text}\n{numbered(options)}"
            for key in ("ask_missing_info", "res_consultation")
            if (text := str(getattr(found, key)))
        }
        found = found.model_copy(update=listed)
    return Judged(evaluation=found, evaluator="model", options=options)
