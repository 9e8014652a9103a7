"""Analysis of a message to an assistant: content words, aspect, kind.

Uses word lists and patterns, no model. The intent system's rule-based evaluation builds on it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from naisei.japanese.morph import lemmas, normalise
from naisei.japanese.questions import parse
from naisei.lengths import cached_text


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """matter: the content words, normalised, without duplicates. aspect: whether the message names
    an aspect (how many, until when, how, who, whether). question, consultation: has that form.
    broad: asks for everything about the topic (〜について). told: describes a situation without a
    question or request. worry: mentions trouble."""

    matter: tuple[str, ...]
    aspect: bool
    question: bool
    consultation: bool
    broad: bool
    told: bool
    worry: bool


def _words(name: str) -> frozenset[str]:
    return frozenset((files("naisei.japanese") / name).read_text(encoding="utf-8").split())


#: Stop words, normalised: question words, thanks, demonstratives.
_EMPTY = _words("empty_words.txt")
#: Names of aspects of a topic.
_ASPECT = re.compile(
    "方法|手順|やり方|仕方|手続き|期限|締[め切]|条件|対象|上限|下限|金額|単価|費用|料金|日数|回数|人数|期間|頻度|時間帯|場所|窓口|"
    "連絡先|担当|承認者|提出先|宛先|書類|様式|書式|フォーム|理由|違い|割合|倍率|番号|目安|基準|要件|例外|"
    r"\bdeadline|\blimit|\bsteps?\b|\bprocedure",
    re.I,
)
_BROAD = re.compile(
    "の(?:こと|件)で(?:、)?(?:質問|相談|聞き|お聞き|伺い|教え|確認|ちょっと|少し)|"
    "大丈夫(?:なの)?(?:です|ん)*(?:が|けど|けれど)[。、…\\s]*$|"
    "(?<!知り)(?<!聞き)(?<!伺い)(?<!教わり)(?<!もらい)(?<!頂き)(?<!いただき)(?<!確認し)(?<!お聞きし)"
    "たい(?:の|ん)?(?:です|だ)?(?:が|けど|けれど)?[。、…\\s]*$|"
    "大丈夫ですか[。？?]*$|"
    "について(?:、)?(?:確認|調べ|ちょっと|少し)|"
    "について(?:の)?(?:質問|相談|教え|知り|聞き|お聞き|伺い|詳しく|お願い|説明|です|だけど|ですが|なんですが|$|[。？！、])|"
    "(?:の|に関する|に関しての)(?:こと|件|話|情報|詳細|概要|説明|ルール|制度|決まり)(?:を|が|に|について|って|は)?(?:教え|知り|聞き|確認|詳しく|です|なん|だけど|$|[。？！、])|"
    "(?:って(?:何|なに)(?:です|なの|か|を指|[？?]|$)|ってどう(?!す|し|や)|(?:は|って)どうなって|(?:は|って)どんな(?:感じ|もの|の)|どういう(?:もの|制度|仕組み))|"
    "に関して(?:教え|知り|聞き|$|[。？！、])|"
    r"\babout\b|\binformation on\b|\btell me\b",
    re.I,
)
#: Signs of a worry in any message …
_WORRY = re.compile(
    "相談|悩[んみ]|迷って|迷う|不安|心配|怖[いく]|こわ[いく]|つら[いく]|辛[いく]|しんど|苦し|疲れ(?:て|た|まし)|ストレス(?!チェック)|うまくいか|うまく行か|"
    "もめて|揉めて|気まず|言い(?:づら|にく|出せ)|どうするのが|て(?:しま|ちゃ)う(?:の|ん)?(?:でしょう|だろう|です|かな|か)|"
    "アドバイス|助言|合わない|自信がな|モヤモヤ|もやもや|焦[っりる]|眠れ(?:ない|ず|ません)|そうに(?:ない|ありません)|"
    "(?:どう|何を)(?:すれば|したら)(?:いい|よい|良い)か(?:分|わ)から|"
    r"\badvice|\bworried|\bstruggl|\bstress|\bafraid",
    re.I,
)
#: … and signs that count only without a precise question.
_CONSULT = re.compile(
    "困って|困り|どうすれば(?:いい|よい|良い)|どうしたら(?:いい|よい|良い)|"
    "したほうがいい|した方が(?:いい|良い|よい)|ほうがいいでしょう|おすすめ|お勧め|オススメ|何がよい|何がいい|どれがいい|どれがよい|"
    "(?:辞め|やめ|休み|断り|変え)たい|"
    r"\bshould i\b|\bwhat should\b|\brecommend",
    re.I,
)
#: "What should I do" names no aspect.
_ADVICE = re.compile("どう(?:すれば|したら)(?:いい|よい|良い)(?:の|ん)?(?:でしょう|です|か|$)*")
#: Minimum length of a sentence without a question that describes a situation.
_TOLD = 20
_SENTENCE = re.compile(
    r"(?:です|ます|まし|ませ|でし|[いるたうくすむつぬぶぐて]|[がの]|けど|けれど|から|ので)(?:[。!…、,.]|$)|\b(?:i|my|we|our)\b",
    re.I,
)
_POINTING = re.compile(
    r"^(?:じゃあ?|では|それ|その|そこ|そちら|これ|この(?:場合|制度|件)|上記|前述|さっき|先ほど|ほかに|他に|ちなみに|また|あと)"
    r"|^(?:and|what about|how about|then|that|it)\b"
    r"|\b(?:it(?! (?:ok|okay|true|possible|allowed|necessary)\b)|them)\b"
    r"|\b(?:is|are|does|do|about|for|of|to|with) (?:that|this|those|these)\b",
    re.I,
)
_GREETING = re.compile(
    r"(?:あの[、ー]?|えっと[、ー]?)?(?:こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|はじめまして|初めまして|お疲れ(?:様|さま)(?:です|でした)?|"
    r"お世話になって(?:い|お)ります|よろしく(?:お願い(?:し|いたし|致し)ます)?|どうも|もしもし|やあ|ありがとう(?:ございま(?:す|した))?|"
    r"助かりました|さようなら|またね|hi|hello|hey|thanks?|thank you|"
    r"good (?:morning|afternoon|evening)|"
    r"bye)[ー〜!！。.、,\s☀-➿\U0001f300-\U0001faff]*",
    re.I,
)


@cached_text(8192)
def content_words(text: str) -> tuple[str, ...]:
    """Content words in order, normalised, without duplicates: the search terms."""
    return tuple(dict.fromkeys(w for w in lemmas(text) if w not in _EMPTY and _solid(w)))


def is_stopword(word: str) -> bool:
    """Whether a normalised word is a stop word: question word, thanks or demonstrative."""
    return word in _EMPTY or not _solid(word)


def _solid(word: str) -> bool:
    if len(word) == 1:
        return bool(re.match(r"[\u3400-\u9fff0-9]", word))
    return True


def is_greeting(text: str) -> bool:
    """Whether it contains only greetings or thanks."""
    folded = normalise(text)
    return bool(folded) and re.fullmatch(rf"(?:{_GREETING.pattern})+", folded, re.I) is not None


@cached_text(2048)
def analyse_query(text: str) -> QueryAnalysis:
    """Analyse a message. Never raises."""
    folded = normalise(text)
    broad = _BROAD.search(folded) is not None
    words = content_words(folded)
    form = parse(folded)
    asks = form.form != "none" or _REQUEST.search(folded) is not None
    told = len(folded) > _TOLD and _SENTENCE.search(folded) is not None
    told = told and not asks and not broad
    bare = not asks and not told and len(words) > 0
    # 「休暇の申請期限について教えて」 names an aspect, although it is broad.
    named = form.form != "none" and _ASPECT.search(folded) is not None
    firm = not broad or form.asks in _PRECISE or named
    beside = _ADVICE.sub("", folded)
    worry = _WORRY.search(folded) is not None
    return QueryAnalysis(
        matter=words,
        aspect=firm and _names_aspect(folded),
        question=asks or bare or broad,
        consultation=(worry and not (asks and _is_precise(beside)))
        or told
        or (_CONSULT.search(folded) is not None and not (asks and _names_aspect(beside))),
        broad=broad,
        told=told,
        worry=worry,
    )


#: 「引っ越しのこと」 and 「英語のは？」 leave the request open.
_OUTRIGHT = re.compile("(?:か[なねい]?|かしら|っけ)[。…！!]*$|[？?]$")
_CUT_SHORT = re.compile("(?:は|なら|だと|だったら|の場合)[？?。]?$")


def _names_aspect(folded: str) -> bool:
    """Whether a message asks yes or no, which of several, or how much, when or who, or names an
    aspect of a topic."""
    closed = _is_precise(folded) and not _CUT_SHORT.search(folded)
    return closed or parse(folded).asks != "" or _ASPECT.search(folded) is not None


#: Requested aspects that can be answered despite a worry, and in a broad request.
_PRECISE = ("when", "where", "who", "how-much", "which")


def _is_precise(folded: str) -> bool:
    """Whether a message directly asks for one fact, or is a yes/no question."""
    form = parse(folded)
    closed = form.form in ("polar", "alternative") and _OUTRIGHT.search(folded) is not None
    return closed or form.asks in (*_PRECISE, "what")


_REQUEST = re.compile(
    "教えて|知りたい|お?聞きしたい|伺いたい|教わりたい|ください|下さい|お願い|確認したい|か[。？]?$|方法$|手順$|とは[。？]?$|\\?$|？$"
)


class _Asked(NamedTuple):
    """form: of the question. named: terms in headings and columns. written: form in an answer."""

    form: re.Pattern[str]
    named: tuple[str, ...]
    written: re.Pattern[str]


_DIGIT = "[0-9一二三四五六七八九十百千万]"
_DATE = (
    f"{_DIGIT}(?:日|[かヶケヵ箇]?月|年|週|時)|[毎前翌当即末]日|[年月週]末|[毎翌当同][月年週]|"
    "年度|以内|[日月年時週]間?[前後]|曜|まで|速やか|すみやか|直ちに|ただちに|随時|いつでも|"
    r"[0-9]/[0-9]|[0-9]{4}-[0-9]{2}|\b(?:days?|weeks?|months?|years?|by|until|before|after)\b"
)
#: The first match counts.
_ASKED = tuple(
    _Asked(re.compile(form, re.I), tuple(named.split()), re.compile(written, re.I))
    for form, named, written in (
        ("電話|何番に?かけ|連絡先", "", r"\d{2,4}[-ー(]\d{2,4}|内線|[#＃]\d|\d{3,4}番"),
        ("メールアドレス|宛先のメール", "", "@|＠"),
        (
            "いくら(?!でも)|何円|料金|費用|値段|手数料|お金が?(?:かか|必要)|how much",
            "料金 金額 額 費用 手数料",
            f"{_DIGIT}円|円(?![滑形満卓周盤])|無料|[0-9]%|[0-9一二三四五六七八九]割|割引|かかりません|不要|[¥￥$€£]|free",
        ),
        ("何歳|何才|how old|what .{0,20}\\bage\\b", "年齢", r"歳|才|\byears?\b"),
        (
            "何時間|何分|how many (?:hours|minutes)",
            "時間",
            rf"{_DIGIT}(?:時間|分)|\b(?:hours?|minutes?)\b",
        ),
        ("何時|時間帯", "時刻 時間帯", f"{_DIGIT}時(?!間)|[0-9]:[0-9]|正午|終日|24時間"),
        (
            "何日(?!に|から|の(?!内|うち))|何週|how many (?:days|weeks)",
            "日数",
            rf"{_DIGIT}(?:日|営業日|週|か?月|年)|[前翌当即末]日|以内|\b(?:days?|weeks?)\b",
        ),
        (
            "何[かヶケヵ箇]月|何年(?!の|に)|how (?:long|many (?:months|years))",
            "期間 年数",
            rf"{_DIGIT}(?:[かヶケヵ箇]月|年|日|週|時間|分)|\b(?:days?|weeks?|months?|years?|hours?|minutes?)\b",
        ),
        ("いつから|when .{0,40}(?:start|begin)", "開始 施行", _DATE),
        ("いつまで|when .{0,40}end", "期限 締切 期間 終了", _DATE),
        ("いつ(?!も)|何[日月年曜]|期限|締[め切]|when|deadline", "期限 締切 期間", _DATE),
        (
            "何[枚点冊個本]|いくつ",
            "枚数 点数 冊数 個数 数",
            "(?:[0-9]+|[一二三四五六七八九十]+)(?:枚|点|冊|個|本|つ|袋|箱|束|件)(?!で?も|以上ある)",
        ),
        (
            "何[回度]",
            "回数",
            "[0-9一二三四五六七八九十][回度]|[毎各隔][日週月年]|ごと",
        ),
        (
            "何[人名台部室泊社割通]|how many",
            "人数 定員 数",
            r"[0-9一二三四五六七八九十]|"
            r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|none?)\b",
        ),
    )
)


@cached_text(512)
def _asked(text: str) -> _Asked | None:
    folded = unicodedata.normalize("NFKC", text)
    return next((asked for asked in _ASKED if asked.form.search(folded)), None)


def measured(text: str) -> tuple[str, ...]:
    """The terms used in headings and columns for what the form of a question asks for.

    >>> measured("年次有給休暇は何日ありますか")
    ('日数',)
    """
    asked = _asked(text)
    return asked.named if asked is not None else ()


def answered_by(text: str, passage: str) -> bool | None:
    """Whether a passage has the kind of answer a question asks for (an amount for いくら, a
    number to call for 電話番号); `None` for other questions."""
    if (asked := _asked(text)) is None:
        return None
    return asked.written.search(unicodedata.normalize("NFKC", passage)) is not None


#: General topics: alone, they refer to the previous topic.
_GENERAL = _words("general_nouns.txt")


def is_general(word: str) -> bool:
    """Whether a normalised word is a general topic: 料金, 期限."""
    return word in _GENERAL


_ELLIPSIS = re.compile(
    "^[^はがを]{1,12}(?:は|なら|だと|だったら|の場合は?|でも(?:いい|大丈夫))[？?。]?$"
)
#: A bare case that changes the previous question: 「注射済票だと？」.
_IN_CASE = re.compile("^[^はがを]{1,12}(?:だと|だったら|なら|の場合は?)[？?。]?$")
_TOPIC = re.compile("[はがを]|って|について|の(?:こと|件)|とは|教えて|知りたい|^[^ぁ-ん]+[？?]?$")


def subjectless(text: str) -> bool:
    """Whether a question lacks its own topic: 「郵送だといくらですか」."""
    folded = normalise(text)
    if _POINTING.search(folded):
        return True
    words = [w for w in content_words(folded) if not w.isdigit()]
    if all(w in _GENERAL for w in words):
        return True
    if (len(words) <= 2 and _ELLIPSIS.search(folded)) or _IN_CASE.search(folded):
        return True
    return len(words) <= 1 and len(folded) <= 16 and not _TOPIC.search(folded)
