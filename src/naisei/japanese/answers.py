"""Classifies the stance of an answer to a question: yes, no, the former, the latter, neither, no
answer.

Reads short answers to clarifying questions, in Japanese and English: polarity words, hedges,
refusals, and any other content. It reads only the answer; the caller knows what a "yes" means.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from naisei.japanese.morph import lemmas


class Stance(StrEnum):
    """The stance of an answer towards the question."""

    YES = "yes"
    NO = "no"
    FIRST = "first"
    SECOND = "second"
    NEITHER = "neither"
    BOTH = "both"
    UNSURE = "unsure"
    REFUSED = "refused"
    #: No polarity word: a free answer, or one that only its content decides.
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed answer.

    certainty: in (0, 1], lower for hedged answers. content: the text besides the polarity, without
    negated clauses (「飲み物ではなくて、眠いんです」 → 「眠いんです」); empty if nothing
    is left. denied: the negated clauses.
    """

    stance: Stance
    certainty: float = 1.0
    content: str = ""
    denied: str = ""


#: Certainty of a hedged answer.
HEDGED = 0.7

_REFUSED = re.compile(
    r"回答(?:でき|出来)ません|(?:お)?答え(?:は|が)?(?:でき|出来|かね|られ|られな|たくな)|"
    r"(?<!うまく)(?:言え|言いたく)(?:ま|な)|ノーコメント|"
    r"\b(?:cannot|can't|can not|won't|rather not|unable to) (?:answer|say|tell)",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"^(?:うーん|ええと|えっと|さあ|さぁ|んー)?[、,。…\s]*(?:よく|ちょっと|あまり)?"
    r"(?:分か(?:ら|り)|わか(?:ら|り|ん)|何とも|なんとも|特に考え|どうだろう|どうでしょう)|"
    r"(?:分からない|わからない|何とも言えない|なんとも言えない)(?:です|な|ね|かな|なあ)*[。.]?$|"
    r"\b(?:not sure|don't know|do not know|couldn't tell|hard to say|no idea)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(
    r"どちらでも(?:な|あり)|どっちでも(?:な|あり)|どちらも(?:違|ちが|いい?え)|どっちも(?:違|ちが)|"
    r"どちらとも(?:違|言え|いえ)|どれでも(?:な|あり)|どれも(?:違|ちが)|\b(?:neither|none of)\b",
    re.IGNORECASE,
)
_BOTH = re.compile(r"(?:両方|りょうほう|どちらも|どっちも)(?!.{0,3}(?:違|ちが|な))|\bboth\b", re.I)
_FIRST = re.compile(
    r"前者|(?:最初|はじめ|初め|一つ目|ひとつ目|1つ目|先)の(?:ほう|方)|"
    r"\b(?:the )?(?:former|first)\b(?! of all)",
    re.IGNORECASE,
)
_SECOND = re.compile(
    r"後者|(?:後|あと|二つ目|ふたつ目|2つ目)の(?:ほう|方)|\b(?:the )?(?:latter|second)\b", re.I
)
#: Words for the first, second and third item of a list.
PLACES = tuple(
    re.compile(place, re.IGNORECASE)
    for place in (
        r"前者|(?:最初|さいしょ|はじめ|初め|前|先|一つ目|一番目|一ばんめ)(?:の|だ|で|か)|\bfirst\b|\bformer\b",
        r"後者|(?:あと|後|二つ目|二番目|二ばんめ)(?:の|だ|で|か)|\bsecond\b|\blatter\b",
        r"(?:三つ目|三番目|三ばんめ|最後)|\bthird\b|\blast\b",
    )
)
#: Markers of a correction: the preceding words were a slip.
_REPAIR = re.compile(
    r"(?:言い|いい)?(?:間違え|まちがえ|間違い|まちがい)(?:た|ました|でし?た?)[よねの]*[。、!]|"
    r"(?:じゃ|では)なかった[。、]|訂正(?:し|です)[^。]*[。]|(?:あ|いや|おっと)[、っ]?(?:違|ちが)(?:った|いました)[。、]|"
    r"逆(?:だ|です)(?:よ|ね)?[。、]|\bi misspoke[.,]|\bthe other way round[.,]|\bscratch that[.,]",
    re.IGNORECASE,
)
_FILLER = (
    r"(?:(?:うーん、)?(?:たぶん|多分)|あー?|ああ|えー?と|えっと|うーん|んー|まあ|まぁ|"
    r"well|oh|um|hmm|ah)?"
    r"[、,。…\s!！~〜]*"
)
_YES = re.compile(
    rf"^{_FILLER}"
    r"(?:はい|ええ(?!と)|えぇ|うん(?!ー)|うむ|そう(?!じゃ|では|でも|思わ|いうわけ|いうこと[じで])|"
    r"その(?:通|とお)り|もちろん|おっしゃる(?:通|とお)り|確かに|たしかに|そんなところ|そんな感じ|当たり|せやね|せや|"
    r"ほんま|お願い|まさに|わりと|多分そう|たぶんそう|yes|yeah|yep|i suppose so|kind of|"
    r"sort of|right|exactly|sure|indeed|definitely|"
    r"that's right|i am\b|i do\b|it is\b)",
    re.IGNORECASE,
)
_NO = re.compile(
    rf"^{_FILLER}"
    r"(?:いいえ|いえ|いや|いやいや|ううん|うーうん|違|ちが|ちゃう|そう(?:じゃ|では|でも|いうわけ)|"
    r"そうでもな|それはない|別に(?:そう)?|特に(?:は)?(?:な|そう|あり)|まさか|全然|ぜんぜん|"
    r"no\b|nope|nah|not (?:really|quite|at all|exactly)|i'm not\b|i am not\b|it's not\b|it isn't)",
    re.IGNORECASE,
)
_NO_TAIL = re.compile(
    r"(?:わけ|訳)(?:では|じゃ)(?:な|あり)|(?:ことでは|ことじゃ|のことでも)(?:な|あり)|"
    r"(?:それ|そこ|その)(?:は|とは|こと(?:では|じゃ)?)?(?:違|ちが|関係(?:な|あり))|関係(?:は)?(?:ない|ありません)",
)
_YES_TAIL = re.compile(
    r"(?:そう(?:です|だ|なの|なん|かも|ですね|だね|だな|やね)|その通り|その(?:気分|感じ)(?:です|だ|かも))",
)
_HEDGE = re.compile(
    r"かも|たぶん|多分|おそらく|どちらかと(?:いう|言う|いえ|言え)|どっちかと|まあ|まぁ|"
    r"というか|ような気|気がし|少し|ちょっとだけ|"
    r"\b(?:maybe|perhaps|probably|kind of|sort of|rather)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:じゃ|では|でも)(?:な(?:い|く|かっ|さそう)|あり?ま(?:せん))|"
    r"たく(?:は)?(?:な(?:い|く)|ありません)|(?:欲し|ほし)く(?:は)?(?:な|ありません)|"
    r"(?:必要|用事?|気分|予定|つもり)(?:は|も|が|では|じゃ)?(?:な(?:い|く)|ありません)|"
    r"\b(?:not|isn't|don't|doesn't|no need)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[、,。.!！?？\n…]+|(?<=[でがしも])\s|けど|けれど|ですが|だが|\bbut\b")
