"""Sentences of an utterance with their words, and cues of rapport, work and leisure in them.

Quotations and stage directions are left out: what somebody quotes is not how they speak.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from naisei.japanese.morph import Token, is_japanese, normalise, tokens
from naisei.japanese.sentences import sentences
from naisei.lengths import cached_text

_SPACE = re.compile(
    r"(?<=[\u3041-\u30ff\u3400-\u9fff])[ \t\u3000]+(?=[\u3041-\u30ff\u3400-\u9fff])"
)
_WHOLE = re.compile(r"[「『]([^「」『』]*)[」』]\s*")
_QUOTED = re.compile(r"「[^「」]*」")
_ASIDE = re.compile(r"[（(][^（）()]*[）)]")
#: Laughter and decoration at a sentence's end hide the ending; `rapport` reads them by itself.
_DECORATION = re.compile(
    r"[wｗ笑草♪☆★♡♥〜～\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]+(?=[。！？]*$)"
)
#: A sentence longer than this is cut: a talk has none, and a pasted document must not stop it.
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Found:
    """Something heard in a sentence: which cue, the words it was heard in, how strong (0–1)."""

    cue: str
    text: str
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """text: normalised, quotations as 「」. words: its words; `core`: without marks."""

    text: str
    words: tuple[Token, ...]

    @property
    def core(self) -> tuple[Token, ...]:
        return tuple(w for w in self.words if w.pos not in ("補助記号", "空白", "記号"))


@cached_text(8192)
def spoken(text: str) -> tuple[Sentence, ...]:
    """The Japanese sentences of an utterance, in order; none for an empty or English text.

    A line break ends a sentence, a space inside Japanese is a pause.

    >>> [s.text for s in spoken("おはよう　元気？\\n「帰る」って言ってた（笑）")]
    ['おはよう、元気？', '「」って言ってた']
    """
    if (whole := _WHOLE.fullmatch(text.strip())) is not None:
        text = whole[1]
    found = []
    for row in text.splitlines():
        for piece in sentences(_SPACE.sub("、", row)):
            plain = _ASIDE.sub("", _QUOTED.sub("「」", normalise(piece)))[:_LONGEST]
            plain = _DECORATION.sub("", plain)
            if is_japanese(plain):
                found.append(Sentence(plain, tokens(plain)))
    return tuple(found)


class WordList:
    """The words of some classes together. A word of several parts is found as written."""

    def __init__(self, *names: str) -> None:
        self._names = names

    @property
    def words(self) -> frozenset[str]:
        """Words of a single part, each in every form in which it is found."""
        return _compiled(self._names)[0]

    def find(self, sentence: Sentence) -> list[str]:
        """Words of the list in a sentence, as said, in order; a place counts once."""
        single, several = _compiled(self._names)
        spans = [m.span() for m in several.finditer(sentence.text)]
        for w in sentence.words:
            if (w.lemma in single or w.form in single) and not any(
                a <= w.start < b for a, b in spans
            ):
                spans.append((w.start, w.end))
        return [sentence.text[a:b] for a, b in sorted(spans)]


@lru_cache(maxsize=1)
def _lists() -> dict[str, str]:
    text = (files("naisei.relationship.speech") / "speech_words.toml").read_text(encoding="utf-8")
    return {name: str(value) for name, value in tomllib.loads(text).items()}


@lru_cache(maxsize=16)
def _compiled(names: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str]]:
    single: set[str] = set()
    several: list[str] = []
    for word in " ".join(_lists()[name] for name in names).split():
        found = tokens(word)
        if len(found) == 1:
            single |= {word, found[0].lemma, found[0].form}
        else:
            several.append(word)
    pattern = "|".join(map(re.escape, sorted(several, key=len, reverse=True))) or r"(?!)"
    return frozenset(single), re.compile(pattern)


_CASUAL = re.compile(
    r"じゃん|っけ|だよね|だし(?=[。！、]|$)|よね(?=[。！？ー〜、]|$)|(?<!で)すね?ー|(?:だ|いい|ない|る|た|い)(?:よ|な|ね|さ|の|ぞ|ぜ|わ)[ーぁあぇえ〜]*(?=[。！？…、]|$)"
    r"|ちゃ[っうえお]|じゃ[っう](?=[たて])|とく(?=[。！よねわ])|なきゃ|なくちゃ|って(?:ば|さ|か(?!ら)|いうか)|っぽい|めっちゃ|めちゃ|すっごい|すげ[ーえぇ]|やば|マジ|まじ|うざ|ウケる|うけ"
    r"|(?:^|[。！？、…])(?:ねえ|ねぇ|なあ|なぁ|えー+|ええー+|うわ|うん|ううん|うそ|嘘|へえ|へぇ|ふーん|わーい|わあ|そっか|そうそう|それな|ほんと|でしょ|だろ|いえーい|おっ(?=[、。！…]|$)|よっしゃ|だって|てか|つーか)"
    r"|んだ(?:よ|ね|けど|って|もん|から)|かな[あぁー]|っす(?:[かねよ]|$|。|！)"
)
_LAUGH = re.compile(
    r"(?<![a-zA-Zａ-ｚ])[wｗ]+(?![a-zA-Z.])|笑(?=[。！？）)]|$)|(?:あ|う|ふ|へ|え|い|ぎ)?は{2,}|あははは*|(?:うふ|えへ)[ふへ]+|ふふ+|へへ+|草(?=[。！]|$)|[♪♡♥]|[\U0001f600-\U0001f64f\U0001f923-\U0001f929\U0001f970-\U0001f97a]"
)
_CARE = re.compile(
    r"大丈夫(?:？|か？|なの|だよ|だって|かな)|無理(?:し(?:ない|すぎ|ちゃ)|するな|しなくて)|心配(?:した|して(?:た|る|い)|だよ|かけ)|元気(?:出して|だして|ない(?:ね|な|じゃ|の)|だった)|体(?:調)?(?:に|を)(?:気|大事|壊)"
    r"|ゆっくり(?:休|して)|応援し|そばに(?:いる|居る)|頼って|甘えて|話(?:なら|ぐらい|くらい)?(?:聞く|聞いて)|よかった(?:ね|な|じゃん|じゃない)|おめでと|寂し(?:い|かった)|会い?た(?:い|かった)|大好き"
    r"|お前(?:が|の|なら|らしい)|ありがと(?:う)?(?:ね|な|！|。|〜|ー|$)|ごめん(?:ね|な|って)"
)
_SHARED = re.compile(
    r"一緒に|また(?:行こ|遊|飲み|会お|やろ|今度|みんな)|いつも(?:の|みたい|通り|そう|ながら)|(?:この|こない)だ(?:の|さ|、|も)|この前(?:の|、|さ|も)|覚えて(?:る|ない|いる)|懐かし|なつかし|昔(?:から|は|の|よく|っから)"
    r"|うちら|俺(?:ら|たち)|私たち|僕(?:ら|たち)|あたしたち|みんなで|遊ぼ|飲みに|飲もう|久しぶり|相変わらず|付き合(?:い|って)|連れて|うち(?:来|に来|で|寄)|泊ま|例の|あいつ|あの子|忘れ(?:た|て(?:た|ない)|る(?:もん|わけ))|(?:^|、)また(?:です|か|その|そう|それ|急|始ま|言って)|そういう(?:とこ|ところ)|(?:誕生日|記念日|お土産)|約束(?:した|だ|ね)|くせに|毎(?:日|朝|晩|週)(?:見て|会って|一緒)"
)
_DISCLOSURE = re.compile(
    r"実は|正直(?:、|に|言|さ)|本当は|ほんとは|誰にも言|(?:私|僕|俺|あたし|わたし|ぼく|おれ|うち|自分)(?:ね|さ|って|も|は|、).{0,20}(?:好き|嫌い|苦手|怖|不安|悩|泣|つら|辛|寂し|嬉し|うれし|悔し|疲れ|憧れ|夢|恥ずか|落ち込|思っ|思う|気がする)"
    r"|思(?:っちゃ|えて)|悩んで|落ち込|泣い(?:た|ちゃ)|泣き|自信(?:が)?(?:な|持て)|緊張し|恥ずかし"
)
_STRANGER = re.compile(
    r"(?:はじ|初)めまして|失礼ですが|突然(?:すみません|申し訳)|(?:恐れ入り|すみません)(?:ます)?が|いらっしゃいませ|お客(?:様|さま)|少々お待ち|お待たせ(?:いた|しました)|お探し|ご(?:利用|来店|注文|予約|希望|用件|案内|連絡先|本人)"
    r"|お名前(?:を|は|と|、|頂)|(?:よろしく|宜しく)お願い(?:いた|申し)|お近く(?:です|で|に)|この(?:辺|近く|あたり)(?:の方|に(?:は|お)|は詳)|お隣(?:、|いい|よろ|失)|ご(?:旅行|出身|近所|親切)|どちら(?:から|まで|に|へ)(?:お|いら|いらっ|行か|来ら|です)|と申します|お気をつけて|ご丁寧|いえいえ、|とんでも"
)
_HOSTILE = re.compile(
    r"うるさ(?:い|く|かった)|うるせ|黙れ|黙って(?:て|ろ|くだ)|ふざけ(?:る|ん|ない)|関係(?:ない|ありません)(?:だろ|でしょ|です|。|よ|$)|(?:放|ほ)(?:って|っと)(?:いて|おいて|け)|うざ(?:い|っ|く)"
    r"|勝手に(?:し(?:ろ|て|た|な)|すれ|決め)|いい加減に|信じられ(?:ない|ません)|最低(?:だ|です|ね|。|！)|二度と|迷惑(?:です|なん|だ)|お断り"
    r"|大嫌い|もういい(?:って|です|よ。|。|わ)|(?:^|、)別に。|知らない(?:よ|わ|。|！|$)|しつこい|(?:言い訳|屁理屈)|ブロック|満足(?:です|か)|お互い(?:さま|様)(?:でしょ|です|だ)"
    r"|決めつけ|嫌なら|何(?:度|回)も言(?:って|わせ)|(?:頼んだ|言った)覚え|(?:失礼|非常識|無責任|卑怯|ひどい)(?:じゃ|です(?!が|け)|だ|な(?:人|ん)|ね|よ)|たらどうです|(?:やめて|止めて)(?:もらえ|いただけ|くださ)"
    r"|逃げた|返事しません|(?:じゃあ|もう)切る(?:ね|よ|。)|意味(?:が)?(?:ない|わから|分から)"
)


def at_words(search: re.Pattern[str], sentence: Sentence) -> Iterator[re.Match[str]]:
    """Matches that begin where a word or a mark begins: うちら is not heard in こちら."""
    starts: set[int] | None = None
    for match in search.finditer(sentence.text):
        if starts is None:
            starts = {word.start for word in sentence.words}
        if match.start() in starts:
            yield match


_INVITING = frozenset({"です", "ます", "だ"})
_FEELINGS = WordList("feelings")
_PRIVATE = WordList("private")


def casual(sentence: Sentence) -> list[Found]:
    """Particles, contractions and interjections of relaxed talk, each place once."""
    found = [Found("casual", m[0]) for m in _CASUAL.finditer(sentence.text)]
    if (invited := _invitation(sentence)) != "":
        found.append(Found("invitation", invited))
    return found


def laughter(text: str) -> list[Found]:
    """Laughter and play in an utterance as written, before it is cut and cleaned."""
    return [Found("laughter", m[0]) for m in _LAUGH.finditer(text)]


def closeness(sentence: Sentence) -> list[Found]:
    """`care`, `shared` (what both did or will do), `disclosure`, `feeling`, `private`."""
    found = [
        Found(cue, m[0])
        for cue, search in (("care", _CARE), ("shared", _SHARED), ("disclosure", _DISCLOSURE))
        for m in at_words(search, sentence)
    ]
    found += [Found("feeling", w) for w in _FEELINGS.find(sentence)]
    found += [Found("private", w) for w in _PRIVATE.find(sentence)]
    return found


def distance(sentence: Sentence) -> list[Found]:
    """`stranger`: what people say who do not know each other; `hostile`: who do not want to."""
    return [
        Found(cue, m[0])
        for cue, search in (("stranger", _STRANGER), ("hostile", _HOSTILE))
        for m in at_words(search, sentence)
    ]


def _invitation(sentence: Sentence) -> str:
    """「行こうよ」: a plain volitional at the end; 「行くでしょう」「行きましょう」 are none."""
    words = [w for w in sentence.core if w.detail != "終助詞"]
    if words and words[-1].inflection.startswith("意志推量") and words[-1].lemma not in _INVITING:
        return words[-1].surface
    return ""


_WORK, _DEAL, _STEPS = WordList("work"), WordList("deal"), WordList("steps")
_LEISURE = WordList("leisure")
#: サ変 nouns of feeling and chance, which carry nothing out.
_IDLE = WordList("idle")
#: A figure that somebody must act on: a clock time, a date, a quantity, money.
_FIGURE = re.compile(
    r"(?!一番|一度|一本道)[0-9〇一二三四五六七八九十百千万]+(?:時(?:半|[0-9十]+分)?(?:まで|から|に|ごろ|頃|で)?|分(?:後|間|ほど|以内)?|日(?:まで|後|以内|に)|月[0-9一二三四五六七八九十]+日|円|部|枚|件|名|個|本|台|番|号|ページ|行目|通|パーセント|％|%|キロ|グラム|ミリ|センチ|階|泊|セット|箱|冊|社|点)"
)
_DEADLINE = re.compile(
    r"(?:今日|本日|明日|明後日|今週|来週|今月|来月|月曜|火曜|水曜|木曜|金曜|午前|午後|朝|昼|夕方|年内|月末|週末|定時|[0-9]時)(?:中に|までに?|いっぱい|締め)|先に|至急|早め|できるだけ早|間に合|どこまで(?:進|でき|やっ)|遅れ(?:て|そう)|済ん(?:だ|で)|終わ(?:った|り|って|らせ)"
)
#: Getting ready, settling, making sure: 〜ておく, これでいい？, which, how many, until when.
_SETTLING = re.compile(
    r"[てで](?:おき(?:ます|まし|ましょ)|おく(?:よ|ね|。|から|ので|$)|おいて(?:。|ね|よ|くだ|もら|いただ)|おい(?:た(?:よ|ので|から|。)))|(?:とき(?:ます|まし)|とく(?:よ|ね|わ|。|から|$)|といた(?:よ|から|。|ので))"
    r"|(?:これ|それ|この|その)[^。？]{0,6}(?:で(?:いい|合って|よろしい|大丈夫|いこう|行こう|いきましょう|お願い))|(?:いつ|何時|何日|いくつ|何個|何人|何枚|いくら|どこ|どちら)(?:まで|から|に(?:します|する|置|入れ|お)|で(?:す|しょ)|ほど|くらい|を)"
    r"|(?:では|じゃあ|それでは|なら)、?[^。？]{0,12}(?:ましょう|しよう|にします|お願い|いこう|頼む)|(?:し|り|き|み|べ|て|え|れ|せ)ましょうか"
)
#: A noun that becomes an act with する, the class that carries out: 確認, 提出, 修正.
_ACT = "サ変可能"


def work(sentence: Sentence) -> list[Found]:
    """`work`, `deal` (orders, bookings, payments), `steps`, `figure`, `deadline`, `settling`,
    `act`.

    act: another noun of action (サ変) that is no leisure: the class stands for what a list
    cannot hold.
    """
    text = sentence.text
    found = [Found("work", w) for w in _WORK.find(sentence)]
    # Orders and bills come up in chat as well.
    found += [Found("deal", w, 0.5) for w in _DEAL.find(sentence)]
    found += [Found("steps", w) for w in _STEPS.find(sentence)]
    ends = {w.end for w in sentence.words}
    found += [Found("figure", m[0]) for m in at_words(_FIGURE, sentence) if m.end() in ends]
    found += [Found("deadline", m[0]) for m in _DEADLINE.finditer(text)]
    idle = _IDLE.words
    found += [Found("settling", m[0]) for m in _SETTLING.finditer(text)]
    known = {f.text for f in found} | set(_LEISURE.find(sentence))
    found += [
        Found("act", w.surface)
        for w in sentence.words
        if w.kind == _ACT
        and len(w.surface) >= 2
        and w.surface not in known
        and w.surface not in idle
    ]
    return found


def leisure(sentence: Sentence) -> list[Found]:
    """`leisure`: hobbies, food, seasons, animals, love, memories."""
    return [Found("leisure", w) for w in _LEISURE.find(sentence)]
