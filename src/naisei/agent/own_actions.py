"""Chooses among custom actions without a language model.

A remark is compared with the text of each action by vectors, nouns and verbs. A request is
executed only if it names the noun and the verb of one action. For a likely action the agent asks
back with the action's text. Anything else is not a request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from naisei.clarify.agent import View
from naisei.clarify.agents.deeds import KINDS, Deed
from naisei.clarify.agents.direct import Requests
from naisei.clarify.agents.knowledge import mined
from naisei.clarify.careful import confirmed
from naisei.clarify.schemas import ActionSet, Chance, Clarify, Decision, Decline, Execute, Language
from naisei.core import Embed, Flow
from naisei.intent.remarks import centred, sorts
from naisei.japanese.answers import Stance, at_a_loss, none_of_them, understand
from naisei.japanese.declining import asks_nothing, declines
from naisei.japanese.morph import is_japanese, normalise
from naisei.japanese.sentences import search_tokens, synonyms
from naisei.models.base import Embedder
from naisei.similarity import Floats, order

#: Weights of noun and verb overlap, added to the cosine of action and remark.
_NOUN, _VERB = 0.2, 0.2
#: Least score to ask about an action: for a request, and for a mere remark.
_LIKELY, _HINTED = 0.3, 0.45
#: Largest score gap to the best for actions in one question; most actions in it.
_CLOSE, _OFFERED = 0.2, 3
#: Least probability of a possible request, and of a certain one.
_ACT, _SURE = 0.25, 0.5
#: Quotations, and words that only ask for information.
_QUOTED = re.compile(r"「[^「」]+」(?=だ?って|だ?と)")
_INFORM = re.compile(r"教え|(?:知り|聞き|伺い|確かめ)たい|について|(?:どこ|いつ|誰|何)(?:です)?か")
#: Verbs that `Deed` does not cover.
_PUT = frozenset({"入れる", "置く"})
#: Conditions: the agent asks back.
_IF = re.compile(r"もし(?!よ|でき)|なら|場合|\bif\b", re.I)
_NEGATED = re.compile(r"ない|なく|ません|\b(?:not|no|never)\b|n't\b", re.I)
#: Answers to "Shall I?" that mean "not yet".
_WAIT = re.compile(r"待っ|まだ|(?:後|あと)で")
#: 「違う、木村さんじゃなくて木下さん」: never a yes, whatever follows.
_DENIED = re.compile(r"(?:いや|いえ|いいえ)?[、。\s]*(?:違|ちが)(?:う|います)")
#: Prohibitions: 「カルテは削除しないで」. 「忘れないで」 is a reminder instead.
_FORBIDDEN = re.compile(
    r"[^、。！!]*(?:(?<!忘れ)ないで(?:ください|下さい|ほしい|おいて|くれ)?|な(?:く|くっ)て(?:も)?"
    r"(?:いい|良い|大丈夫|結構|構わない)|(?<=[るくすつむぶぐぬう])な)(?:です|から|よ|ね|わ)*(?=[、。！!]|$)"
    r"|\b(?:don't|do not|never|no need to)\b[^,.]*",
    re.I,
)
#: An action that only gives the time: 「会計を締める前に声をかけて」.
_BEFORE = re.compile(r"[^、。]*?[るくすつむぶぐぬう](?:前|まえ)に")
#: A hypothetical action: 「消したら怒られる」, 「消していいか聞いておく」.
_SUPPOSED = re.compile(r"[っいんし][ただ]ら|[てで]も?いいか")
#: An obligation: a hint, even if the verb is named.
_DUE = re.compile(r"なきゃ|なくちゃ|なければ|ないと|なくては|べき|必要")
_QUESTION = re.compile(r"[？?]$|(?:です|ます|でした|ました|ません)か[ねな]?$|っけ$")
_WISH = re.compile(
    r"(?:たい|ほしい|欲しい)(?:[んの])?(?:です|だ)?(?:けれ?ど|が|よ|な|なあ|ね)*$"
    r"|^(?:i|we)(?:'d| would)? (?:like|want|need)\b(?! to know)",
    re.I,
)
#: 「キャンセルで」, 「経費のほう」: a noun without a verb.
_NOUN_ONLY = re.compile(r"(?:で|のほう|の方)(?:です)?$")
_WORDS: dict[Language, tuple[str, str, str]] = {
    "ja": ("「{}」ことですか", "、", "。"),
    "en": ('is it "{}"', ", or ", "?"),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a remark asks for. requested: whether it is a request. named: id of the one action whose
    noun and verb it contains, or 0. likely: actions to ask about, best first."""

    requested: bool = False
    named: int = 0
    likely: tuple[int, ...] = ()

    @property
    def about_an_action(self) -> bool:
        return bool(self.named or self.likely)


