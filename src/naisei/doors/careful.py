"""What every door holds an agent to: who declines is left alone, an option is taken at its word,
and what cannot be taken back is confirmed first.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from naisei.clarify.agent import Agent, View
from naisei.clarify.schemas import ActionSet, Clarify, Decision, Decline, Execute, Language
from naisei.core import Flow
from naisei.japanese.answers import Stance, understand

#: More actions than that are no list that somebody is asked to choose from.
_OPTIONS = 9
_WORDS = {
    "ja": {
        "sure": "「{action}」を行います。よろしいですか？",
        "again": "「{action}」は、同じご依頼で先ほど済んでいます。もう一度行いますか？",
        "yes": "はい",
        "no": "いいえ",
        "none": "この中にはない",
    },
    "en": {
        "sure": 'I am about to do this: "{action}". Shall I?',
        "again": 'I have just done this for the same request: "{action}". Once more?',
        "yes": "Yes",
        "no": "No",
        "none": "None of these",
    },
}


@dataclass(frozen=True)
class CarefulAgent:
    """Decides as `agent` does, but for what needs no model and for what must be confirmed.

    dangerous: actions that are done only after a yes to them. done: the action that the same words
    had carried out just before, 0 for none: it is done once more only after a yes.
    """

    agent: Agent
    actions: ActionSet
    dangerous: Collection[int] = ()
    done: int = 0

    @property
    def name(self) -> str:
        return self.agent.name

    def decide(self, view: View) -> Flow[Decision]:
        said = view.asked[-1].answer if view.asked else view.scene.utterance
        confirming = self._confirming(view)
        if said.strip() in {words["none"] for words in _WORDS.values()}:
            return Decline(reason="none fits")
        asked = view.asked[-1].question if view.asked else ""
        if not confirming and declines(said, asked, "\n".join(a.text for a in self.actions)):
            return Decline(reason="no request")
        if confirming:
            heard = understand(said)
            if heard.stance is Stance.YES:
                return Execute(action=confirming)
            if not heard.content or declines(said):
                return Decline(reason="no request")
        named = [each.id for each in self.actions if each.text == said.strip()]
        decision: Decision
        if view.asked and named:
            decision = Execute(action=named[0])
        else:
            decision = yield from self.agent.decide(self._inner(view))
        if not isinstance(decision, Execute):
            return decision
        return self._confirmed(decision, view)

    def _confirmed(self, decision: Execute, view: View) -> Decision:
        """The decision, or first a question whether that is to be done."""
        must = {*self.dangerous, self.done}
        wanted = next((each for each in (decision.action, *decision.also) if each in must), 0)
        if not wanted:
            return decision
        question = self._question(wanted, view.scene.language)
        if any(turn.question == question for turn in view.asked):
            # Asked before, and there was no yes.
            return Decline(reason="no request", thought=decision.thought)
        return Clarify(question=question, thought=decision.thought, guess=wanted)

    def _question(self, action: int, language: Language) -> str:
        words = _WORDS[language]["again" if action == self.done else "sure"]
        return words.format(action=self.actions.text(action))

    def _confirming(self, view: View) -> int:
        """The action that the last question was to confirm; 0 if it was another question."""
        if not view.asked:
            return 0
        must = (*self.dangerous, *((self.done,) if self.done else ()))
        last = view.asked[-1].question
        return next((n for n in must if self._question(n, view.scene.language) == last), 0)

    def _inner(self, view: View) -> View:
        """What the agent sees: a question to confirm is none of its quota."""
        must = {*self.dangerous, *((self.done,) if self.done else ())}
        ours = {self._question(n, view.scene.language) for n in must}
        left = view.quota_left + sum(turn.question in ours for turn in view.asked)
        return replace(view, may_ask=left > 0, quota_left=max(0, left))

    def options(self, asks: Clarify, view: View) -> tuple[str, ...]:
        """Answers to the question that are understood without a model."""
        words = _WORDS[view.scene.language]
        if any(asks.question == self._question(n, view.scene.language) for n in self.actions.ids):
            return words["yes"], words["no"]
        likely = [self.actions.text(each.action) for each in asks.chances]
        listed = likely or [each.text for each in self.actions]
        return (*listed, words["none"]) if len(listed) <= _OPTIONS else ()


def declines(text: str, question: str = "", actions: str = "") -> bool:
    """Whether these words, in Japanese or English, say no more than that nothing is wanted (any
    more): every one of them takes a request back, or is courtesy. What else there may be in them
    is for a model to read.

    question: that they answer. actions: what can be wanted; a word that is among these two
    (「取り消す」) may choose one of them and takes nothing back. A bare no declines but where the
    question is one of yes or no.
    """
    context = f"{actions}\n{question}".lower()

    def kept(match: re.Match[str]) -> str:
        return match[0] if (verb := match["verb"] or match["verb_en"]) and verb in context else " "

    bare = _MARKS.sub(" ", text.lower().replace("\u2019", "'"))
    bare = _NOTHING.sub(kept, bare)
    if not (rest := _COURTESY.sub(" ", bare).split()):
        return bool(text.strip())
    return set(rest) <= _NO and not (question and _is_yes_no(question))


def _is_yes_no(question: str) -> bool:
    return not _OPEN_QUESTION.search(question.lower())


_MARKS = re.compile(r"[\s、。,.!！?？…~〜()（）「」]+")
_NO = {"いいえ", "いえ", "いや", "ううん", "no", "nope", "nah"}
_OPEN_QUESTION = re.compile(
    r"どちら|どっち|どれ|どの|どう|何|いつ|どこ|誰|だれ|それとも|か、|"
    r"\b(?:or|which|what|who|whom|when|where|how)\b"
)
_SAID = r"(?:です|でした|ます|ました|ません|よ|ね|な(?!し)|わ|から|ので|んで|けど|が)*"
_ASKED = r"(?:ください|下さい|もらえますか|いただけますか|ほしい|欲しい|くれ)?"
#: What takes a request back. verb: could be the name of an action.
_NOTHING = re.compile(
    r"(?:"
    rf"(?P<verb>取り?消|取り?止め|取りやめ|やめ|止め|中止|キャンセル|ストップ|なし|無し|忘れ|無視)"
    r"(?:に|と|て|で|し|き|お|う|よ|る|た|ま|す|は|く(?!だ))*"
    rf"{_ASKED}{_SAID}"
    rf"|(?:もう|それで|それなら)?(?:いい(?!え)|良い|よい|結構|けっこう|大丈夫|だいじょうぶ|平気|十分)(?:だ|や)?{_SAID}"
    rf"|(?:要ら|いら|必要)(?:は|が)?(?:な(?:い|く|かった)(?:な(?:った|り))?|ありま)?{_SAID}"
    rf"|不要(?:に)?(?:なり)?{_SAID}|(?:遠慮|辞退|パス|見送り?|断り)(?:し|させ)?(?:て)?(?:おき|おく|もらい|いただき)?(?:す|し|る)?{_SAID}"
    rf"|(?:何|なに|なん)(?:も|でも)(?:し|やら)?な(?:い|く)(?:て)?(?:で|いい|おいて)*{_ASKED}{_SAID}|(?:何|なん)でもあり{_SAID}"
    rf"|(?:(?:見|聞か|い)?なかったこと|(?:し|やら|聞か)なくて(?:も)?(?:いい|良い|大丈夫|結構))(?:に|し|て)*{_ASKED}{_SAID}"
    rf"|(?:間違|まちが)(?:え|い)(?:た|て)?{_SAID}|気が(?:変わ|かわ)(?:っ|り)(?:た|て)?{_SAID}"
    rf"|気にし(?:な)(?:い)?で{_ASKED}|(?:どれ|どちら|どっち|いずれ)(?:で)?も(?:な(?:い|く)(?:て)?|あり|違(?:う|い)){_SAID}"
    rf"|(?:自分|こちら|こっち)で(?:や(?:る|り|って)|し|する|何とか)*(?:みる|み|おく|おき)?{_SAID}"
    rf"|(?:そのまま|今のまま|この?まま)(?:に|で|して|し|お(?:い|き|く)て?|と(?:い|く)て?)*{_ASKED}{_SAID}"
    rf"|(?:ほう|放|ほ)っ(?:てお|と)いて{_ASKED}|また(?:今度|こんど|後で|あとで|別の機会|次回|にし|の機会)*(?:に|で)?(?:し|する)?{_SAID}"
    r"|\b(?:never ?mind|nothing|none(?: of (?:these|those|them|the above))?"
    r"|neither(?: of (?:these|those|them))?"
    r"|(?:do not|don't|no need to) (?:bother|worry|do anything|do it)|do nothing"
    r"|no (?:need|longer needed)|not needed|(?:i(?:'ve)? )?changed my mind"
    r"|(?P<verb_en>leave|drop|skip|forget|cancel|stop|scratch|disregard|ignore)"
    r"(?: (?:it|that|this|about|me|be|alone|as|is|my|the|last|message|request|everything|all))*"
    r"|i(?:'d| would) rather not|rather not"
    r"|i(?:'ll| will| can)? (?:do|handle|manage) (?:it|that|this) myself"
    r"|not (?:now|today|yet|any ?more|interested|really)|(?:maybe )?later"
    r"|(?:maybe |perhaps )?(?:another|some other|next) time"
    r"|i(?:'m| am) (?:good|fine|ok|okay|all set|set)"
    r"|(?:it|that)(?:'s| is) (?:fine|ok|okay|nothing|all|it)"
    r"|my (?:mistake|bad)|wrong (?:person|chat|number|window|thread)"
    r"|i(?:'d| would) rather you (?:didn't|did not)|i take (?:it|that) back|let(?:'s| us)"
    r"|i (?:do not|don't|no longer) (?:want|need) (?:it|that|this|anything)(?: any ?more)?)\b"
    r")"
)
#: What people say around it, and when they want nothing.
_COURTESY = re.compile(
    r"(?:ありがとう?|有難う|どうも|サンキュー|ごめん(?:なさい|ね)?|すみません|すいません|申し訳(?:ない|ありません)|"
    r"ございま(?:す|した)|やっぱり?|やはり|もう|それなら|それでは|では|じゃあ?|今回は|今は|今日は|とりあえず|まあ|"
    r"特に|別に|せっかくですが|せっかくだけど|お?気遣い(?:なく)?|ご親切に|また|さっきの(?:は|話は)?|(?:どれ|どちら|どっち)も|(?:それ|これ)は|今の(?:は|話は)?|"
    r"えっと|ええと|うーん|あの|あ(?=[\sー]|$)|おはよう|こんにちは|こんばんは|おやすみ(?:なさい)?|さようなら|お疲れ(?:さま|様)(?:です|でした)?|"
    r"です|だ(?=\s|$)|(?<=\s)(?:ね|よ|な)(?=\s|$)|"
    r"\b(?:actually|oh|well|hm+|um+|uh|ok|okay|sorry|thanks|thank you|thx|please|then|for now|"
    r"just|and|but|so|anyway|"
    r"after all|hello|hi|hey|good (?:morning|evening|afternoon|night)|bye|goodbye|much|very|a lot|"
    r"any ?more|i guess|i think|now)\b)"
)
