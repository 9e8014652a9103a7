"""Consent to an action: a bare yes, a plain no, or neither."""

from __future__ import annotations

import re
import unicodedata

from naisei.japanese.declining import declines


def consent(said: str, action: str = "") -> bool | None:
    """Whether an answer to "Shall I?" is a bare, unconditional yes (`True`) or a plain no
    (`False`). `None` for everything else: a yes with a condition, a question, a change or a denial
    is not consent. Only a closed set of forms counts, so that unclear answers never trigger an
    action.

    action: the action in question; a yes may repeat it.

    >>> consent("はい、お願いします"), consent("yes, once I know the price"), consent("やめて")
    (True, None, False)
    """
    text = unicodedata.normalize("NFKC", _VARIANTS.sub("", said)).lower().replace("’", "'")
    if not text.strip() or "?" in text:
        return None
    bare = _MARKS.sub(" ", f" {text} ")
    rest, yeses = _YES.subn(" ", bare)
    if yeses and _only_repeats(rest, action):
        return True
    bare = bare.strip()
    refused = bare in _NO or declines(said) or _REFUSES.fullmatch(bare) is not None
    return False if refused else None


def _only_repeats(rest: str, action: str) -> bool:
    """Whether the words besides a yes are courtesies or repeat the action. Words of withdrawal
    (「取り消して」) repeat an action only with its object."""
    rest = _MARKS.sub(" ", _COURTESY.sub(" ", _MARKS.sub(" ", rest))).strip()
    if not rest:
        return True
    withdraws = declines(rest) or _REFUSES.fullmatch(rest)
    return not withdraws and any(form.fullmatch(rest) for form in _repeated(action))


def _repeated(action: str) -> list[re.Pattern[str]]:
    """Forms in which a yes repeats an action: its text or the end of it, as a request."""
    text = _MARKS.sub(" ", unicodedata.normalize("NFKC", action).lower()).strip()
    if text.isascii():
        verb, *objects = text.split() or [""]
        known = "|".join(["it|them|that|this|of|the|a|an|my", *map(re.escape, objects)])
        return [re.compile(rf"{re.escape(verb)}(?: (?:{known}))*")]
    forms = []
    for start in re.finditer(r"(?<![一-龥々ァ-ヶー])[一-龥々ァ-ヶー]|^.", text):
        words = text[start.start() :]
        ends = _ENDS.get(words[-1:])
        asked = f"|{re.escape(words[:-1])}(?:{ends}){_ASKED}" if ends else ""
        if words.endswith("する"):
            asked = rf"|{re.escape(words[:-2])}(?:して{_ASKED}|を?お願いします)?"
        forms.append(re.compile(f"{re.escape(words)}{asked}"))
    return forms


#: The last syllable of a verb's dictionary form → its continuation in a request.
_ENDS = {
    "す": "して", "く": "いて|って", "ぐ": "いで", "む": "んで", "ぶ": "んで", "ぬ": "んで",
    "つ": "って", "う": "って", "る": "って|て",
}  # fmt: skip
_ASKED = r"(?:下さい|ください|くれ|ちょうだい|頂戴|いいです|いいですよ|いいよ)?(?:ね|よ)?"
#: Emoji variation selectors and skin tones.
_VARIANTS = re.compile("[\ufe0f\U0001f3fb-\U0001f3ff]")
_MARKS = re.compile(r"[\s、。,.!…~〜・()「」『』\"😊😄🙂🙏🎉🚀]+")
_YES = re.compile(
    r"(?<![^ ])(?:"
    r"はー?い|hai|おけ|うん(?:うん)?|ええ|合って(?:いる|います|る|ます)|もちろん(?:です)?|オッケー|オーケー|ハイ|"
    r"(?:はい|うん|ええ)?(?:それで|これで|ぜひ|では|じゃあ?)?(?:お願い(?:しまー?す|致します|いたします)?|"
    r"頼む|頼みます|よろしく(?:お願い(?:します|致します|いたします))?)|"
    r"(?:それ|これ)で(?:いい|良い|よい|大丈夫|結構|ok|よろしい|オッケー)(?:です)?|いいですよ|いいよ|"
    r"(?:かま|構)(?:いません|わない(?:です)?)|問題(?:ない(?:です)?|ありません)|"
    r"(?:はい)?(?:そうして|やっ(?:ちゃっ)?て|進めて|実行して)(?:下さい|ください|くれ|ちょうだい)?|"
    r"どうぞ|[y1]|👍|👌|✅|○|🙆|"
    r"yes+|yeah|yep|yup|ok|okay|sure(?: thing)?|of course|certainly|absolutely|definitely|correct|"
    r"agreed|i agree|confirm(?:ed)?|i confirm|approved|proceed|"
    r"go (?:ahead|for it)|do (?:it|that|so)|please do|carry on|sounds good"
    r")(?:です|だ)?(?:ね|よ)?ー*(?![^ ])"
)
_COURTESY = re.compile(
    r"(?<![^ ])(?:どうも|(?:どうも)?ありがとう(?:ございます)?|助かります|すみません|大丈夫です|"
    r"そうです|了解(?:です|しました)?|承知しました|わかりました|分かりました|いいです|もう一度|もう一回|"
    r"please|pls|that's fine|thanks|thank you|thx|very much|so much|a lot|oh|then|just|once more|"
    r"again"
    r")(?:ね|よ)?(?![^ ])"
)
_NO = {"n", "2", "👎", "×", "❌", "no way", "absolutely not", "definitely not", "please no"}
_REFUSES = re.compile(
    r"(?:(?:いいえ|いえ|いや|ううん|no|nope|nah) )?(?:"
    r"(?:please )?(?:do not|don't|never)(?: \w+ (?:it|that|this|so))?|"
    r"(?:違|ちが)(?:う|います)(?:よ|ね)?|"
    r".{0,12}(?:だめ|ダメ|駄目|しないで|やめて|やめ(?:ます|る|た|よう))(?:です|だ|下さい|ください|おきます)?(?:ね|よ)?)"
)