class OwnActions:
    """Decides without a language model. A wrapping `CarefulAgent` confirms."""

    name = "own-actions"

    def __init__(self, actions: ActionSet, embedder: Embedder) -> None:
        self._actions = actions
        texts = [action.text for action in actions]
        self._listed = "\n".join(texts)
        self._vectors = centred(embedder.embed(texts))
        self._requests = Requests(mined(actions))
        self._nouns, self._verbs = zip(*map(_parts, texts), strict=True)

    def decide(self, view: View) -> Flow[Decision]:
        said, offered, confirming, denied = view.scene.utterance, [], 0, False
        if view.asked:
            said, question = view.asked[-1].answer, view.asked[-1].question
            offered = [a.id for a in self._actions if _quoted(a.text, question)]
            confirming = confirmed(question, self._actions, view.scene.language)
            if confirming and _WAIT.search(said):
                return Decline(reason="not confirmed")
            denied = _DENIED.match(said) is not None
            if not confirming and (chosen := _chosen(said, question, offered)) is not None:
                return Execute(action=chosen) if chosen else Decline(reason="none fits")
            said = understand(said, question).content or said
        read = yield from self.read(said, offered)
        if confirming and denied and {read.named, *read.likely} <= {0, confirming}:
            return Decline(reason="not confirmed")
        if read.named or (confirming and confirming in (read.likely or (confirming,))):
            return Execute(action=read.named or confirming)
        question = self._question(read.likely, view.scene.language)
        if read.likely and view.may_ask and question not in {turn.question for turn in view.asked}:
            chances = tuple(Chance(action=a, p=1 / len(read.likely)) for a in read.likely)
            return Clarify(question=question, guess=read.likely[0], chances=chances)
        return Decline(reason="none fits" if read.requested else "no request")

    def read(self, said: str, offered: Sequence[int] = ()) -> Flow[Reading]:
        """Interpret a remark. offered: actions named in the question that it answers."""
        plain = normalise(said)
        text = _BEFORE.sub("", _FORBIDDEN.sub("", _QUOTED.sub("", plain))).strip("、。！! ")
        if _FORBIDDEN.search(plain) and not (text and self._asks(text)):
            return Reading()
        vector = (yield from Embed((text or said,)))[0]
        nouns, verbs = self._shared(text)
        scores = self._vectors @ centred(vector[None])[0] + _NOUN * nouns + _VERB * verbs
        ids = np.array(self._actions.ids)
        among = np.isin(ids, offered) & ((nouns > 0) | (verbs > 0))
        if among.any() and not (_QUESTION.search(text) or _NEGATED.search(text)):
            best = [int(a) for a in ids[among & (scores >= scores[among].max() - _CLOSE)]]
            return Reading(True, best[0], ()) if len(best) == 1 else Reading(True, 0, (*best,))
        top = [int(i) for i in order(scores)]
        if not self._asks(text):
            # The regression supports Japanese only.
            share = sorts(text, vector)["act"] if is_japanese(text) else 0.0
            hinted = scores[top[0]] >= _HINTED and share >= _ACT
            named = _NOUN_ONLY.search(text) and scores[top[0]] >= _LIKELY
            # An action named without a request is done already, or only mentioned.
            talked_of = verbs[top[0]] == 1 and not named and not _DUE.search(text)
            talked_of = talked_of or _SUPPOSED.search(text) is not None
            idle = talked_of or _QUESTION.search(text) or asks_nothing(text)
            if (hinted or named) and not idle:
                return Reading(likely=self._close(top, scores, _LIKELY))
            return Reading(requested=share >= _SURE)
        if one := self._named(text, nouns, verbs):
            return Reading(True, one)
        if _INFORM.search(text):
            return Reading()
        likely = self._close(top, scores, _LIKELY) or tuple(int(a) for a in ids[verbs == 1])
        if _WISH.search(text) and not likely:
            return Reading()
        return Reading(True, 0, likely[:_OFFERED])

    def _named(self, text: str, nouns: Floats, verbs: Floats) -> int:
        """The one action whose verb and nouns a text contains, else 0. Some of the nouns suffice if
        there are no others: 「ホテルの予約を取り消して」 cancels no meeting room."""
        full, said = nouns * verbs, Deed.of(text).words
        best = int(full.argmax())
        if full[best] == 0 or (full == full[best]).sum() > 1 or _IF.search(text):
            return 0
        whole = nouns[best] == 1 or said <= self._nouns[best] | self._verbs[best]
        return self._actions.ids[best] if whole else 0

    def _close(self, top: Sequence[int], scores: Floats, least: float) -> tuple[int, ...]:
        """The best actions with at least this score."""
        bound = max(least, float(scores[top[0]]) - _CLOSE)
        return tuple(self._actions.ids[i] for i in top[:_OFFERED] if scores[i] >= bound)

    def _shared(self, text: str) -> tuple[Floats, Floats]:
        """For each action, the share of its nouns in the text, and whether the text asks for its
        verb (0.5 if the text uses its noun as a verb: 「メールして」)."""
        words, deeds = Deed.of(text).words.union(search_tokens(text)), _deeds(text)
        if not is_japanese(text) and (wanted := self._requests.read(text)):
            deeds = wanted.kinds  # without "please" and the like
        nouns = [len(words & own) / max(len(own), 1) for own in self._nouns]
        verbs = np.array([float(bool(deeds & own)) for own in self._verbs])
        if not verbs.any():
            verbs = np.array([0.5 * bool(deeds & own) for own in self._nouns])
        return np.array(nouns), verbs

    def _asks(self, text: str) -> bool:
        """Whether a text requests or wishes an action."""
        if _QUESTION.search(text) and not self._requests.asks(text):
            return False
        last = re.split(r"[、。]", text)[-1]
        if declines(text, "", self._listed) or declines(last, "", self._listed):
            return False
        reads = self._requests.asks if is_japanese(text) else self._requests.read
        return bool(reads(text)) or _WISH.search(text) is not None

    def _question(self, likely: Sequence[int], language: Language) -> str:
        one, between, end = _WORDS[language]
        asked = between.join(one.format(self._actions.text(each)) for each in likely) + end
        return asked[:1].upper() + asked[1:]


