"""Classifies a remark as a request to act, a question, a correction, or talk.

A regression decides (`naisei.intent.remarks`). With a model in the role `understanding`, the model
decides and rewrites the remark in full; the regression still detects emergencies and finds the
nearest of the persona's facts.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from naisei import lang
from naisei.agent.mind import PERSON, Kind, Mind
from naisei.agent.own_actions import OwnActions
from naisei.agent.persona import Persona
from naisei.core import Chat, Embed, Flow, InstrumentFailure, Message, system, user
from naisei.intent.remarks import EMERGENCIES, centred, number_to_call, sorts
from naisei.japanese.answers import Stance, none_of_them, understand
from naisei.japanese.morph import is_japanese
from naisei.schema import model_field

#: Number of lines shown to a model, the remark last.
_SHOWN = 8
#: Least similarity at which a fact answers a remark; weight of its being about the persona.
_NEAR, _SELF = 0.55, 0.4
#: Least probability that a remark is about the persona if no fact answers it; that it is a
#: request; and the same for a persona that can serve none.
_ABOUT, _ACT, _VAIN = 0.5, 0.3, 0.6
#: Least probability for a specific reply: joy at bad news is worse than no such reply.
_REPLIED = {"glad": 0.4, "sad": 0.4, "greeting": 0.35, "thanks": 0.35, "farewell": 0.35}
#: Kinds that no fact answers.
_SAID_SO = ("greeting", "thanks", "farewell", "decline", *EMERGENCIES)
#: A report of something read, up to its end; and long quotations.
_READ = re.compile(
    r"^.*(?:って|と|とか)(?:書|かいて|載って|のって|あった|ある)[^、。]*[、。]?"
    r"|[「『][^「」『』]{10,}[」』](?:だ?って|だ?と)?"
)
#: Questions whether the agent remembers something.
_ASKS_BACK = re.compile(
    r"(?:覚え|おぼえ)(?:て(?:い?[るた]|い?ま|い?ない|い?らっしゃ|くれて)|と[るう])|もう忘れ"
    r"|(?:言[っい]|話し|伝え|申し上げ)[^、。]{0,6}っけ|\bremember\b|\bdid I (?:tell|say)\b"
)
#: A line of the prompt that describes a kind.
_ROW = re.compile(r"- (\w+):")
#: A correction without a word of denial.
_RATHER = re.compile(
    r"(?:じゃ|では)な[くい]|のほう(?:だ|が|を|で|$)|でよかった|間違え|まちがえ|だってば"
)


class Understood(BaseModel):
    """kind: what the remark is. words: it in full, with what it points back to."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    thought: str = model_field("判断の理由を一文で", "The reason, in one sentence", "")
    kind: Kind = model_field("一覧の中の一つ", "One of the list")
    words: str = model_field(
        "発言を、指示語を補って言い直したもの", "The remark in full, without words that point back"
    )


class ParsedRemark(Understood):
    """sort: what the regression takes it for, of the twelve. fact: the persona's that answers it,
    "" for none. shares: how much it is of each sort, 0 to 1, each by itself. call: the public
    number to be told at once."""

    sort: str = ""
    fact: str = ""
    shares: dict[str, float] = {}
    call: str = ""


class Ear:
    """The regression, and a persona's facts with the questions that they answer."""

    def __init__(self, persona: Persona, vectors: npt.NDArray[np.float32]) -> None:
        """vectors: of `samples(persona)`, in order; shape (samples, dim)."""
        self._language = persona.language
        self._act = _ACT if persona.acts or persona.index else _VAIN
        names = "|".join(map(re.escape, persona.profile.names))
        self._called = re.compile(rf"(?:{names})(?:ちゃん|さん|くん|君)?(?:って|[はのにがも])?")
        self._facts = [fact.say for fact in persona.facts for _ in (fact.say, *fact.asked)]
        self._samples = centred(vectors)
        read = [sorts(*sample) for sample in zip(samples(persona), vectors, strict=True)]
        requests = [max(of, key=lambda sort: of[sort]) == "act" for of in read]
        self._requests = np.array(requests, dtype=bool) & ~np.isin(samples(persona), self._facts)

    def classify(self, said: str) -> Flow[ParsedRemark]:
        """Classify a remark, ignoring the persona's names."""
        bare = self._called.sub("", said).strip("、,。 ") or said
        return self.read(said, (yield from Embed((bare,)))[0])

    def read(self, said: str, vector: npt.NDArray[np.float32]) -> ParsedRemark:
        """said: a remark, with its vector; shape (dim,)."""
        shares = sorts(said, vector)
        fact = self._fact(vector, shares["self"])
        served = {
            name: share
            for name, share in shares.items()
            if (name != "self" or fact or share >= _ABOUT) and (name != "act" or share >= self._act)
        }
        call = number_to_call(said, served, self._language)
        if not call:  # no emergency after all
            served = {name: n for name, n in served.items() if name not in EMERGENCIES}
        sort = max(served, key=lambda name: served[name])
        if served[sort] < _REPLIED.get(sort, 0):
            sort = "chat"
        if sort in _SAID_SO:
            fact = ""
        if sort == "act":  # only facts that answer requests
            fact = self._fact(vector, shares["self"], requests=True)
        return ParsedRemark(kind="chat", words=said, sort=sort, fact=fact, shares=shares, call=call)

    def _fact(
        self, vector: npt.NDArray[np.float32], about: float, *, requests: bool = False
    ) -> str:
        if not self._facts:
            return ""
        near = self._samples @ centred(vector[None])[0]
        if requests:
            near = np.where(self._requests, near, -1.0)
        best = int(near.argmax())
        return self._facts[best] if near[best] + _SELF * about >= _NEAR else ""


