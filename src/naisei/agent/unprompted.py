"""What the persona says where no model speaks: from its facts, from what it remembers, or a
question back. Nothing is made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from naisei.agent.mind import PERSON, Mind
from naisei.agent.persona import Persona
from naisei.agent.wording import phrase
from naisei.core import Embed, Flow
from naisei.japanese.morph import is_japanese, normalise, tokens
from naisei.memory.stream import Entry
from naisei.similarity import cosines, unit

#: From this nearness a fact answers a remark; chosen on the dev scenarios.
FACT = 0.86
#: And what was said before bears on it.
MEMORY = 0.86
#: A line is not said again within so many lines of the persona.
_FRESH = 5


@dataclass(frozen=True, slots=True)
class Unprompted:
    """A line, and the fact or opener in it, "" where there is none."""

    text: str
    told: str = ""


def reply_without_a_model(
    persona: Persona, mind: Mind, remembered: Sequence[Entry], *, only_facts: bool = False
) -> Flow[Unprompted | None]:
    """The fact that is nearest to the remark, else what was said of it before, else a question
    back. only_facts: `None` where there is neither."""
    said = mind.said
    told = [entry.text for entry in remembered if _bare(entry.text) != _bare(said)]
    texts = (*persona.facts, *told)
    vectors = yield from Embed((said, *texts))
    near = cosines(unit(vectors[1:]), unit(vectors[:1])[0]) if texts else ()
    recent = mind.told[-_FRESH:]
    facts = [
        (near[n], fact)
        for n, fact in enumerate(persona.facts)
        if near[n] >= FACT and fact not in recent
    ]
    if facts:
        fact = max(facts)[1]
        return Unprompted(fact, fact)
    for n, text in enumerate(told, len(persona.facts)):
        if near[n] >= MEMORY:
            return Unprompted(phrase("remembered", persona.language, text.rstrip("。.")))
    if only_facts:
        return None
    matter = _matter(said)
    asked = sum(line.speaker == PERSON for line in mind.talk.history)
    if matter and asked % 2:
        return Unprompted(phrase("more", persona.language, matter))
    unused = [line for line in persona.openers if line not in recent] or [*persona.openers]
    return Unprompted(unused[0], unused[0])


def _matter(said: str) -> str:
    """What a remark is about: its last noun with what stands before it."""
    if not is_japanese(said):
        words = [word.strip(".,!?") for word in said.split()]
        return max(words, key=len, default="")
    found, before = "", None
    for token in tokens(normalise(said)):
        if token.pos == "名詞" and token.detail != "数詞":
            joined = before is not None and before.end == token.start
            found = found + token.surface if joined else token.surface
            before = token
        else:
            before = None
    return found


def _bare(text: str) -> str:
    return "".join(c for c in normalise(text).lower() if c.isalnum())
