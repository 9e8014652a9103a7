"""The rules for English questions: simple ones."""

from __future__ import annotations

import re

from naisei.clarify.offence.names import english_names
from naisei.clarify.schemas import ActionSet
from naisei.japanese.questions import words

__all__ = ["outright", "presence"]

_PRESENCE = re.compile(
    r"\b(?:is|are|was|were) there\b|"
    r"\bwhere(?:'s| is| are| did| do| can)\b(?! you (?:go|head|plan|feel|hurt))|"
    r"\bwhere (?:the|my|your) [a-z ]+ (?:is|are)\b|"
    r"\b(?:do|did|can) you (?:still )?(?:have|own|keep|see) (?:a|an|any|some|the)\b|"
    r"\bis the [a-z ]+ (?:in|on|at|under|inside) the\b|\bwhat(?:'s| is| are) (?:in|on) the\b"
)
_GOING = re.compile(r"\bwhere (?:are|do|did|will|would) you\b(?!.*\b(?:put|leave|keep|store)\b)")
_ABSTRACT = re.compile(
    r"\b(?:anything|something|nothing|plans?|mess|reason|problem|time|trouble|appetite|preference|"
    r"on your mind|bothering|planning|headed|hurt|idea|pain|feeling|need|way)\b"
)
_OUTRIGHT = re.compile(
    r"\bwhat (?:would|do|can|could|should|may|shall|did) (?:you|i) "
    r"(?:(?:like|want|need|wish|expect) me\b|(?:like|want|need) (?:to be )?(?:brought|put|tidied)|"
    r"(?:like |want |need )?(?:to )?do for you)|"
    r"\bwhat (?:can|should|shall|could) i\b|"
    r"\bwhat (?:exactly )?do you (?:need|want)(?: now| then)?\?|"
    r"\bwhich (?:item|thing|object|action|one|of)\b|\bwhat (?:item|action|object)\b|"
    r"\bwhat exactly do you (?:need|want)"
)
_DEED_WORDS = (
    "bring fetch get hand take put tidy clean store stow return need want place throw "
    "discard toss heat warm move clear grab pass "
)
_DEED = frozenset(_DEED_WORDS.split())


def outright(text: str, actions: ActionSet) -> bool:
    """Whether a normalised question asks for the wanted action or thing."""
    if _OUTRIGHT.search(text.lower()):
        return True
    found = set(words(text))
    if "use" in found or not found & _DEED:
        return False
    return any(parts and parts <= found for n in english_names(actions) if (parts := set(words(n))))


def presence(text: str, actions: ActionSet) -> bool:
    """Whether a normalised question asks if or where a thing is."""
    said = text.lower()
    if not _PRESENCE.search(said) or _GOING.search(said):
        return False
    return _ABSTRACT.search(said) is None
