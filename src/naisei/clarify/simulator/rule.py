"""A user without a language model: answers from the hidden need, by rule.

It keeps to what the paper asks of its simulator (Figure 6): it answers what is asked, in a
sentence or two, tells how things are instead of what to do, never misleads, keeps its word,
and refuses useless questions with 【回答できません】.

It knows AmbigAct-40 by a table of its own (`knowledge/`), independent of every agent; any other
action set is answered in a generic way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.clarify.describe import REFUSAL
from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import ActionSet, Instance, Turn
from naisei.clarify.simulator.judge import facet_asked, judge, leads_nowhere, matched
from naisei.clarify.simulator.knowledge import asked_container, asks_empty, is_known, level, needs
from naisei.clarify.simulator.voice import Voice, pick, register_of
from naisei.core import AskUser, Handler, Where
from naisei.japanese.morph import tokens
from naisei.japanese.questions import Question, parse, words

__all__ = ["Generic", "RuleSimulator"]


#: Words that say nothing about which action is wanted.
_LIGHT_WORDS = (
    "為る 居る 有る 無い 物 事 こと もの 何 此れ 其れ 今 所 方 良い 欲しい 行く 来る 思う "
    "言う 成る 近く 周辺 検索 探す 見る 気 気分 感じ 起動 貴方 あなた ため 為 予定 場所 "
    "スポット どこ 何処 辺り 近い どんな どう 御座る 関係 do go be want like something "
    "search find "
)
_LIGHT = frozenset(_LIGHT_WORDS.split())


class Generic:
    """A user of an action set that no table describes.

    Open questions are answered by an utterance of someone else with the same hidden intent,
    polar ones by whether their words are in the wanted action's text or such utterances;
    where neither tells, the question is refused.
    """

    def __init__(
        self,
        instance: Instance,
        actions: ActionSet,
        voice: Voice,
        paraphrases: Mapping[int, Sequence[str]],
    ) -> None:
        self._voice = voice
        self._own = instance.scene.utterance
        self._utterances = tuple(
            u for u in paraphrases.get(instance.gold, ()) if u.strip() != self._own.strip()
        )
        self._gold = _content(actions.text(instance.gold))
        self._others = frozenset(
            w
            for a in actions
            if a.id not in (instance.gold, *instance.plausible)
            for w in _content(a.text)
        )

    def answer(self, asked: Question, history: Sequence[Turn], key: str) -> str:
        if asked.form == "none":
            return REFUSAL
        about = ""
        if asked.form == "wh" or asked.indefinite:
            # It has to ask after the person, not after their shoe size.
            about = facet_asked(asked.text, "ja" if asked.japanese else "en")
            if asked.form == "wh":
                return (about and self._utterance(history, key)) or REFUSAL
        if asked.form == "alternative":
            return self._alternative(asked, history, key)
        holds = self._holds(asked.content)
        if holds is None:
            return (about and self._utterance(history, key)) or REFUSAL
        hint = self._utterance(history, key)
        lead = self._voice.say("bare_yes" if holds else "bare_no", "", key)
        return f"{lead}{hint}"

    def _alternative(self, asked: Question, history: Sequence[Turn], key: str) -> str:
        held = [self._holds(_content(side)) for side in asked.sides]
        hint = self._utterance(history, key)
        if held.count(True) == 1 and len(held) == 2:
            return self._voice.say(("first", "second")[held.index(True)], "", key) + f"。{hint}"
        if True in held:
            return hint or REFUSAL
        if all(h is False for h in held):
            return self._voice.say("neither", "", key) + hint
        return hint or REFUSAL

    def _holds(self, content: Sequence[str] | frozenset[str]) -> bool | None:
        """True or False by shared words; `None` where there are none."""
        said = frozenset(content) - _LIGHT
        if said & self._gold:
            return True
        return False if said & self._others else None

    def _utterance(self, history: Sequence[Turn], key: str) -> str:
        said = " ".join(t.answer for t in history)
        fresh = [u for u in self._utterances if u not in said]
        return pick(fresh or self._utterances, f"utterance:{key}") if self._utterances else ""


def _content(text: str) -> frozenset[str]:
    japanese = {t.form for t in tokens(text) if t.content}
    return (frozenset(japanese) | frozenset(words(text))) - _LIGHT


_LEVELS = {
    "ja": {
        "empty": ("もう空っぽな", "もう何も入っていない"),
        "part": ("まだ少し残っている", "途中まで減っている"),
        "full": ("まだちゃんと入っている", "中身はたっぷりある"),
    },
    "en": {
        "empty": ("It's empty", "There's nothing left in it"),
        "part": ("There's still a little left", "It's about half full"),
        "full": ("There's plenty in it", "It's full"),
    },
}
#: Facets that may be asked of a thing whether it is wanted or done with.
_TIMELESS = frozenset({"use", "when", "whom", "dir", "place"})
_DIRECTION = frozenset({"to-come", "to-go", "right-now", "store"})


class RuleSimulator(Handler):
    """Answers `AskUser` effects for one instance in one episode.

    seed: chooses among wordings; what is true does not depend on it. paraphrases: action
    id → utterances of others with the same intent, for action sets without a table.
    The same questions in the same order get the same answers.
    """

    def __init__(
        self,
        instance: Instance,
        actions: ActionSet,
        *,
        seed: int = 0,
        paraphrases: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        self.instance, self.actions, self.seed = instance, actions, seed
        self.history: list[Turn] = []
        self._language = instance.scene.language
        self._voice = Voice(register_of(instance.speaker, self._language, instance.id))
        self._need = needs(self._language).get(instance.gold) if is_known(actions) else None
        self._generic = (
            Generic(instance, actions, self._voice, paraphrases or {})
            if self._need is None
            else None
        )

    def perform(self, effect: AskUser, where: Where) -> str:
        answer = self.answer(effect.question)
        self.history.append(Turn(question=effect.question, answer=answer))
        return answer

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        self.history.append(Turn(question=effect.question, answer=result))

    def answer(self, question: str) -> str:
        """What this user says next; depends on the questions so far, changes nothing."""
        if broken_rule(question, self.actions) is not None:
            return REFUSAL
        asked = parse(question)
        key = f"{self.seed}:{self.instance.id}:{len(self.history)}:{asked.text}"
        if self._generic is not None:
            return self._generic.answer(asked, self.history, key)
        language = "ja" if asked.japanese else "en"
        if container := asked_container(asked.text):
            return self._contents(container, asked, key)
        if leads_nowhere(asked.text, language) or asked.form == "none":
            return REFUSAL
        if asked.form == "alternative":
            return self._alternative(asked, language, key)
        if asked.form == "wh":
            return self._open(asked, language, key)
        return self._polar(asked, language, key)

    def _told(self, facet: str, key: str) -> str:
        """A phrase of a facet, one that was not used before if there is one."""
        assert self._need is not None
        phrases = self._need.facets[facet]
        said = " ".join(t.answer for t in self.history)
        fresh = [p for p in phrases if p.removesuffix("な") not in said]
        return pick(fresh or phrases, f"{facet}:{key}")

    def _contents(self, container: str, asked: Question, key: str) -> str:
        how_full = level(container, self.instance)
        if how_full is None:
            return REFUSAL
        stem = pick(_LEVELS[self._language][how_full], f"level:{key}")
        if asked.form != "polar" or asked.negated:
            return self._voice.say("open", stem, key)
        holds = (how_full == "empty") == asks_empty(asked.text)
        return self._voice.say("yes" if holds else "no", stem, key)

    def _polar(self, asked: Question, language: str, key: str) -> str:
        assert self._need is not None
        judged = judge(asked.text, self._need.id, language)
        if judged.truth == "unknown":
            facet = facet_asked(asked.text, language) if asked.indefinite else ""
            if facet in ("", "wish"):
                return REFUSAL
            return self._voice.say("open", self._told(facet, key), key)
        stem = self._told(judged.facet, key)
        if asked.negated:
            # A yes to a negative question can be read either way: tell how it is instead.
            return self._voice.say("open", stem, key)
        if judged.truth in ("yes", "no") and pick(range(5), f"terse:{key}") == 0:
            return self._voice.say(f"bare_{judged.truth}", "", key)
        return self._voice.say(judged.truth, stem, key)

    def _alternative(self, asked: Question, language: str, key: str) -> str:
        assert self._need is not None
        judged = [judge(side, self._need.id, language) for side in asked.sides]
        truths = [j.truth for j in judged]
        if all(t == "unknown" for t in truths):
            return REFUSAL
        for wanted in ("yes", "maybe", "mixed"):
            if truths.count(wanted) == 1:
                at = truths.index(wanted)
                stem = self._told(judged[at].facet, key)
                named = len(truths) == 2 and pick(range(2), f"side:{key}") == 0
                return self._voice.say(("first", "second")[at] if named else "open", stem, key)
            if truths.count(wanted) > 1:
                return self._voice.say("open", self._told("state", key), key)
        if "unknown" in truths:
            return self._voice.say("open", self._told("state", key), key)
        return self._voice.say("neither", self._told("state", key), key)

    def _open(self, asked: Question, language: str, key: str) -> str:
        assert self._need is not None
        facet = facet_asked(asked.text, language)
        supposed = matched(asked.text, language)
        if facet == "wish":
            return self._wish(asked, key)
        if not facet and not supposed:
            return REFUSAL
        ignored = _DIRECTION if facet in _TIMELESS else frozenset[str]()
        truths = {p.truth(self._need.id) for p in supposed if p.name not in ignored}
        if truths == {"no"}:
            return self._voice.say("no", self._told("state", key), key)
        return self._voice.say("open", self._told(facet or "state", key), key)

    def _wish(self, asked: Question, key: str) -> str:
        """What one would like to eat or drink: the one case in which the thing is named."""
        assert self._need is not None
        drink = {"飲む", "飲み物", "drink", "beverage"} & set(asked.forms)
        wish = self._need.wish.get("drink" if drink else "eat")
        if wish is None:
            return self._voice.say("no", self._told("state", key), key)
        return self._voice.say("open", wish, key)
