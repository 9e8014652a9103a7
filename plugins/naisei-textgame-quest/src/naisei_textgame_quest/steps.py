"""Parses the task in a game's first text into steps, and matches steps with commands.

TextWorld generates task texts from a grammar (`house_instruction.twg`): "make sure that the wooden
door in the bedroom is unlocked with the old key", "take a trip west". A step is a verb with its
clause; its objects come from the candidate commands whose things the clause names.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from naisei.textgame.texts import DIRECTIONS, opening_words

Verb = str

#: Verb of a command → pattern of its wordings; the earliest match counts.
_VERBS: dict[Verb, str] = {
    "go": r"(?:go|head|venture|travel|move|walk|take a (?:trip|walk))\b.*"
    r"\b(?:north|south|east|west)\b",
    "unlock": r"(?:unlock\b|is unlocked\b|insert\b.*\bto unlock\b)",
    "lock": r"(?:lock \w|is locked\b|insert\b.*\bto lock\b)",
    "open": r"(?:open \w|is (?:\w+ )?(?:open(?:ed)?|ajar)\b)",
    "close": r"(?:(?:close|shut) \w|is (?:closed|shut)\b)",
    "eat": r"(?:eat|consume|devour)\b",
    "insert": r"(?:insert|put|place|deposit|stow|drop|return)\b.*\b(?:into|inside)\b",
    "put": r"(?:put|place|sit|rest|set|lay|leave|deposit|return)\b.*\b(?:on|onto|upon|in|to|at)\b",
    "drop": r"(?:drop|ditch|throw|toss)\b",
    "take": r"(?:take|retrieve|recover|pick(?:[- ]up)?|lift|get|grab|find|fetch|collect|acquire|"
    r"gather|obtain|steal|search for|locate|seize|snatch)\b",
    "cook": r"(?:cook|fry|roast|grill)\b",
}
_PATTERNS = {verb: re.compile(rf"\b{pattern}", re.I) for verb, pattern in _VERBS.items()}
#: A missing thing and its state, which decides where to take it.
_MISSING = re.compile(r"\b(?:missing|lacks?|needs?) (?:an?|some|the) (?:(\w+ed) )?([\w' -]+)", re.I)
_MADE = {"grilled": "stove", "fried": "stove", "roasted": "oven", "cooked": "stove"}
#: Beginnings of conditions and of other clauses that are no steps.
_BEFORE = re.compile(r"\s*(?:if|once|after|having|with|when|that done|because|hey|who)\b", re.I)
#: Narration instead of instructions.
_NARRATION = re.compile(r"\s*you (?!can\b|could\b|may\b|should\b|must\b|need\b|have to\b)", re.I)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_CLAUSE = re.compile(r",\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|[.!?;]\s*$", re.I)
#: The thing of a step.
_THING = re.compile(
    r"\b(?:the|an?|some) (?:locked |closed )?([\w' -]+?)(?= (?:from|in|into|inside|within|on|onto|"
    r"upon|off|with|using|that|which|is|located|found)\b|$)"
)
_THEN = re.compile(r"^(?:(?:and|then|next|first|finally|okay|please)\b[\s,]*)+", re.I)


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction. words: the clause in lower case, with `it` replaced by the previous thing.
    thing: its object, if clear. direction: of `go`."""

    verb: Verb
    words: str
    thing: str = ""
    direction: str = ""


def read_steps(first_text: str) -> tuple[Step, ...]:
    """The steps in a game's first text, in order; empty without any."""
    found: list[Step] = []
    for sentence in _SENTENCE.split(opening_words(first_text)):
        if "textworld" in sentence.lower():
            continue  # the welcome
        found += _of_sentence(sentence)
        if not found and (m := _MISSING.search(sentence)):
            thing = m[2].lower()
            found.append(Step("take", f"take the {thing}", thing))
            if m[1]:
                at = _MADE.get(m[1].lower(), "")
                found.append(Step("put", f"put the {thing} on the {at}", thing))
    return tuple(found)


def _of_sentence(sentence: str) -> list[Step]:
    steps: list[Step] = []
    thing = ""
    for part in _CLAUSE.split(sentence):
        clause = _THEN.sub("", (part or "").strip().lower())
        if not clause or _BEFORE.match(clause) or _NARRATION.match(clause):
            continue
        verbs = [
            (m.start(), -m.end(), v) for v, word in _PATTERNS.items() if (m := word.search(clause))
        ]
        if not verbs:
            continue
        verb = min(verbs)[2]
        if thing:
            clause = re.sub(r"\bit\b", f"the {thing}", clause)
        direction = next((d for d in DIRECTIONS if re.search(rf"\b{d}\b", clause)), "")
        what = _THING.search(clause)
        steps.append(Step(verb, clause, what[1] if what else "", direction if verb == "go" else ""))
        if verb == "take" and what:
            thing = what[1]
    return steps


def named(words: str, name: str) -> bool:
    """Whether `words` contain the name of a thing."""
    return re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", words) is not None


_COMMAND = re.compile(
    r"(?P<verb>\w+) (?P<thing>.+?)(?: (?:from|with|on|into|in|to) (?P<other>.+))?"
)


def doing(step: Step, can: Collection[str]) -> str | None:
    """The candidate command for a step: same verb, longest names that the step contains. `None` if
    there is none."""
    if step.verb == "go":
        return f"go {step.direction}" if f"go {step.direction}" in can else None
    verbs = {"insert", "put"} if step.verb in ("insert", "put") else {step.verb}
    best: tuple[int, int, str] | None = None
    for command in can:
        m = _COMMAND.fullmatch(command)
        if m is None or m["verb"] not in verbs or not named(step.words, m["thing"]):
            continue
        if step.verb == "take" and step.thing and len(m["thing"]) < len(step.thing):
            continue  # another thing whose name is part of this one's
        other = m["other"] or ""
        both = bool(other) and named(step.words, other)
        if step.verb in ("insert", "put") and not both:
            continue
        rank = (len(m["thing"]) + (len(other) if both else 0), -len(command), command)
        best = max(best, rank) if best else rank
    return best[2] if best else None
