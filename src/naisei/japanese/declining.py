"""Detects texts without a request: a withdrawn request, thanks, a greeting."""

from __future__ import annotations

import re


def declines(text: str, question: str = "", actions: str = "") -> bool:
    """Whether a Japanese or English text only withdraws a request or is courtesy. Everything else
    is left to a model.

    question: the question it answers. actions: possible actions; a word found in these two
    (「取り消す」) may choose one and does not withdraw. A bare no declines, except to a yes/no
    question.
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


def asks_nothing(text: str) -> bool:
    """Whether a text thanks, greets or withdraws, perhaps with a remark:
    「助かったよ、コップはもういい」. The caller checks for requests first."""
    return declines(text) or _THANKS.search(text.lower()) is not None


_MARKS = re.compile(r"[\s、。,.!！?？…~〜()（）「」]+")
_NO = {"いいえ", "いえ", "いや", "ううん", "no", "nope", "nah"}
_OPEN_QUESTION = re.compile(
    r"どちら|どっち|どれ|どの|どう|何|いつ|どこ|誰|だれ|それとも|か、|"
    r"\b(?:or|which|what|who|whom|when|where|how)\b"
)
_SAID = r"(?:です|でした|ます|ました|ません|よ|ね|な(?!し)|わ|から|ので|んで|けど|が)*"
_ASKED = r"(?:ください|下さい|もらえますか|いただけますか|ほしい|欲しい|くれ)?"
#: Words that withdraw a request. verb: may also name an action.
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
#: Thanks, greetings and apologies.
_KIND_WORDS = (
    r"ありがと[うね]?|有難う|どうも|サンキュー|感謝|ごめん(?:なさい|ね)?|すみません|すいません|"
    r"申し訳(?:ない|ありません)|助か(?:った|りました|るなあ|るわ)|おはよう|こんにちは|こんばんは|おやすみ(?:なさい)?|"
    r"さようなら|ただいま|(?:行|い)ってきます|(?:お疲れ|おつかれ)(?:さま|様)?|はじめまして|初めまして|よろしくね"
)
_KIND_WORDS_EN = (
    r"sorry|thanks|thank you|thx|hello|hi|good (?:morning|evening|afternoon|night)|bye|goodbye|"
    r"see you"
)
#: A text with these requests nothing.
_THANKS = re.compile(
    rf"{_KIND_WORDS}|独り言|聞かなかった|取り?消[しす]|キャンセル|見つかった|手伝わなくて|自分で.{{1,6}}から|(?:何|なに)もいらな|"
    rf"\b(?:{_KIND_WORDS_EN}|nothing|enough|found (?:it|the)|"
    r"it's (?:fine|all right|okay)|myself)\b"
)
#: Fillers, and phrases for wanting nothing.
_COURTESY = re.compile(
    rf"(?:{_KIND_WORDS}|"
    r"ございま(?:す|した)|やっぱり?|やはり|もう|それなら|それでは|では|じゃあ?|今回は|今は|今日は|とりあえず|まあ|"
    r"特に|別に|せっかくですが|せっかくだけど|お?気遣い(?:なく)?|ご親切に|また|さっきの(?:は|話は)?|(?:どれ|どちら|どっち)も|(?:それ|これ)は|今の(?:は|話は)?|"
    r"えっと|ええと|うーん|あの|あ(?=[\sー]|$)|"
    r"です|だ(?=\s|$)|(?<=\s)(?:ね|よ|な)(?=\s|$)|"
    rf"\b(?:{_KIND_WORDS_EN}|actually|oh|well|hm+|um+|uh|ok|okay|please|then|for now|"
    r"just|and|but|so|anyway|"
    r"after all|hey|much|very|a lot|"
    r"any ?more|i guess|i think|now)\b)"
)