_NEGATED = re.compile(
    r"(?:な(?:い|く|かった)|ません|ねえ|へん|ん)(?:です|でした|よ|ね|わ|な|かな|から|けど|かも|なあ)*$"
    r"|\b(?:not|n't|never)\b|n't\b",
    re.IGNORECASE,
)
#: Words too common to be an echo of the question.
_COMMON = frozenset(
    {"為る", "居る", "有る", "無い", "物", "事", "こと", "もの", "何", "其れ", "此れ", "今", "成る"}
    | {"言う", "良い", "方", "所", "気", "i", "you", "it", "do", "be", "is"}
)
_POLARITY_WORD = re.compile(
    rf"^{_FILLER}(?:はい|ええ|うん|そうなんです|そうですね?|そうだね?|そう|いいえ|いえ|いや|ううん|"
    r"違います|違う|ちがいます|ちがう|その通りです?|もちろん|前者です?|後者です?|"
    r"yes|yeah|no|nope|right|exactly|that's right|not really)(?:です|よ|ね|かな|かも)*$",
    re.IGNORECASE,
)


def understand(text: str, question: str = "") -> Answer:
    """Parse an answer. Never raises: anything else has the stance `OPEN`.

    question: if given, an answer that only echoes its words is read as a yes or a no
    (「喉が渇いていますか？」 — 「渇いてません」).

    >>> understand("いや、飲み物じゃなくて、部屋が散らかっていて").stance
    <Stance.NO: 'no'>
    """
    folded = repaired(unicodedata.normalize("NFKC", text).strip().strip("「」『』\"'"))
    if not folded or (_REFUSED.search(folded) and len(folded) <= 40):
        return Answer(Stance.REFUSED)
    content, denied = _contents(folded, question)
    certainty = HEDGED if _HEDGE.search(folded) else 1.0
    stance = _stance(folded, content)
    if stance is Stance.OPEN and question:
        stance = _echo(folded, question)
    return Answer(stance, certainty, content, denied)


