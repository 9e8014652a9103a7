"""Directness of directives, and deference of one person to another. Used by relationship.

From direct to deferential: しろ・しなさい, して, してくれる？, してください, していただけますか
(the scale of directness of requests: Blum-Kulka et al. 1989, applied to Japanese forms).
"""

from __future__ import annotations

import re

from naisei.japanese.morph import Token
from naisei.relationship.speech.level import Found, Sentence

_COMING = re.compile(r"[てで](?:おいで|らっしゃい)(?:よ|ね|。|！|$)")
_GREETING = re.compile(
    r"(?:ごめん|おやすみ|お休み|お?かえり|お?帰り|いらっしゃ)(?:なさい|なせえ|ませ)"
)
_ASK = r"(?:の|ん)?(?:か(?:な|しら)?|？)"

#: Endings, strongest first; the first that fits names the request.
_REQUESTS = (
    ("deferential", 0.0, re.compile(
        r"(?:いただけ|頂け|くださ(?:い|り)ま|下さいま)(?:ます|ません|ませ|ない|る|れば|たら|ると)|[てで](?:いただき|頂き)たい"
        r"|お願い(?:いたし|致し|申し上げ|でき|出来)|(?<![てで])[おご御][\u3041-\u3096\u3400-\u9fff]{1,4}(?:ください|下さい)"
        r"|[てで](?:もらえ|貰え|くれ)(?:ます|ません)(?:でしょう)?か")),
    ("hedged", 0.35, re.compile(
        rf"[てで](?:くれ(?:る|ない)|もら(?:える|えない|っていい|って(?:も)?いい)|ほしい|欲しい|もらいたい){_ASK}?"
        r"(?:[。！？よねなんだけど、]|$)")),
    ("request", 0.35, re.compile(r"[てで](?:ください|下さい)(?!ま)")),
    ("order", 0.6, re.compile(
        r"[てで](?:くれ|ちょうだい|頂戴|おくれ|くんな)(?=[よやなね。！…]|$)|(?:頼む|頼んだ|任せた|任せる)(?:[よぞわね]|から)*[。！]*$"
        r"|お願い(?:ね|な|よ)?[ー。！]*$|(?:といて|とけ|とき(?:なさい|な))(?=[よねな。！…]|$)")),
)  # fmt: skip
_ADVICE = re.compile(
    r"[ただ](?:ほう|方)が(?:いい|良い|よい|よく)|(?<!する)べき(?:だ|で|じゃ|な|。|！|よ|$)|(?:れば|たら)(?:どう|いい(?:よ|ん|じゃ|ん|と|。|さ)|良い)"
    r"|(?:る|う|く|す|つ|む|ぶ|ぐ|ぬ)と(?:いい|良い)(?:よ|ぞ|と思う|でしょう|だろう|わ|。|$)|気を(?:つけ|付け)(?:て|ろ|な|ましょう)"
    r"|忘れ(?:ないで|ないよう|るな|ずに|ちゃ(?:だめ|駄目|いけ))|ちゃ(?:だめ|ダメ|駄目|いけない)|(?:ない|なきゃ|なくちゃ)と?(?:だめ|ダメ|駄目)(?:だ|よ|で|じゃ|。|！|$)"
    r"|(?:よう|様)に(?:[ねな](?=[。！、…]|$)|してね|しなさい|しろ|してくれ|心がけ|。|！|$)|(?:う|る|く|す)こと(?:。|だ(?:よ|な|ぞ)|ね|！|$)"
)
_EVALUATION = re.compile(
    r"よく(?:やった|できた|出来た|頑張った|頑張って|やって(?:る|いる|くれ)|できて|出来て|気(?:づ|付)いた|言った)|(?:えらい|偉い|感心)(?:な|ぞ|ね|よ|！|。|ぇ|$)"
    r"|その調子|いい(?:子|心がけ|着眼|質問|返事)|期待し(?:て(?:る|い)|とる)|合格だ|まだまだ(?:だ|甘)|なってない|やり直し"
    r"|ご苦労|(?:もっと|ちゃんと|しっかり|きちんと)(?:しろ|しなさい|やれ|やりなさい|して(?:よ|くれ|ね|！|。))|仕方(?:の)?ない(?:な|ね|わね)|しょうがない(?:な|ね|わね)"
    r"|言ったでしょ|言っただろ|わかった(?:か|な|わね)|分かった(?:か|な|わね)|いい(?:か|わね|な)[、？]|(?:聞いて|わかって|分かって)(?:る|いる|ん)のか|お疲れ(?:さん|さん)"
    r"|心配(?:いらない|するな)|焦(?:る|ら)(?:な|なくて)|許可(?:する|しよう)|(?:教え|手伝っ|見せ|直し)て(?:やる|あげる|やろう|あげよう)"
)
#: A thing is not done, or must not be.
_FORBIDDING = re.compile(
    r"(?:ては|ちゃ)(?:困|いけ)|(?:だめ|ダメ|駄目)(?:だ|です|よ|。|！|$)|いけません|困(?:る|ります)(?:ね|よ|の|な|んだ)"
    r"|(?:勝手に|二度と)[^。？]*(?:ないで|るな)"
)
_DECIDING = re.compile(
    r"(?:私|俺|僕|わたし|おれ|わし|こちら)が(?:判断|決め|確認|見(?:る|ます|てから))|判断し(?:ます|よう|た)"
    r"|(?:許可|却下|許さ|認め)(?:する|し(?:ます|よう|ない|ません)|ない|ません|ん(?:。|ぞ))|受け付け(?:られ)?(?:ません|ない)"
)
_REPROACH = re.compile(
    r"(?:どうして|なぜ|何で|なんで)[^。？]*(?:の(?:です|でしょう|。|？|$|だ|か)|ん(?:です|だ))"
    r"|(?:って|と)(?:言|教え|伝え|話し|頼ん)(?:った|った|た|だ)?(?:よね|でしょ|だろ|はず|じゃ)|申し上げましたよね|じゃなくて[。、]"
)
_GRANT = re.compile(
    r"(?:^|、)(?:構わん|かまわん|構わない)(?:よ|ぞ|。|！|$)|[てで]も?(?:いい|構わない|かまわない|よい|良い)(?:よ|ぞ|わよ|から|んだ|さ|。|！|$)(?!か)"
)
_PROGRESS = re.compile(
    r"(?:進んで(?:る|いる|ます)|終わっ(?:た|てる)|でき(?:た|てる|そう)|済ん(?:だ|でる)|やった|出した|片付けた|間に合い?そう)(?:の|か|かい|のか|かな|んだ)*？"
)
#: A て at the end that gives a reason or goes on, no request.
_NO_REQUEST = re.compile(
    r"(?:くて|てて|でて|なくて|くれて|もらって|いただいて|まして|として|について|によって|にとって|おかげ|だって|していて|ていて|[るた]んで|ので|ひとりで|なんで|どうして|初めて|はじめて|改めて|そして|めて、|ために?)$"
)

