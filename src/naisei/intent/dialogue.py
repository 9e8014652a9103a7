"""A request with its questions back; a conversation is a sequence of these."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from naisei.core import Event
from naisei.intent.rules import Setting
from naisei.intent.schemas import Exchange, Judged, Reply
from naisei.japanese.content_preservation import lost
from naisei.japanese.morph import is_japanese, normalise
from naisei.japanese.query_analysis import analyse_query, content_words, subjectless
from naisei.japanese.sentences import codes

#: Prefix of a message that is a new request, not an answer to the open question.
NEW = "/new "


class Dialogue(BaseModel):
    """utterance: the first message. exchanges: questions back, with their answers. earlier: earlier
    requests of the conversation, oldest first. goes_on: whether it continues the last one."""

    model_config = ConfigDict(frozen=True)

    utterance: str
    exchanges: tuple[Exchange, ...] = ()
    earlier: tuple[str, ...] = ()
    goes_on: bool = False

    def answered(self, question: str, answer: str, options: tuple[str, ...] = ()) -> Dialogue:
        """Return the dialogue with one more exchange; an answer by number becomes the option's
        words plus the rest."""
        if picked := chosen(answer, options):
            words = "、".join(options[at] for at in picked)
        elif begun := led(answer, options):
            words = f"{options[begun[0]]}、{begun[1]}"
        else:
            words = answer.strip()
        exchange = Exchange(question=question, answer=words, options=options)
        return self.model_copy(update={"exchanges": (*self.exchanges, exchange)})

    @property
    def own(self) -> tuple[str, ...]:
        """All messages of the person about the request, oldest first, without
        「その中にはありません」 and similar replies."""
        return (self.utterance, *(e.answer for e in self.exchanges if e.is_informative))

    @property
    def resumes(self) -> bool:
        """Whether it continues the previous request: it refers back (「その場合は？」), or has no
        topic (「郵送だといくらですか」)."""
        return bool(self.earlier) and (self.goes_on or subjectless(self.utterance))

    @property
    def full_messages(self) -> tuple[str, ...]:
        """The same messages, with the omitted words of a continued request filled in."""
        first, *answers = self.own
        unsaid = f"{_unsaid(first, self.earlier)} " if self.resumes else ""
        return (f"{unsaid}{first}", *answers)

    @property
    def alone(self) -> bool:
        """Whether the utterance is the only message and can be the query."""
        return len(self.own) == 1 and not self.resumes

    def has_asked(self, question: str) -> bool:
        """Whether this question was already asked, ignoring punctuation and width."""
        return any(_bare(e.question) == _bare(question) for e in self.exchanges)


#: Question words: いくらですか, いつまで, how much.
_ASKED = re.compile(
    "(?:いくら|いつ|どこ|どう(?:やって|すれば|したら)?|[誰何]|どの(?:くらい|ように)|どれ(?:くらい)?)"
    "(?:日|時間?|回|冊|点|年|歳|名|人|円|か月|kg|番|曜日)?"
    "(?:前|後|まで|から|[にへをがの]|で(?![すき]))*"
    "(?:です|[になし]*(?:かかり|あり)?ます|いい)?か?[。？?]?|"
    r"\b(?:how (?:much|many|long|often|far|soon)|how|when|where|who|which|what|why)\b",
    re.I,
)


def _unsaid(text: str, earlier: Sequence[str]) -> str:
    """Words carried over from earlier requests, back to the last with its own topic, without
    question words if the request has its own (いつまで after いくら). A product code (AP-60だと？)
    replaces another."""
    asks, kept = analyse_query(text).aspect, list[str]()
    for before in reversed(earlier):
        words = _ASKED.sub(" ", before) if asks else before
        kept = [words, *kept] if content_words(words) else kept
        asks = asks or analyse_query(before).aspect
        if not subjectless(before):
            break
    unsaid = " ".join(kept)
    for code in codes(unsaid) if codes(text) else ():
        unsaid = re.sub("-?".join(map(re.escape, code)), "", unsaid, flags=re.I)
    return " ".join(unsaid.split())


def _bare(text: str) -> str:
    return "".join(c for c in normalise(text).lower() if c.isalnum())


#: Maximum length of a model's question relative to the person's messages.
_LONGEST, _ROOM = 4, 60


class Query(BaseModel):
    """text: what is searched for. also: searched for beside it, where not empty: what a worry
    came to, whose first words tell how it feels. how: as it was said, by the model, or the words
    joined. failures: why a model's rewriting was not used."""

    model_config = ConfigDict(frozen=True)

    text: str
    also: str = ""
    how: Literal["unchanged", "model", "joined"]
    failures: tuple[str, ...] = ()


