"""The rival of the director's checks: the same rules as plain substrings and regular expressions.

Straight from the retry-judgement specification, §§2 to 6, without morphology: a word counts
wherever its characters stand. For the comparisons of quality and speed only.
"""

import re
from dataclasses import dataclass

__all__ = ["PlainVerdict", "plain_check"]

_QUOTED = re.compile(r"「[^「」]*」|（[^（）]*）")
_RUN = re.compile(r"([！？。、…])\1+")
_SPACE = re.compile(r"[ \t\u3000]+")
_MARKS = str.maketrans({"!": "！", "?": "？", "｡": "。", "､": "、", "(": "（", ")": "）"})
_APART = re.compile(
    r"別居|一人暮らし|ひとり暮らし|離れて暮ら|別々に住|別々の家|それぞれの家|お互いの家|実家|"
    r"の家に遊びに|うちに泊まりに|一緒に住んでいない"
)
_EVALUATION = re.compile(r"すごい|凄い|素晴らしい|正解|完璧|天才")
_PARTNER = re.compile(r"あなた|きみ|君|ユーザー|その答え|その考え|姉様|お姉ちゃん")
_AFFIRMED = re.compile(r"正しい|合って|素敵|その通り|です")
_TOPIC = re.compile(
    r"([^\s、。！？]{1,8}?)(?:について|の話)|([一-龥ァ-ヶーぁ-ん]{1,8})は(?=[一-龥ぁ-んァ-ヶ])"
)
_TWICE = re.compile(
    r"まだ[^。！？\n]*?じゃない|まだ[^。！？\n]*?では(?:ない|ありません)|なくはなくない|ことはなくない"
)
_MARKERS = {
    "yana": re.compile(r"わ！|へ？|よね|かな|かも"),
    "ayu": re.compile(r"でしょう|ですね|ました|ません"),
}
_WORDS = {
    "yana": re.compile(r"やだ|ほんと|えー|うーん|すっごい|そっか|だね|ね。"),
    "ayu": re.compile(r"つまり|要するに|一般的に|目安|推奨|ですよ|です。"),
}
_POLITE = re.compile(r"(?:です|ます|でした|ました)(?=[ねよか]*(?:[。！？\n]|$))")


@dataclass(frozen=True)
class PlainVerdict:
    """Status by check name, and the counts."""

    checks: dict[str, str]
    sentences: int
    topics: int


def plain_check(text: str, speaker: str) -> PlainVerdict:
    """All six hard rules on one line of `yana` or `ayu`."""
    text = text.translate(_MARKS).strip()
    if text.startswith("「") and text.endswith("」"):
        text = text[1:-1]
    rows = text.split("\n")
    text = "\n".join(_SPACE.sub(" ", _RUN.sub(r"\1", row)) for row in rows)
    masked = _QUOTED.sub("", text)
    pieces = [piece for piece in re.split(r"[。！？\n]+", text) if piece.strip()]
    topics = len({a or b for a, b in _TOPIC.findall(text)})
    checks = {
        "format": "RETRY" if len(rows) >= 8 else "WARN" if len(rows) >= 6 else "PASS",
        "setting": "RETRY" if _APART.search(text) else "PASS",
        "praise": _praise(masked) if speaker == "ayu" else "PASS",
        "scatter": _scatter(len(pieces), topics),
        "logic": "RETRY" if _TWICE.search(text) else "PASS",
        "tone": _tone(masked, speaker, len(pieces)),
    }
    return PlainVerdict(checks, len(pieces), topics)


def _praise(masked: str) -> str:
    worst = "PASS"
    for sentence in re.split(r"[。！？\n]+", masked):
        if _EVALUATION.search(sentence):
            if _PARTNER.search(sentence) and _AFFIRMED.search(sentence):
                return "RETRY"
            worst = "WARN"
    return worst


def _scatter(sentences: int, topics: int) -> str:
    if sentences >= 4 and topics >= 3:
        return "RETRY"
    return "WARN" if sentences >= 3 or topics >= 2 else "PASS"


def _tone(masked: str, speaker: str, sentences: int) -> str:
    if speaker == "yana":
        style = sentences <= 2 and ("！" in masked or "？" in masked)
    else:
        style = len(_POLITE.findall(masked)) >= 2
    score = (
        bool(_MARKERS[speaker].search(masked)) + bool(_WORDS[speaker].search(masked)) + bool(style)
    )
    return ("RETRY", "WARN", "PASS", "PASS")[score]
