"""Cues of attitude that politeness does not show: who shuts the other out, teases, looks after,
presses, judges, and who answers for themself. Used by the relationship system's measures of speech.

Forms that stand for themselves count only where a word begins.
"""

from __future__ import annotations

import re

from naisei.relationship.speech.level import Found, Sentence, WordList, at_words

#: Keeping the other off, in polite words as in rough ones.
_SHUT = re.compile(
    r"結構です|(?:要|い)りません|必要(?:は)?(?:ありません|ないです|ございません)|ご自由に|お引き取り|ご遠慮|お断り"
    r"|できかねます|いたしかねます|(?:お)?(?:受け|認め|答え|応え|通し|教え)(?:は)?(?:でき|いたし|して(?:おり)?|いたしており)ません"
    r"|(?:もう)?(?:来|送ら|話しかけ|触ら|触|構わ|呼ば|見|言わ|連絡し)ないで(?:[。！]|ください|くれ|もらえ|$)|(?:来|見|触|近寄|話しかけ|関わ|言う|つい(?:て)?来)(?:る)?な(?:[。！]|$)"
    r"|帰(?:れ(?:[。！よ]|$)|って(?:くれ|ください|もらえ))|知るか|知ったこと(?:か|じゃ|では)|勝手に(?:し(?:ろ|て|な)|すれば|どうぞ)|どうぞご(?:自由|勝手)"
    r"|用(?:件|事)?(?:だけ(?:[。、]|で)|はそれだけ|は(?:ない|ありません)|が(?:ない|済)[^。]{0,4}なら)|(?:お話|話|用)は以上|他人(?:です|だ)(?:から|よね|し|[。！])|縁(?:を|が)切"
    r"|付き合(?:い|って)(?:きれ|られ)|存じません|関わり(?:たく|合い)|間に合って(?:ます|おります|います)|失礼(?:し|いたし)ます[。！]*$"
    r"|文句(?:が|あ|なら)|決まりですので|規則ですので|そちらの(?:都合|責任|問題)|(?:ほ|放)っと(?:いて|け)|冗談じゃ(?:ない|ねえ)|^は？$"
)
#: The polite form of no: what is not done, not had, not so.
_REFUSE = re.compile(r"(?:ませ|まへ)ん(?!か(?:[。？、ねと]|$))")
#: Looking after the other: food, warmth, rest, hands that help, things kept for them.
_OFFER = re.compile(
    r"(?:食|飲)(?:うか|むか|む？|べる？|(?:い|べ)な(?:よ|[。！]|$)|え(?:よ|や|[。！]|$)|ってけ|べてけ)|持って(?:け|いけ|きな|行きな|いきな|いきなさい)"
    r"|[てで](?:や(?:る(?:[。よからわ]|$)|ろう)|あげ(?:る|よう))"
    r"|(?:入れ|買っ|取っ|残し|作っ|掛け|置い|温め|むい|炊い|やっ|出し)(?:といた|ておいた|とくから|とく(?:ね|よ)|てある|てあ(?:んだ|った)|てきた(?:から|よ|[。！]|$))"
    r"|ほれ、|あがって|(?:座|休|着|使|入|温ま)(?:れ|りな|んな|っとけ|っときな)(?:よ|[。！]|$)|(?:手|足|顔|傷|荷物)(?:、|を)?(?:見せ|貸し|出し)"
    r"|冷や(?:して|せ)|(?:早く|もう|ちゃんと|ゆっくり|よく)(?:寝(?:ろ|な|て)|帰(?:れ|りな|って)|休(?:め|みな|んで)|食(?:え|べな|べて|べろ))"
    r"|(?:寒|暑|痛|眠|重|つら|しんど)く?(?:ない？|ないか|なかった|ねえか)|送(?:って(?:く|いく|行く)|ろうか|りましょうか)|迎えに(?:行|来)|乗せ(?:ます|る|てく)|手伝(?:う(?:よ|か|わ|[。])|おう|いましょ|いますよ)"
    r"|代わ(?:る(?:よ|わ|[。])|ろう)|半分(?:に|こ|やる|あげ|っこ)|待ってた"
)
#: What both have behind them.
_PAST = re.compile(
    r"覚え(?:て|と)|(?:この|こない)だ|(?:去年|先月|先週|昔|前|あの(?:時|とき|日|頃|夜|夏|冬))(?:は|の|も|、|に|さ|から)|(?:[0-9一二三四五六七八九十]+|何)年(?:前|ぶり|も)"
    r"|いつも(?:の|そう|みたい|どおり|通り)|相変わらず|また(?:来|行|飲|会)(?:る|く|む|う|い|お|こ|ます)"
)
#: Praise such as one gives from above or from afar.
_PRAISE = re.compile(
    r"ご?立派|お上手|熱心で|お(?:若い|詳しい|優しい|忙しい|元気で|似合い)|才能"
    r"|さすが(?:は|です|でいらっしゃ|ですこと)|生き字引|お幸せに|らしい(?:です)?(?:ね|わ|こと)[。、]"
)
_INSULT = WordList("insults")
#: Questions that call to account: an interrogative in a plain sentence.
_PRESS = re.compile(
    r"(?:何|なに|なん|いつ|どこ|誰|だれ|どう|なぜ|なんで|どれ|いくつ|どっち)(?!か|も|と|ちゃら|の間|です|って)[^。？]{0,12}(?:だ|や|じゃ|んだ|(?<!ま)した|て[るた]|った|とる|の)[。？]*$"
)
#: Asking the other to decide, to know, to allow.
_ASK = re.compile(
    r"どう(?:すれば|したら|しよう|しましょう|やって|やれば|なさいますか)|でしょうか|もんですか|(?:て|で|ても|でも)(?:も)?(?:いい|よろしい|大丈夫|構いません)(?:です|でしょう)か|(?:んです|のです)(?:け(?:れ)?ど|が)(?:[。…]|$)|教えて(?:くだ|いただ|もらえ|もらって|くれ)"
)
#: Saying how the other did, or that they are wrong.
_JUDGE = re.compile(
    r"いい(?:ね|ぞ|な)(?:[。！]|$)|(?:えらい|偉い|うまい|上手(?:い)?)(?:ね|な|ぞ|よ|もん|じゃない)?(?:[。！]|$)|うまくなった|よし[。、！]|正解|それで(?:いい|よし)(?:[。よんぞわ]|$)|合格|まあまあ|悪くない|よくなった"
    r"|(?:じゃない|ちがう|違う)(?:[。！、]|よ[。！]|だろ|でしょ)|(?:だめ|駄目|ダメ)(?:だ|よ|[。！])|(?:すぎ|過ぎ)(?:だ|てた|る(?:[。よ]|$))|甘い(?:[。よなわ]|$)|遅い(?:[。よなわ]|$)|遅え"
)
_ANSWER = re.compile(
    r"…*(?:はい|へい|へえ|ええ|うっす|押忍|了解|承知|かしこまり|わかりました|分かりました)"
)
_DOTS = re.compile(r"…|\.{3}|・{3}")


_EACH = (
    ("shut", _SHUT),
    ("offer", _OFFER),
    ("past", _PAST),
    ("praise", _PRAISE),
)
_ONCE = (("refuse", _REFUSE), ("press", _PRESS), ("ask", _ASK), ("judge", _JUDGE))


def attitudes(sentence: Sentence) -> list[Found]:
    """Cues of one sentence.

    `shut` (keeps the other off), `refuse` (a polite no), `offer` (looks after), `past` (what both
    have behind them), `praise` (as from above or afar), `insult` (a rough word: teasing among
    friends, else an attack), `press`, `judge` (from above), `ask`, `answer` (from below).
    """
    found = [Found(cue, m[0]) for cue, search in _EACH for m in at_words(search, sentence)]
    for cue, search in _ONCE:
        if match := search.search(sentence.text):
            found.append(Found(cue, match[0]))
    found += [Found("insult", word) for word in _INSULT.find(sentence)]
    if match := _ANSWER.match(sentence.text):
        found.append(Found("answer", match[0]))
    return found


def hesitates(text: str) -> bool:
    """Whether an utterance as written trails off or holds back."""
    return bool(_DOTS.search(text))