_STRENGTH = {"imperative": 1.0, "nasai": 1.0, "forbid": 0.9, "soft": 0.6}


def directives(sentence: Sentence) -> list[Found]:
    """Commands, requests, advice, evaluation from above, leave given, decisions, reproach.

    Cues: `command`, `order` (〜て, 〜てくれ), `hedged` (〜てくれない？), `request` (〜てください),
    `deferential` (〜ていただけますか, strength 0), `advice`, `evaluation`, `forbidding`,
    `deciding`, `reproach`, `grant`, `progress`.
    strength, 0–1: how much of the speaker's will it puts on the other; this project's scale.
    """
    text = sentence.text
    found: list[Found] = []
    if (command := _command(sentence)) is not None:
        found.append(command)
    else:
        for cue, strength, search in _REQUESTS:
            if match := search.search(text):
                found.append(Found(cue, match[0], strength))
                break
        else:
            if match := _COMING.search(text):
                found.append(Found("command", match[0], 0.7))
            elif bare := _bare_request(sentence):
                found.append(Found("order", bare, 0.5))
    for cue, strength, search in (
        ("advice", 0.5, _ADVICE),
        ("evaluation", 0.7, _EVALUATION),
        ("forbidding", 0.4, _FORBIDDING),
        ("deciding", 0.6, _DECIDING),
        ("reproach", 0.3, _REPROACH),
        ("progress", 0.3, _PROGRESS),
    ):
        if match := search.search(text):
            found.append(Found(cue, match[0], strength))
    if "？" not in text and not _permission(text) and (match := _GRANT.search(text)):
        found.append(Found("grant", match[0], 0.5))
    return found


def _tail(sentence: Sentence) -> list[Token]:
    """Words up to the last one that is no final particle."""
    words = list(sentence.core)
    while words and words[-1].detail == "終助詞" and words[-1].surface not in ("な", "なよ"):
        words.pop()
    return words