def rewrite(dialogue: Dialogue, judged: Judged, setting: Setting) -> Query:
    """Return the input unchanged if there was no dialogue, else the evaluating model's question if
    it preserves what was said."""
    written = " ".join(judged.evaluation.question.split()).strip("「」\"'")
    goes_on = bool(dialogue.earlier) and judged.evaluation.move != "new_topic"
    words, also = joined(dialogue), _drawn_out(dialogue)
    how: Literal["unchanged", "joined"] = "unchanged" if dialogue.alone else "joined"
    if setting.rules.language == "en" and is_japanese(written):
        # In the documents' language; searched in addition to the person's own words.
        return Query(
            text=joined(dialogue), also=written, how="unchanged" if dialogue.alone else "joined"
        )
    if dialogue.alone and not (goes_on and written):
        return Query(text=dialogue.utterance, how="unchanged")
    if not setting.rules.rewriting or judged.evaluator != "model" or not written:
        return Query(text=words, also=also, how=how)
    if len(written) > _ROOM + _LONGEST * len(words):
        return Query(text=words, also=also, how=how, failures=("question: too long",))
    if gone := lost("\n".join(dialogue.own), written):
        named = ", ".join(f"{g.kind} {g.text}" for g in gone)
        return Query(text=words, also=also, how=how, failures=(f"question: lost {named}",))
    return Query(text=written, how="model")


def _drawn_out(dialogue: Dialogue) -> str:
    if not analyse_query(dialogue.utterance).consultation:
        return ""
    return " ".join(" ".join(e.answer.split()) for e in dialogue.exchanges if e.is_informative)


def joined(dialogue: Dialogue) -> str:
    """The person's own words, first request first."""
    return " ".join(" ".join(text.split()) for text in dialogue.full_messages)


_KANJI = {c: n for n, c in enumerate("一二三四五六七八九", 1)}
_KANA = {k: n for n, k in enumerate(("ひと", "ふた", "みっ", "よっ", "いつ", "むっ"), 1)}
_NUMBER = r"(?:\d+|[一二三四五六七八九])"
_ONE = rf"(?:{_NUMBER}(?:番目?|つ目|つめ|個目)?|(?:ひと|ふた|みっ|よっ|いつ|むっ)つ(?:目|め))"
_CHOICES = re.compile(
    rf"(?:じゃあ?|では|えっと|えーと|多分|たぶん)?[、,\s]*[(（\[#]?({_ONE}(?:[)）\].、,\s・/&]*(?:と|か|and|or)?[\s、,(（]*{_ONE})*)"
    r"[)）\].。]?\s*(?:の(?:ほう|方)?)?(?:です(?:かね|ね)?|で|だ|かな|をお願いします|お願いします|が知りたいです?|について)?[。!！\s]*"
)
_EACH = re.compile(_ONE)
_TAIL = re.compile(r"(?:です|のこと|について|の件|お願いします|かな|でしょうか)*[。！？!?\s]*$")