def is_question(said: str) -> bool:
    """Whether a remark is a question: 「何日前までですか」."""
    return _QUESTION.search(normalise(said).rstrip("。！!")) is not None


def _chosen(said: str, question: str, offered: Sequence[int]) -> int | None:
    """The offered action that an answer chooses, 0 for none of them, `None` if its words must be
    analysed."""
    answer = understand(said, question)
    if is_question(said):
        return None
    if none_of_them(said) or at_a_loss(said) or answer.stance in (Stance.NEITHER, Stance.UNSURE):
        return 0
    places = {Stance.FIRST: 0, Stance.SECOND: 1}
    if len(offered) == 1:
        places = {Stance.YES: 0}
    at = places.get(answer.stance, len(offered))
    if at < len(offered):
        return offered[at]
    return 0 if answer.stance is Stance.NO and not answer.content else None


def _quoted(text: str, question: str) -> bool:
    return f"「{text}」" in question or f'"{text}"' in question


def _parts(action: str) -> tuple[frozenset[str], frozenset[str]]:
    """The nouns of an action, and its verb with synonyms."""
    verbs = _deeds(action)
    if is_japanese(action) and "を" in action:  # 「備品を修理に出す」: also 修理
        verbs |= Deed.of(action.rpartition("を")[2]).words
    alike = synonyms(search_tokens(action)).items()
    others = {form[0] for known, forms in alike if known[0] in verbs for form in forms}
    return Deed.of(action).words - verbs, verbs | others


def _deeds(text: str) -> frozenset[str]:
    """The requested verbs of a text: 「予約を取り消して」 → 取り消す, not 消す."""
    words = search_tokens(text)
    deeds = Deed.of(text).kinds - KINDS.keys() or _PUT.intersection(words)
    return frozenset(
        max((word for word in words if word.endswith(deed)), key=len, default=deed)
        for deed in deeds
    )