def repaired(text: str) -> str:
    """An answer without the slip of the tongue that it corrects."""
    return _REPAIR.split(text)[-1].strip() or text


def _echo(text: str, question: str) -> Stance:
    first = next((c for c in _CLAUSE.split(text) if c.strip()), "").strip()
    if not _echoes(first, question):
        return Stance.OPEN
    return Stance.NO if _NEGATED.search(first) else Stance.YES


def _echoes(clause: str, question: str) -> bool:
    return bool((set(lemmas(clause)) & set(lemmas(question))) - _COMMON)


def _stance(text: str, content: str) -> Stance:
    if _NEITHER.search(text):
        return Stance.NEITHER
    if _UNSURE.search(text):
        return Stance.UNSURE
    if _BOTH.search(text):
        return Stance.BOTH
    first, second = _FIRST.search(text), _SECOND.search(text)
    if first and not second:
        return Stance.FIRST
    if second and not first:
        return Stance.SECOND
    if _NO.search(text):
        return Stance.NO
    if _YES.search(text):
        return Stance.YES
    if _NO_TAIL.search(text):
        return Stance.NO
    if _YES_TAIL.search(text):
        return Stance.YES
    # 「いま手が離せなくて。うん、そう。」: a remark comes first.
    for later in re.split(r"(?<=[。.!！])\s*|(?:けど|が)、", text)[1:]:
        if _NO.search(later):
            return Stance.NO
        if _YES.search(later):
            return Stance.YES
    return Stance.OPEN if content else Stance.NO


def _contents(text: str, question: str) -> tuple[str, str]:
    """Affirmed and denied clauses, without bare polarity words."""
    said: list[str] = []
    denied: list[str] = []
    for clause in _CLAUSE.split(text):
        clause = clause.strip()
        if not clause or _POLARITY_WORD.search(clause) or _UNSURE.search(clause):
            continue
        echo = bool(question) and _NEGATED.search(clause) and _echoes(clause, question)
        (denied if echo or _DENIED.search(clause) else said).append(clause)
    return "、".join(said), "、".join(denied)


_LEAD = r"(?:いいえ|いえ|いや|うーん|ええと|えっと|すみません|no)?[、,.。!\s]*"
_NONE = re.compile(
    rf"{_LEAD}(?:(?:(?:そ|こ)の(?:中|なか|どれ|いずれ)(?:の|から)?|選択肢|リスト|候補|一覧|どれ|いずれ|ここ|そこ|この6つ)"
    r"(?:の中)?(?:に|で|と)?(?:は|も|でも)?(?:特に)?"
    r"(?:ありません|ないです|無いです|ない|なかった|ございません|当てはまりません|当てはまらない|該当しません|違います|違う|ちがいます|近くない|近くありません)"
    r"|none(?: of (?:these|them|those))?(?: (?:fits?|apply|applies))?|neither)"
    r"(?:です|ね|よ|な|かな|けど)*[。.!\s]*",
    re.I,
)
_NOTHING = re.compile(
    rf"{_LEAD}(?:(?:もう|ほかに|他に|特に|とくに|別に)*(?:は|も|何も)?(?:ありません|ないです|ない|なし|ございません)"
    r"|(?:よく|ちょっと|あまり|まったく|全然)*(?:分か|わか|判)(?:らない|りません|んない)|さあ|(?:知|し)(?:りません|らない)"
    r"|何でも(?:いい|よい|良い)|なんでも(?:いい|よい|良い)|お?任せします|おまかせ(?:します)?"
    r"|nothing(?: (?:in particular|else|more))?|i (?:do not|don't) know|not sure|no idea|anything)"
    r"(?:です|ね|よ|な|かな|けど|が)*[。.!…\s]*",
    re.I,
)


def none_of_them(answer: str) -> bool:
    """Whether an answer only says that no option fits.

    >>> none_of_them("その中にはありません。"), none_of_them("その中にはないです、有休の話です")
    (True, False)
    """
    return _NONE.fullmatch(_folded(answer)) is not None


def at_a_loss(answer: str) -> bool:
    """Whether an answer says "nothing" or "I do not know".

    >>> at_a_loss("特にありません。"), at_a_loss("お金がありません")
    (True, False)
    """
    folded = _folded(answer)
    return not any(c.isalnum() for c in folded) or _NOTHING.fullmatch(folded) is not None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().strip("「」")