def chosen(answer: str, options: Sequence[str]) -> tuple[int, ...]:
    """Return indexes (from 0) in `options`, in the order of the answer; empty if it names none.

    Numbers count from 1 and only if the answer contains nothing else: 「3日です」 chooses nothing.
    Words choose an option that they quote in full without more, or that quotes them.
    """
    folded = unicodedata.normalize("NFKC", answer).strip()
    if not folded or not options:
        return ()
    if found := _CHOICES.fullmatch(folded):
        places = [_number(m[0]) - 1 for m in _EACH.finditer(found[1])]
        return tuple(dict.fromkeys(p for p in places if 0 <= p < len(options)))
    said = _plain(answer)
    quoted = [at for at, option in enumerate(options) if _names(said, _plain(option))]
    if quoted:
        longest = max(len(_plain(options[at])) for at in quoted)
        return tuple(at for at in quoted if len(_plain(options[at])) == longest)
    if len(said) >= 2:
        within = [at for at, option in enumerate(options) if said in _plain(option)]
        if len(within) == 1:
            return tuple(within)
    return ()


def led(answer: str, options: Sequence[str]) -> tuple[int, str] | None:
    """Return the index of the option whose number starts the answer, and the rest:
    「2です。横浜の場合を知りたい」; `None` if there is no such number."""
    m = _LEADING.match(unicodedata.normalize("NFKC", answer).strip())
    if m is None or not 0 <= (place := _number(m[1]) - 1) < len(options):
        return None
    return place, m[2].strip()


_LEADING = re.compile(
    rf"[(\[#]?({_NUMBER})(?:番目?|つ目|つめ|個目)?[)\]]?(?:です|で|の(?:ほう|方)?(?:です|で)?)?"
    r"[、。,.:]+(?!\d)\s*(\S.*)$",
    re.S,
)


def _names(said: str, option: str) -> bool:
    """Whether an answer is only an option's name."""
    return bool(option) and option in said and not content_words(said.replace(option, "", 1))


def _number(text: str) -> int:
    if digits := re.match(r"\d+", text):
        return int(digits[0])
    return _KANJI.get(text[0]) or _KANA.get(text[:2], 0)


def _plain(text: str) -> str:
    said = _TAIL.sub("", normalise(text))
    return re.sub(r"[\s「」（）()›>・、。:：]", "", said).lower()


#: Number of answered requests that a later one may refer to.
EARLIER = 5


class Conversation(BaseModel):
    """steps: the dialogues of all steps, oldest first. replies: theirs; one fewer than steps
    while a step is under way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[Dialogue, ...] = ()
    replies: tuple[Reply, ...] = ()

    @classmethod
    def from_log(cls, events: Iterable[Event]) -> Conversation:
        """Restore the conversation from the log of an inquiry (`naisei.intent.flow`)."""
        conversation = cls()
        for event in events:
            request: dict[str, Any] = event.request  # type: ignore[assignment]
            if event.kind == "ask":
                conversation = conversation.with_step(conversation.next(str(event.result)))
            elif event.kind == "say":
                reply = Reply(message=request["text"], **request["meta"]["reply"])
                conversation = conversation.with_replies([*conversation.replies, reply])
        return conversation

    @property
    def last(self) -> Reply | None:
        return self.replies[-1] if self.replies else None

    @property
    def open(self) -> bool:
        """Whether a question back awaits its answer."""
        last = self.last
        return last is not None and last.asks

    @property
    def pending(self) -> bool:
        """Whether the last step has no reply yet."""
        return len(self.steps) > len(self.replies)

    def next(self, text: str) -> Dialogue:
        """Return the dialogue with one more message: the answer to the open question; a new request
        if there is none or after `/new`."""
        new, last = text.startswith(NEW), self.last
        text = text.removeprefix(NEW)
        if last is not None and self.open and not new:
            return self.steps[len(self.replies) - 1].answered(last.message, text, last.options)
        # The model's combined question, else the person's words.
        earlier = [
            reply.query if reply.rewritten == "model" else " ".join(step.own)
            for step, reply in zip(self.steps, self.replies, strict=False)
            if reply.query
        ]
        return Dialogue(utterance=text.strip(), earlier=tuple(earlier[-EARLIER:]))

    def with_step(self, dialogue: Dialogue) -> Conversation:
        return self.model_copy(update={"steps": (*self.steps, dialogue)})

    def with_replies(self, replies: Sequence[Reply]) -> Conversation:
        return self.model_copy(update={"replies": tuple(replies)})
