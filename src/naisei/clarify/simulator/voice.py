"""A user's voice: register, manner, and the wording of answers."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, TypeVar

from naisei.clarify.describe import REFUSAL
from naisei.clarify.schemas import Instance, Manner
from naisei.clarify.things import all_names, called, mentioned
from naisei.japanese.morph import Token, normalise, tokens

Register = Literal["plain", "polite", "child", "elder", "english"]
Stance = Literal["yes", "no", "side", "both", "neither", "open", "unknown"]
T = TypeVar("T")

_REGISTERS: dict[str, Register] = {
    "child": "child",
    "kid": "child",
    "elder": "elder",
    "grandparent": "elder",
    "visitor": "polite",
    "guest": "polite",
    "office_worker": "polite",
}


def register_of(instance: Instance, manner: Manner = "cooperative") -> Register:
    """The user's register: a child's, an older person's, or that of their own words."""
    if instance.scene.language == "en":
        return "english"
    if manner in ("child", "elder"):
        return manner
    found = _REGISTERS.get(instance.speaker, "plain")
    if instance.facts is None or found in ("child", "elder"):
        return found
    lines = [s for n in ("first", "why", "what_for", "state") if (s := getattr(instance.facts, n))]
    polite = sum(_POLITE_END.search(said) is not None for said in lines)
    return "polite" if 2 * polite >= max(1, len(lines)) else "plain"


_POLITE_END = re.compile(r"(?:です|ます|ました|ません|でした)(?:[ねよ]|から|けど|が)*[。！]?$")


def pick(options: Sequence[T], key: str) -> T:
    """One of the options, always the same for the same key."""
    digest = hashlib.blake2b(key.encode("utf-8"), digest_size=8).digest()
    return options[int.from_bytes(digest, "big") % len(options)]


@cache
def _ways() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    read = tomllib.loads((files(__package__) / "voice.toml").read_text(encoding="utf-8"))
    return {register: {k: tuple(v) for k, v in way.items()} for register, way in read.items()}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer before it is worded.

    said: a fact: a sentence, or a clause that the voice completes (`clause`). denied: the clause is
    false. sides, at: the alternatives and the index of the true one. by_name: the answer names the
    side instead of its position. first: the person's first words, for vague users. restate: state
    the fact in full, since a bare yes or no would be ambiguous.
    """

    stance: Stance
    said: str = ""
    clause: bool = False
    denied: bool = False
    sides: tuple[str, ...] = ()
    at: int = 0
    first: str = ""
    restate: bool = False
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class Voice:
    """Puts replies into words. key: selects among wordings."""

    register: Register
    manner: Manner = "cooperative"

    def line(self, name: str, key: str) -> str:
        """One of the register's wordings for `name`."""
        return pick(_ways()[self.register][name], f"{name}:{key}")

    def phrase(self, stem: str, key: str) -> str:
        """A phrase with this person's sentence ending."""
        if self.register == "english":
            return stem[:1].upper() + stem[1:] + "."
        if _COPULA_END.search(stem) and tokens(stem)[-1].form != "た":
            stem = _COPULA_END.sub("な", stem)
        elif (last := tokens(stem)[-1:]) and _noun(last[0]):
            stem += "な"
        return stem + self.line("end", key)

    def say(self, opening: str, stem: str, key: str) -> str:
        """An opening (`yes`, `no`, `neither`, …) and a phrase."""
        lead = self.line(opening, key)
        return lead + self.phrase(stem, key) if stem else lead.rstrip("、, ")

    def speak(self, reply: Reply, key: str, *, turn: int = 0) -> str:
        """The answer in words. turn: how many questions this person has answered before."""
        said = self._phrase_reply(reply, key, turn)
        if self.manner in ("child", "elder") and self.register != "english":
            for thing in mentioned(said):
                for name in sorted(all_names(thing), key=len, reverse=True):
                    said = said.replace(name, called(thing, self.manner) or name)
        return said

    def _phrase_reply(self, reply: Reply, key: str, turn: int) -> str:
        if self.manner == "terse":
            return self._short(reply, key)
        if self.manner == "hurried":
            return self._joined(self.line("remark", key), self._short(reply, key))
        if self.manner == "vague":
            return self._vague(reply, key)
        if self.manner == "mistaken" and turn == 0 and (slip := _slipped(reply)):
            wrong = self._short(slip, key)
            return self._joined(wrong, self.line("slip", key)) + self._full(reply, key)
        return self._full(reply, key)

    def _full(self, reply: Reply, key: str) -> str:
        fact = self._content_phrase(reply, key)
        if reply.stance in ("yes", "no"):
            bare = not fact or (not reply.restate and pick(range(5), f"terse:{key}") == 0)
            if bare:
                return self.line(f"bare_{reply.stance}", key)
            # A full fact goes with the plainest yes or no.
            plain = _ways()[self.register][reply.stance][0]
            lead = plain if reply.restate else self.line(reply.stance, key)
            return self._joined(lead, fact)
        if reply.stance in ("side", "both"):
            return self._joined(self._chosen(reply, key), fact)
        if reply.stance == "unknown":
            return (
                self._joined(self.line("unsure", key), fact) if fact else self.line("unknown", key)
            )
        if not fact and reply.stance != "neither":
            return REFUSAL
        return self._joined(self.line(_opening(reply), key), fact)

    def _short(self, reply: Reply, key: str) -> str:
        """A single word, if that suffices."""
        if reply.stance in ("yes", "no") and not reply.restate:
            return self.line(f"bare_{reply.stance}", key)
        if reply.stance in ("side", "both"):
            return self._chosen(reply, key)
        if reply.stance in ("neither", "unknown"):
            return self.line(_opening(reply), key)
        return self._content_phrase(reply, key) or REFUSAL

    def _vague(self, reply: Reply, key: str) -> str:
        if reply.stance in ("yes", "no"):
            if reply.restate:
                return self._joined(self.line("shrug", key), self._content_phrase(reply, key))
            return self.line("rather" if reply.stance == "yes" else "rather_not", key)
        if reply.stance in ("side", "both", "neither", "unknown"):
            return self._joined(self.line("shrug", key), self._short(reply, key))
        fact = reply.first or self._content_phrase(reply, key)
        return self._joined(self.line("shrug", key), fact) if fact else REFUSAL

    def _content_phrase(self, reply: Reply, key: str) -> str:
        if not reply.said:
            return ""
        if reply.denied:
            return self.line("deny", key).format(attributive(reply.said))
        return self.phrase(reply.said, key) if reply.clause else reply.said

    def _chosen(self, reply: Reply, key: str) -> str:
        if reply.stance == "both":
            return self.line("both", key)
        if reply.by_name:
            return self.line("side", key).format(reply.sides[reply.at])
        name = nominal(reply.sides[reply.at], english=self.register == "english")
        if name and (len(reply.sides) > 2 or pick(range(3), f"side:{key}")):
            return self.line("side", key).format(name)
        if len(reply.sides) == 2 and reply.at == 1:
            return self.line("last", key)
        ways = _ways()[self.register]["at"]
        return ways[min(reply.at, len(ways) - 1)]

    def _joined(self, lead: str, rest: str) -> str:
        if self.register != "english":
            return lead + rest
        return f"{lead.rstrip()} {rest}" if lead else rest