def _command(sentence: Sentence) -> Found | None:
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
        said = (before.surface if before else "") + last.surface
        # 頑張れ cheers rather than commands; 「〜であれ」「とはいえ」 are no commands at all.
        if last.lemma in ("有る", "ある", "言う", "いう"):
            return None
        return Found(
            "command", said, 0.4 if last.lemma in ("頑張る", "がんばる") else _STRENGTH[kind]
        )
    if last.surface == "な" and last.detail == "終助詞" and before is not None:
        after = sentence.text[last.end : last.end + 1]
        if before.pos == "動詞" and after not in ("あ", "ぁ", "ー"):
            if before.inflection.startswith("終止形") and after in ("", "。", "！", "よ"):
                return Found("command", before.surface + "な", _STRENGTH["forbid"])
            if before.inflection.startswith("連用形-一般"):
                return Found("command", before.surface + "な", _STRENGTH["soft"])
    return None


def _bare_request(sentence: Sentence) -> str:
    """「それ取って」「見てね」: a sentence that ends in a verb's て-form; "" if it does not."""
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


_LEAVE = re.compile(
    r"[てで]も?(?:いい|よろしい|構わない|かまわない|構いません|大丈夫|平気)(?:です|でしょう|の|かな|か|？)+(?:か|？|$)"
    r"|させて(?:ください|下さい|もらえ|もらって|いただけ|いただいて(?:も|よ)|頂け|ほしい|くれ)|よろしいでしょうか|よろしいですか|でも(?:いい|よろしい)ですか"
)


def _permission(text: str) -> re.Match[str] | None:
    return _LEAVE.search(text) if "？" in text or "か" in text or "させて" in text else None


_LEARNING = re.compile(
    r"勉強になり|ご?(?:指導|教示|助言|鞭撻|アドバイス|意見|指摘)(?:を|、|いただ|くださ|ありがと|の通り)|教えて(?:ください|いただ|もらえ|もらい|ほし)|教わ"
    r"|(?:ご)?相談(?:が|し(?:たい|て(?:も|いい)))|見習|憧れ|尊敬し|さすが(?:です|、?先輩|、?部長|、?先生)|(?:頑張り|努力し|精進し|気をつけ|気を付け|注意し|反省し|やってみ|直し|やり直し|急ぎ)ます(?!か|ね|よ)"
    r"|叱ら|怒られ|おっしゃる(?:通り|とおり)|仰る(?:通り|とおり)|おかげさま|おかげで"
)
_COMPLY = re.compile(
    r"承知(?:し|いた|です)|かしこまり|了解(?:です|し|いた|っす)|(?:わか|分か|判)りました|はい、?(?:すぐ|今すぐ|ただいま|そう(?:です|します)|やり|やって)"
)
_SORRY = re.compile(
    r"申し訳(?:あり|ござ|ない)|す[みい]ません(?=[。、！でが…]|$)|失礼(?:を)?(?:(?:し|いたし|致し)ました|いたしまして)|お詫び|恐縮|恐れ入り|ご迷惑|ごめんなさい"
)
_SORRY_PLAIN = re.compile(r"ごめん(?!なさい|ください|下さい)|悪い(?:ね|な|けど|、)|悪かった|すまん")
_YIELDING = re.compile(
    r"^…+(?:、)?(?:はい|うん|わか|分か|すみ|すい|はあ|直し|やり|いえ|でも)|…+[。]?$|せめて|そこを(?:何|なん)とか|どうか(?:お|、)|従(?:う|い)"
    r"|(?:ても|でも)(?:いい|よろしい)でしょうか"
)
_THANKS = re.compile(r"ありがとう(?:ござい|存じ)|助かりま(?:す|し)|感謝し")


def deference(sentence: Sentence) -> list[Found]:
    """Cues of looking up: asking leave, learning, complying, apologising, thanking politely,
    giving way.

    Cues: `permission`, `learning`, `comply`, `apology`, `thanks`, `yielding`, `deferential`
    (a request that leaves the other free). strength, 0–1; this project's scale.
    """
    text = sentence.text
    found = []
    if match := _permission(text):
        found.append(Found("permission", match[0], 0.8))
    elif match := _REQUESTS[0][2].search(text):
        found.append(Found("deferential", match[0], 0.7))
    for cue, strength, search in (
        ("learning", 0.9, _LEARNING),
        ("comply", 0.7, _COMPLY),
        ("apology", 0.6, _SORRY),
        ("apology", 0.3, _SORRY_PLAIN),
        ("thanks", 0.4, _THANKS),
        ("yielding", 0.3, _YIELDING),
    ):
        if match := search.search(text):
            found.append(Found(cue, match[0], strength))
    return found
