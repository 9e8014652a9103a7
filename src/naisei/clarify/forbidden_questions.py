"""Questions that the task forbids: presence of things, and the wanted action outright.

The paper (§3.2, Figure 5) forbids both. What counts here:

* presence: whether a thing is there, where it is, or what there is in a place.
* outright: which action or which thing is wanted (「何を持ってくればいいですか」), or whether one
  of the candidates is, its object named together with fetching, needing or putting away.

Questions about states (「中身は空ですか」), feelings, purposes and kinds are fair, and so is a
bare way of helping with no object named (「片付けてほしいということですか」).
"""

from __future__ import annotations

import re
from functools import lru_cache

from naisei.clarify.question_patterns import asks_outright, asks_presence, objects
from naisei.clarify.schemas import ActionSet, Offence
from naisei.clarify.things import names_of
from naisei.japanese.morph import is_japanese
from naisei.japanese.questions import parse, words

_EN_VERB = re.compile(
    r"^(?:bring|fetch|put|tidy|store|throw|heat|get|clear|take)\b(?: away| up)?(?: me)?"
    r"(?: the| a| an| some)? "
)


def broken_rule(question: str, actions: ActionSet) -> Offence | None:
    """The rule that a question breaks, `presence` or `outright`; `None` for a fair one.

    >>> from naisei.clarify.schemas import Action, ActionSet
    >>> some = ActionSet(name="s", actions=(Action(id=1, text="コップを持ってくる"),))
    >>> broken_rule("コップはありますか？", some), broken_rule("のどが渇いていますか？", some)
    ('presence', None)
    """
    parsed = parse(question)
    if parsed.japanese:
        names = _japanese_names(actions)
        if asks_outright(parsed.text, names):
            return "outright"
        # 「AとBのどちらですか」 asks for no place.
        asked = parsed.sides or (parsed.text,)
        return "presence" if any(asks_presence(part, names) for part in asked) else None
    if _asks_outright(parsed.text, actions):
        return "outright"
    return "presence" if _asks_presence(parsed.text) else None


@lru_cache(maxsize=64)
def _japanese_names(actions: ActionSet) -> tuple[str, ...]:
    """Names and everyday short forms, longest first."""
    found = {o for action in actions for o in objects(action.text)}
    found |= {short for name in found for short in names_of(name, "ja")}
    return tuple(sorted(found, key=lambda name: (-len(name), name)))


@lru_cache(maxsize=64)
def _english_names(actions: ActionSet) -> tuple[str, ...]:
    """Names for an English question: from English action texts, or for the 40 Japanese ones."""
    found: list[str] = []
    for action in actions:
        if is_japanese(action.text):
            found += [n for o in objects(action.text) for n in names_of(o, "en")]
        else:
            rest = _EN_VERB.sub("", action.text.lower())
            found.append(re.split(r"\b(?:away|in|on|into|to|back)\b", rest)[0].strip())
    return tuple(dict.fromkeys(found))


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


def _asks_outright(text: str, actions: ActionSet) -> bool:
    """Whether a normalised English question asks for the wanted action or thing."""
    if _OUTRIGHT.search(text.lower()):
        return True
    found = set(words(text))
    if "use" in found or not found & _DEED:
        return False
    return any(
        parts and parts <= found for n in _english_names(actions) if (parts := set(words(n)))
    )


def _asks_presence(text: str) -> bool:
    """Whether a normalised English question asks if or where a thing is."""
    said = text.lower()
    if not _PRESENCE.search(said) or _GOING.search(said):
        return False
    return _ABSTRACT.search(said) is None
