"""A user of an action set that no table describes: borrows the words of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.clarify.describe import REFUSAL
from naisei.clarify.schemas import ActionSet, Instance, Turn
from naisei.clarify.simulator.judge import facet_asked
from naisei.clarify.simulator.voice import Reply, Voice, pick
from naisei.japanese.morph import tokens
from naisei.japanese.questions import Question, words

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
                return (about and self.utterance(history, key)) or REFUSAL
        if asked.form == "alternative":
            return self._alternative(asked, history, key)
        holds = self._holds(asked.content)
        if holds is None:
            return (about and self.utterance(history, key)) or REFUSAL
        hint = self.utterance(history, key)
        lead = self._voice.say("bare_yes" if holds else "bare_no", "", key)
        return f"{lead}{hint}"

    def _alternative(self, asked: Question, history: Sequence[Turn], key: str) -> str:
        held = [self._holds(_content(side)) for side in asked.sides]
        hint = self.utterance(history, key)
        if held.count(True) == 1 and len(held) == 2:
            return self._voice.speak(
                Reply("side", hint, sides=asked.sides, at=held.index(True)), key
            )
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

    def utterance(self, history: Sequence[Turn], key: str) -> str:
        """What somebody else said who wants the same, one not told yet; empty if nobody did."""
        said = " ".join(t.answer for t in history)
        fresh = [u for u in self._utterances if u not in said]
        return pick(fresh or self._utterances, f"utterance:{key}") if self._utterances else ""


def _content(text: str) -> frozenset[str]:
    japanese = {t.form for t in tokens(text) if t.content}
    return (frozenset(japanese) | frozenset(words(text))) - _LIGHT
