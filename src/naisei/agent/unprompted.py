"""The persona's replies without a language model: its facts, its memories, its own replies to
greetings or thanks, or a question back. Nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from naisei.agent.mind import Mind
from naisei.agent.understanding import ParsedRemark, asks_back, foreign
from naisei.agent.wording import phrase
from naisei.japanese.morph import Token, is_japanese, normalise, tokens
from naisei.memory.stream import Entry

#: A line is not repeated within this many persona lines.
_FRESH = 5
#: The person refers to something they said on an earlier day.
_BEFORE = re.compile(
    r"(?:(?<![名午人])前|先週|先日|この間|こないだ|昨日|以前).{0,8}(?:話し|言っ|言い|お尋ね|聞い)|"
    r"\b(?:I|we) (?:told|talked|said)\b"
)
#: The person wants something remembered.
_TO_REMEMBER = re.compile(r"(?:覚え|おぼえ)(?:てお|と)[いきくけ]|忘れないで")
#: A question, perhaps followed by laughter.
_ASKING = re.compile(r"[?？][\s（(]*(?:笑|w+)?[\s）)。]*$")
#: Nouns that name no topic: by part of speech, and by form.
_NO_MATTER = ("数詞", "助数詞可能", "副詞可能")
_FORMAL = re.compile(
    r"こと|もの|ところ|ほう|とき|よう|ため|わけ|はず|[話件日時人何誰字変笑]|結果|[wｗ]+"
)
#: Replies to these add a question about what was said.
_GO_ON = ("glad", "sad")


def reply_without_a_model(mind: Mind, meant: ParsedRemark, remembered: Sequence[Entry]) -> str:
    """Choose a reply by rule. remembered: earlier memories, best first."""
    persona, said = mind.persona, mind.last_line
    if cited := _cited(said, remembered, mind):
        return cited
    if _TO_REMEMBER.search(said):
        return phrase("noted", persona.language)
    if meant.fact:
        return meant.fact
    own = persona.replies.get(meant.sort, ())  # type: ignore[call-overload]
    if foreign(mind):
        return phrase("japanese only", persona.language)
    if meant.sort in ("self", "question", "act") or (not own and _ASKING.search(said)):
        name = "cannot" if meant.sort == "act" else "not known"
        return phrase(name, persona.language, said)
    recent = mind.told[-_FRESH:]
    reply = next((line for line in own if line not in recent), "")
    matter = _topic(said)
    if reply and not (matter and meant.sort in _GO_ON):
        return str(reply)
    if matter and (reply or len(mind.told) % 2):
        return reply + phrase("more", persona.language, matter)
    return next((line for line in persona.openers if line not in recent), persona.openers[0])


def _cited(said: str, remembered: Sequence[Entry], mind: Mind) -> str:
    """Quote what the person said on an earlier day, if they ask for it, or if the remark is about
    the same thing and it is not yet quoted; "" otherwise."""
    language, asks = mind.persona.language, asks_back(said) or told_before(said)
    words = nouns(said)
    shared = [
        sum(word in entry.text if asks else word in nouns(entry.text) for word in words)
        for entry in remembered
    ]
    if asks and not remembered:
        return phrase("forgotten", language)
    if not remembered or not (asks or max(shared)):
        return ""
    best = remembered[shared.index(max(shared))]
    told = [best] if words else remembered  # 「何を覚えている？」 asks for everything
    cited = phrase("remembered", language, *(entry.text.rstrip("。.") for entry in told))
    return "" if not asks and cited in mind.told else cited


def told_before(said: str) -> bool:
    """Whether the person refers to what they said on an earlier day."""
    return _BEFORE.search(said) is not None


def nouns(text: str) -> frozenset[str]:
    """The topic nouns of a text, without times and numbers."""
    return frozenset(token.lemma for token in tokens(normalise(text)) if _names(token))


def _names(token: Token) -> bool:
    formal = token.detail in _NO_MATTER or _FORMAL.fullmatch(token.surface)
    return token.pos == "名詞" and not formal


def _topic(said: str) -> str:
    """The topic of a remark: its last noun with its modifiers."""
    if not is_japanese(said):
        words = [word.strip(".,!?") for word in said.split()]
        return max(words, key=len, default="")
    found, before = "", None
    for token in tokens(normalise(said)):
        if _names(token) or (token.pos == "接尾辞" and before and before.end == token.start):
            joined = before is not None and before.end == token.start
            found = found + token.surface if joined else token.surface
            before = token
        else:
            before = None
    return found