def samples(persona: Persona) -> tuple[str, ...]:
    """The texts whose vectors an `Ear` needs."""
    return tuple(text for fact in persona.facts for text in (fact.say, *fact.asked))


def understood(
    mind: Mind,
    said: str,
    kinds: tuple[Kind, ...],
    ear: Ear,
    actions: OwnActions | None,
    *,
    model: bool,
) -> Flow[ParsedRemark]:
    """Classify the person's last remark. kinds: possible results besides `chat`. actions: custom
    actions, if the persona has any and no model chooses."""
    own = _READ.sub("", said)
    meant = yield from ear.classify(own or said)
    if own != said:  # quoted text is not the person's own request
        wanted = meant.sort == "act"
        kinds = tuple(kind for kind in kinds if kind != "act" or wanted)
        meant = meant if wanted else meant.model_copy(update={"words": said})
    if meant.call or kinds == ("chat",):
        return meant
    if said.strip() in {action.text for action in mind.actions or ()}:
        return meant.model_copy(update={"kind": "act"})
    if model and "act" not in kinds and "correction" not in kinds:
        # The assistant itself separates talk from questions.
        talk = bool(meant.fact) or asks_back(said)
        return meant.model_copy(update={"kind": "chat" if talk else "question"})
    if model:
        try:
            found = yield from Chat("understanding", _messages(mind, kinds), Understood)
        except InstrumentFailure:
            pass  # the regression decides
        else:
            spare: Kind = "act" if found.kind == "correction" and "act" in kinds else "chat"
            kind = found.kind if found.kind in kinds else spare
            return meant.model_copy(update={**found.model_dump(), "kind": kind})
    if "correction" in kinds and _corrects(said, mind):
        return meant.model_copy(update={"kind": "correction"})
    if foreign(mind):  # only game actions may be in this language
        if not mind.persona.plays:
            return meant  # the reply asks for the persona's language
        kinds = tuple(kind for kind in kinds if kind != "question")
    if actions is not None and (yield from actions.read(own)).about_an_action:
        return meant.model_copy(update={"kind": "act"})
    return meant.model_copy(
        update={"kind": "chat" if asks_back(said) else _reply_kind(meant, kinds)}
    )


def foreign(mind: Mind) -> bool:
    """Whether the remark is in another language, which only a model reads."""
    said = mind.last_line.strip()
    return mind.persona.language == "ja" and " " in said and not is_japanese(said)


def asks_back(said: str) -> bool:
    """Whether the person asks what the agent remembers."""
    return _ASKS_BACK.search(said) is not None


def _reply_kind(meant: ParsedRemark, kinds: tuple[Kind, ...]) -> Kind:
    """The kind of reply: talk if a fact answers the remark; a question for a wish or worry if
    documents can be searched but no action fits."""
    if meant.fact:
        return "chat"
    if meant.sort == "act" and "act" in kinds:
        return "act"
    looked_up = meant.sort in ("act", "question", "self", "sad")
    return "question" if looked_up and "question" in kinds else "chat"


def _corrects(said: str, mind: Mind) -> bool:
    """Whether a remark says that the action was wrong: it denies it directly after the action, or
    says later that something else was meant."""
    stance = understand(said).stance
    denies = stance in (Stance.NO, Stance.NEITHER) or none_of_them(said) or _RATHER.search(said)
    return bool(denies) and (mind.just_did or bool(_RATHER.search(said)))


def _messages(mind: Mind, kinds: tuple[Kind, ...]) -> tuple[Message, ...]:
    language = mind.persona.language
    names = mind.talk.names
    lines = [f"{names.get(s.speaker, s.speaker)}: {s.text}" for s in mind.talk.history[-_SHOWN:]]
    told = lang.render(
        "naisei.agent",
        "understanding.v2",
        language,
        who=mind.persona.profile.name,
        person=names[PERSON],
    )
    # Constant within a conversation: the lines show whether anything was done yet.
    known = {*kinds, *(("correction",) if "act" in kinds else ())}
    rows = [row for row in told.splitlines() if (m := _ROW.match(row)) is None or m[1] in known]
    return (system("\n".join(rows)), user("\n".join(lines)))