def _opening(reply: Reply) -> str:
    return "none" if reply.stance == "neither" and len(reply.sides) > 2 else reply.stance


def _noun(token: Token) -> bool:
    """Whether a token needs a copula, unlike 「読みにくい」."""
    suffix = token.pos == "接尾辞" and token.detail in ("名詞的", "形状詞的")
    return suffix or token.pos in ("名詞", "形状詞")


def _slipped(reply: Reply) -> Reply | None:
    """A wrong first answer to be corrected, if a distinct one exists."""
    if reply.stance in ("yes", "no") and not reply.restate:
        return Reply("no" if reply.stance == "yes" else "yes")
    if reply.stance == "side":
        return replace(reply, at=(reply.at + 1) % len(reply.sides), said="")
    return None


def attributive(clause: str) -> str:
    """A clause in attributive form, as before わけ: 「静かだ」 → 「静かな」, not 「飲んだ」."""
    return (
        clause
        if tokens(clause)[-1:] and tokens(clause)[-1].form == "た"
        else _COPULA_END.sub("な", clause)
    )


_COPULA_END = re.compile(r"(?:だ|である)$")
_COPULA = re.compile(
    r"(?:な)?(?:の|ん)?(?:です|でしょう|でした|だ|だっ?た)?(?:か|かな|かね|かしら|かい|よね|ね|っけ)?$"
)
_FRAME = re.compile(r"(?:の)?(?:こと|お?話|おはなし|件|せい|ほう|方|ため|やつ|系|派|側|ご用|用事)$")


def nominal(side: str, *, english: bool) -> str:
    """An alternative that is a noun phrase, without its copula: 「鼻のほうですか」 → 「鼻」."""
    text = normalise(side).strip("。？！、 ?.")
    if english:
        text = re.sub(
            r"^(?:is it|are you after|do you (?:want|mean|need)|would you like|about|it's)\s+",
            "",
            text[:1].lower() + text[1:],
        )
        return text if len(text.split()) <= 4 and not re.match(r"(?:do|are|is|you)\b", text) else ""
    core = _FRAME.sub("", _COPULA.sub("", text))
    found = tokens(core)
    noun = bool(found) and found[-1].pos in ("名詞", "接尾辞", "代名詞")
    # 「かごがからっぽ」 is a clause.
    noun = noun and not any(t.pos == "助詞" and t.surface in ("が", "は", "を") for t in found)
    return core if noun and len(core) <= 14 else ""
