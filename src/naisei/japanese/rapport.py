"""Cues of nearness and of distance: particles, laughter, feelings, disclosure, care, sharing."""

from __future__ import annotations

import re

from naisei.japanese.spoken import Found, Sentence
from naisei.japanese.wordlists import WordList

__all__ = ["casual", "closeness", "distance", "laughter"]

_CASUAL = re.compile(
    r"じゃん|っけ|だよね|だもん|だし(?=[。！、]|$)|よね(?=[。！？ー〜、]|$)|(?<!で)すね?ー|(?:だ|いい|ない|る|た|い)(?:よ|な|ね|さ|の|ぞ|ぜ|わ)[ーぁあぇえ〜]*(?=[。！？…、]|$)"
    r"|ちゃ[っうえお]|じゃ[っう](?=[たて])|とく(?=[。！よねわ])|なきゃ|なくちゃ|って(?:ば|さ|か|いうか)|っぽい|めっちゃ|めちゃ|すっごい|すげ[ーえぇ]|やば|マジ|まじ|うざ|ウケる|うけ"
    r"|(?:^|[。！？、…])(?:ねえ|ねぇ|なあ|なぁ|えー+|ええー+|うわ|うん|ううん|うそ|嘘|へえ|へぇ|ふーん|わーい|わあ|そっか|そうそう|それな|ほんと|でしょ|だろ|いえーい|おっ(?=[、。！…]|$)|よっしゃ|だって|てか|つーか)"
    r"|んだ(?:よ|ね|けど|って|もん|から)|かな[あぁー]|っす(?:[かねよ]|$|。|！)"
)
_LAUGH = re.compile(
    r"(?<![a-zA-Zａ-ｚ])[wｗ]+(?![a-zA-Z.])|笑(?=[。！？）)]|$)|（笑|\(笑|(?:あ|う|ふ|へ|え|い|ぎ)?は{2,}|あははは*|(?:うふ|えへ)[ふへ]+|ふふ+|へへ+|ひひ+|くすくす|草(?=[。！]|$)|[♪♡♥]|[\U0001f600-\U0001f64f\U0001f923-\U0001f929\U0001f970-\U0001f97a]|ハハ+|フフ+"
)
_CARE = re.compile(
    r"大丈夫(?:？|か？|なの|だよ|だって|かな)|無理(?:し(?:ない|すぎ|ちゃ)|するな|しなくて)|心配(?:した|して(?:た|る|い)|だよ|かけ)|元気(?:出して|だして|ない(?:ね|な|じゃ|の)|だった)|体(?:調)?(?:に|を)(?:気|大事|壊)"
    r"|ゆっくり(?:休|して)|応援し|味方|そばに(?:いる|居る)|頼って|甘えて|話(?:なら|ぐらい|くらい)?(?:聞く|聞いて)|よかった(?:ね|な|じゃん|じゃない)|おめでと|寂し(?:い|かった)|会い?た(?:い|かった)|大好き|愛して"
    r"|お前(?:が|の|なら|らしい)|あんたらしい|らしいな|ありがと(?:う)?(?:ね|な|！|。|〜|ー|$)|ごめん(?:ね|な|って)"
)
_SHARED = re.compile(
    r"一緒に|いっしょに|また(?:行こ|遊|飲み|会お|やろ|今度|みんな)|いつも(?:の|みたい|通り|そう|ながら)|(?:この|こない)だ(?:の|さ|、|も)|この前(?:の|、|さ|も)|覚えて(?:る|ない|いる)|懐かし|なつかし|昔(?:から|は|の|よく|っから)"
    r"|う?ちら|俺(?:ら|たち)|私たち|僕(?:ら|たち)|あたしたち|みんなで|遊ぼ|飲みに|飲もう|久しぶり|相変わらず|付き合(?:い|って)|連れて|うち(?:来|に来|で|寄)|泊ま|例の|あいつ|あの子|忘れ(?:た|て(?:た|ない)|る(?:もん|わけ))|(?:^|、)また(?:です|か|その|そう|それ|急|始ま|言って)|そういう(?:とこ|ところ)|らしくない|(?:誕生日|記念日|お土産)|約束(?:した|だ|ね)|くせに|毎(?:日|朝|晩|週)(?:見て|会って|一緒)"
)
_DISCLOSURE = re.compile(
    r"実は|正直(?:、|に|言|さ)|ここだけの話|本当は|ほんとは|打ち明け|誰にも言|(?:私|僕|俺|あたし|わたし|ぼく|おれ|うち|自分)(?:ね|さ|って|も|は|、).{0,20}(?:好き|嫌い|苦手|怖|不安|悩|泣|つら|辛|寂し|嬉し|うれし|悔し|疲れ|憧れ|夢|恥ずか|落ち込|思っ|思う|気がする)"
    r"|思(?:っちゃ|えて)|悩んで|落ち込|泣い(?:た|ちゃ)|泣き|自信(?:が)?(?:な|持て)|緊張し|情けな|恥ずかし"
)
_STRANGER = re.compile(
    r"(?:はじ|初)めまして|失礼ですが|突然(?:すみません|申し訳)|(?:恐れ入り|すみません)(?:ます)?が|いらっしゃいませ|お客(?:様|さま)|少々お待ち|お待たせ(?:いた|しました)|お探し|ご(?:利用|来店|注文|予約|希望|用件|案内|連絡先|本人)"
    r"|お名前(?:を|は|と|、|頂)|(?:よろしく|宜しく)お願い(?:いた|申し)|お近く(?:です|で|に)|この(?:辺|近く|あたり)(?:の方|に(?:は|お)|は詳)|お隣(?:、|いい|よろ|失)|ご(?:旅行|出身|近所|親切)|どちら(?:から|まで|に|へ)(?:お|いら|いらっ|行か|来ら|です)|と申します|お気をつけて|ご丁寧|いえいえ、|とんでも"
)
_HOSTILE = re.compile(
    r"うるさ(?:い|く|かった)|うるせ|黙れ|黙って(?:て|ろ|くだ)|ふざけ(?:る|ん|ない)|関係(?:ない|ありません)(?:だろ|でしょ|です|。|よ|$)|(?:放|ほ)(?:って|っと)(?:いて|おいて|け)|うざ(?:い|っ|く)"
    r"|近寄ら|顔も見た|勝手に(?:し(?:ろ|て|た|な)|すれ|決め)|いい加減に|信じられ(?:ない|ません)|最低(?:だ|です|ね|。|！)|許さ(?:ない|ん)|二度と|迷惑(?:です|なん|だ)|お断り|話すこと(?:は|なんて)"
    r"|大嫌い|もういい(?:って|です|よ。|。|わ)|(?:^|、)別に。|知らない(?:よ|わ|。|！|$)|どうでもいい|しつこい|(?:言い訳|屁理屈)|ブロック|満足(?:です|か)|お互い(?:さま|様)(?:でしょ|です|だ)"
    r"|決めつけ|余計な|嫌なら|何(?:度|回)も言(?:って|わせ)|(?:頼んだ|言った)覚え|(?:失礼|非常識|無責任|卑怯|ひどい)(?:じゃ|です|だ|な(?:人|ん)|ね|よ)|訴え|警察|弁償|クレーム|責任者|たらどうです|(?:やめて|止めて)(?:もらえ|いただけ|くださ)"
    r"|そっちの|よくも|逃げた|身のため|返事しません|(?:じゃあ|もう)切る(?:ね|よ|。)|意味(?:が)?(?:ない|わから|分から)"
)
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
        for m in search.finditer(sentence.text)
    ]
    found += [Found("feeling", w) for w in _FEELINGS.find(sentence)]
    found += [Found("private", w) for w in _PRIVATE.find(sentence)]
    return found


def distance(sentence: Sentence) -> list[Found]:
    """`stranger`: what people say who do not know each other; `hostile`: who do not want to."""
    return [
        Found(cue, m[0])
        for cue, search in (("stranger", _STRANGER), ("hostile", _HOSTILE))
        for m in search.finditer(sentence.text)
    ]


def _invitation(sentence: Sentence) -> str:
    """「行こうよ」: a plain volitional at the end; 「行くでしょう」「行きましょう」 are none."""
    words = [w for w in sentence.core if w.detail != "終助詞"]
    if words and words[-1].inflection.startswith("意志推量") and words[-1].lemma not in _INVITING:
        return words[-1].surface
    return ""
