"""Finds speech acts in a sentence: command, plea, evaluation, decision, grant, compliance,
exclusion. They show who has power, independent of polite wording.
"""

from __future__ import annotations

import re

from naisei.japanese.morph import Token
from naisei.relationship.speech.level import CueMatch, Sentence, at_words

_COMING = re.compile(r"[てで](?:おいで|らっしゃい)(?:よ|ね|。|！|$)")
_GREETING = re.compile(
    r"(?:ごめん|おやすみ|お休み|お?かえり|お?帰り|いらっしゃ)(?:なさい|なせえ|ませ)"
)
#: Pleas phrased as orders: 「行かないでくれ、頼む」.
_PLEAD = re.compile(
    r"頼む(?:から|よ|って|[。！、]|$)|お願い(?:だ|です)|どうか|許して|見捨て|せめて|この(?:通り|とおり)|(?:何|なん)とか(?:なり|お願|して|でき)|(?:行か|切ら|捨て|見捨て|置いていか|言わ)ないで|もう(?:一度|一回)だけ"
)
_REQUEST = re.compile(r"[てで](?:ください|下さい)(?!ま)|(?<!よろしく)(?<!宜しく)お願いします")
_ORDER = re.compile(
    r"[てで](?:ちょうだい|頂戴|おくれ|くんな)(?=[よやなね。！…]|$)|(?:頼んだ|任せた)(?:[よぞわね]|から)*[。！]*$"
    r"|お願い(?:ね|な|よ)?[ー。！]*$|(?:といて|とけ|とき(?:なさい|な))(?=[よねな。！…]|$)"
)
_EVALUATION = re.compile(
    r"よく(?:やった|できた|出来た|頑張った|頑張って|やって(?:る|いる|くれ)|できて|出来て|気(?:づ|付)いた|言った)|(?:えらい|偉い|感心)(?:な|ぞ|ね|よ|！|。|ぇ|$)"
    r"|その調子|いい(?:子|心がけ|着眼|質問|返事)|期待し(?:て(?:る|い)|とる)|合格だ|まだまだ(?:だ|甘)|なってない|やり直し"
    r"|ご苦労|(?:もっと|ちゃんと|しっかり|きちんと)(?:しろ|しなさい|やれ|やりなさい|して(?:よ|くれ|ね|！|。))|仕方(?:の)?ない(?:な|ね|わね)|しょうがない(?:な|ね|わね)"
    r"|言ったでしょ|言っただろ|わかった(?:か|な|わね)|分かった(?:か|な|わね)|いい(?:か|わね|な)[、？]|(?:聞いて|わかって|分かって)(?:る|いる|ん)のか|お疲れ(?:さん|さん)"
    r"|心配(?:いらない|するな)|焦(?:る|ら)(?:な|なくて)|許可(?:する|しよう)|(?:教え|手伝っ|見せ|直し)て(?:やる|あげる|やろう|あげよう)"
)
#: Announced decisions: 〜ことにしました, 〜と判断しました, 見送らせていただきます.
_DECIDING = re.compile(
    r"(?:私|俺|僕|わたし|おれ|わし|こちら)が(?:判断|決め|確認|見(?:る|ます|てから))"
    r"|(?:こと|方針|結論)(?:に|と)(?:し(?:ます|た|まし)|決め|決ま|なり|いたし|させて)|(?:もう|すでに)決め(?:た|まし)|決めました"
    r"|(?:判断|決定|却下|承認|許可|採用|不採用|不合格|解約|打ち切|見送|差し戻|中止|終了|お断り|返却)(?:し(?:ます|まし|た)|する|[にと](?:し|いたし|なり|させて)|り(?:ます|と)|ら?させて(?:いただき|もらい))"
    r"|(?:許さ|認め|通せ|出せ|載せ|貸せ|受け付け(?:られ)?)(?:ない|ません|ん(?:。|ぞ))|審査の結果|規(?:定|則)(?:で|に|上)"
)
_GRANT = re.compile(
    r"(?:^|、)(?:構わん|かまわん|構わない)(?:よ|ぞ|。|！|$)|[てで]も?(?:いい|構わない|かまわない|よい|良い)(?:よ|ぞ|わよ|から|んだ|さ|。|！|$)(?!か)"
)
_COMPLY = re.compile(r"承知(?:し|いた|です)|かしこまり|了解(?:です|し|いた|っす)")
#: "Yes": compliance after an order, otherwise agreement.
_YES = re.compile(
    r"…*(?:はい|へい|うっす|押忍|わかりました|分かりました)(?!、?(?:そうです|ですね|いい))"
)
#: Rejections of the other speaker, polite or not.
_SHUT = re.compile(
    r"結構です|(?:要|い)りません|必要(?:は)?(?:ありません|ないです|ございません)|ご自由に|お引き取り|ご遠慮|お断り"
    r"|できかねます|いたしかねます|(?:お)?(?:受け|認め|答え|応え|通し|教え)(?:は)?(?:でき|いたし|して(?:おり)?|いたしており)ません"
    r"|(?:もう)?(?:来|送ら|話しかけ|触ら|触|構わ|呼ば|見|言わ|連絡し)ないで(?:[。！]|ください|くれ|もらえ|$)|(?:来|見|触|近寄|話しかけ|関わ|言う|つい(?:て)?来)(?:る)?な(?:[。！]|$)"
    r"|帰(?:れ(?:[。！よ]|$)|って(?:くれ|ください|もらえ))|知るか|知ったこと(?:か|じゃ|では)|勝手に(?:し(?:ろ|て|な)|すれば|どうぞ)|どうぞご(?:自由|勝手)"
    r"|用(?:件|事)?(?:だけ(?:[。、]|で)|はそれだけ|は(?:ない|ありません)|が(?:ない|済)[^。]{0,4}なら)|(?:お話|話|用)は以上|他人(?:です|だ)(?:から|よね|し|[。！])|縁(?:を|が)切"
    r"|付き合(?:い|って)(?:きれ|られ)|存じません|関わり(?:たく|合い)|間に合って(?:ます|おります|います)|失礼(?:し|いたし)ます[。！]*$"
    r"|文句(?:が|あ|なら)|決まりですので|規則ですので|そちらの(?:都合|責任|問題)|(?:ほ|放)っと(?:いて|け)|冗談じゃ(?:ない|ねえ)|^は？$"
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
_NO_REQUEST = re.compile(
    r"(?:くて|てて|でて|なくて|くれて|もらって|いただいて|まして|として|について|によって|にとって|おかげ|だって|していて|ていて|[るた]んで|ので|ひとりで|なんで|どうして|初めて|はじめて|改めて|そして|めて、|ために?)$"
)
_STRENGTH = {"imperative": 1.0, "nasai": 1.0, "forbid": 0.9, "soft": 0.6}
_DOTS = re.compile(r"…|\.{3}|・{3}")

#: Cues counted once per sentence.
_ONCE = (
    ("request", _REQUEST),
    ("evaluation", _EVALUATION),
    ("deciding", _DECIDING),
    ("comply", _COMPLY),
    ("hostile", _HOSTILE),
)
#: Cues that must start at a token.
_AT_WORDS = (("shut", _SHUT), ("stranger", _STRANGER))


def cues(sentence: Sentence, *, begging: bool = False) -> list[CueMatch]:
    """Find the speech acts of one sentence.

    `command` (しろ, 〜て; strength 0–1 by imposition, our scale after Blum-Kulka et al. 1989),
    `request`, `plead`, `evaluation`, `deciding`, `grant`, `comply`, `yes`, `shut` (rejects the
    other), `hostile`, `stranger` (phrases between strangers), `question`.

    begging: the utterance pleads, so its orders do not count as commands.
    """
    text = sentence.text
    found = [CueMatch(cue, m[0]) for cue, how in _ONCE if (m := how.search(text))]
    found += [CueMatch(cue, m[0]) for cue, how in _AT_WORDS for m in at_words(how, sentence)]
    if match := _PLEAD.search(text):
        found.append(CueMatch("plead", match[0]))
    elif not begging and (command := _command(sentence) or _order(sentence)) is not None:
        found.append(command)
    if "？" in text or text.rstrip("。").endswith("か"):
        found.append(CueMatch("question", text[-6:]))
    elif match := _GRANT.search(text):
        found.append(CueMatch("grant", match[0]))
    if match := _YES.match(text):
        found.append(CueMatch("yes", match[0]))
    return found


def begs(text: str) -> bool:
    """Whether an utterance pleads."""
    return _PLEAD.search(text) is not None


def hesitates(text: str) -> bool:
    """Whether an utterance trails off or hesitates."""
    return _DOTS.search(text) is not None


def _order(sentence: Sentence) -> CueMatch | None:
    if match := _COMING.search(sentence.text):
        return CueMatch("command", match[0], 0.7)
    if match := _ORDER.search(sentence.text):
        return CueMatch("command", match[0], 0.6)
    bare = _bare_request(sentence)
    return CueMatch("command", bare, 0.5) if bare else None


def _tail(sentence: Sentence) -> list[Token]:
    """The sentence's tokens without final particles."""
    words = list(sentence.core)
    while words and words[-1].detail == "終助詞" and words[-1].surface not in ("な", "なよ"):
        words.pop()
    return words


def _command(sentence: Sentence) -> CueMatch | None:
    if _GREETING.search(sentence.text):
        return None
    words = _tail(sentence)
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else None
    if last.inflection == "命令形" and last.lemma not in (
        "くださる",
        "くれる",
        "ます",
        "いらっしゃる",
        "だ",
    ):
        kind = "nasai" if last.lemma == "なさる" else "imperative"
        phrase = (before.surface if before else "") + last.surface
        # 頑張れ encourages rather than commands; 「〜であれ」「とはいえ」 are not commands.
        if last.lemma in ("有る", "ある", "言う", "いう"):
            return None
        return CueMatch(
            "command", phrase, 0.4 if last.lemma in ("頑張る", "がんばる") else _STRENGTH[kind]
        )
    if last.surface == "な" and last.detail == "終助詞" and before is not None:
        after = sentence.text[last.end : last.end + 1]
        if before.pos == "動詞" and after not in ("あ", "ぁ", "ー"):
            if before.inflection.startswith("終止形") and after in ("", "。", "！", "よ"):
                return CueMatch("command", before.surface + "な", _STRENGTH["forbid"])
            if before.inflection.startswith("連用形-一般"):
                return CueMatch("command", before.surface + "な", _STRENGTH["soft"])
    return None


def _bare_request(sentence: Sentence) -> str:
    """The final て-form of a request such as 「それ取って」「見てね」, or ""."""
    if "？" in sentence.text[-1:]:
        return ""
    words = _tail(sentence)
    if len(words) < 2 or words[-1].surface not in ("て", "で") or words[-1].detail != "接続助詞":
        return ""
    verb = words[-2]
    if verb.pos != "動詞" and verb.lemma not in ("とく", "ない", "どく", "ちゃう"):
        return ""
    if verb.lemma in (
        "ちゃう",
        "いる",
        "居る",
        "くれる",
        "もらう",
        "いただく",
        "ある",
        "困る",
        "遅れる",
        "なる",
    ):
        return ""
    head = sentence.text[: words[-1].end]
    if _NO_REQUEST.search(head) or re.search(r"ごめん|すみません|ありがと", head):
        return ""
    return verb.surface + words[-1].surface
