"""The rival of the director's checks: the same rules as plain substrings and regular expressions.

Straight from the retry-judgement specification, §§2 to 6 and 8, without morphology: a word
counts wherever its characters stand. For the comparisons of quality and speed only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
_LABEL = re.compile(r"(?:やな|ヤナ|あゆ|アユ|姉様)\s*[：:]")
_WORD = re.compile(r"[一-龥々]{2,}|[ァ-ヶー]{2,}|[A-Za-z]{3,}")
_TURN = re.compile(r"ところで|そういえば|話は変わ|それより|別の話")


@dataclass(frozen=True)
class PlainCheck:
    name: str
    status: str
    reason: str
    suggestion: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class PlainVerdict:
    """The same answer as the director's: every check with reason and evidence, the score."""

    status: str
    checks: tuple[PlainCheck, ...]
    tone: dict[str, int]
    sentences: int
    topics: int

    def statuses(self) -> dict[str, str]:
        return {check.name: check.status for check in self.checks}


_SEVERITY = {"PASS": 0, "WARN": 1, "RETRY": 2}
_SAID = {
    "format": ("行数が多すぎます。", "5行以内にしてください。"),
    "setting": ("設定に反しています。", "同居の前提で言い直してください。"),
    "praise": ("褒め言葉があります。", "情報だけを伝えてください。"),
    "scatter": ("話が散っています。", "話題を一つに絞ってください。"),
    "logic": ("二重否定です。", "否定を一つにしてください。"),
    "tone": ("口調が違います。", "キャラクターらしく話してください。"),
    "loop": ("同じ言葉の繰り返しです。", "別の言い方にしてください。"),
    "jump": ("話題を変えるのが早すぎます。", "今の話題を深めてください。"),
    "script": ("台本の形式です。", "話す言葉だけを書いてください。"),
}


def plain_check(text: str, speaker: str, history: Sequence[str] = ()) -> PlainVerdict:
    """The six hard rules, and the three that only warn, on one line of `yana` or `ayu`."""
    text = text.translate(_MARKS).strip()
    label = _LABEL.match(text)
    if text.startswith("「") and text.endswith("」"):
        text = text[1:-1]
    rows = text.split("\n")
    text = "\n".join(_SPACE.sub(" ", _RUN.sub(r"\1", row)) for row in rows)
    masked = _QUOTED.sub("", text)
    pieces = [piece for piece in re.split(r"[。！？\n]+", text) if piece.strip()]
    topics = {a or b for a, b in _TOPIC.findall(text)}
    apart = _APART.findall(text)
    twice = _TWICE.findall(text)
    praised, words = _praise(masked) if speaker == "ayu" else ("PASS", [])
    tone, parts, hits = _tone(masked, speaker, len(pieces))
    checks = (
        _found("format", _form(len(rows)), rows[5:6]),
        _found("setting", "RETRY" if apart else "PASS", apart),
        _found("praise", praised, words),
        _found("scatter", _scatter(len(pieces), len(topics)), topics),
        _found("logic", "RETRY" if twice else "PASS", twice),
        _found("tone", tone, hits),
        _found("loop", *_loop(text, history)),
        _found("jump", *_jump(text, history, topics)),
        _found("script", "WARN" if label else "PASS", [label[0]] if label else []),
    )
    worst = max((check.status for check in checks), key=_SEVERITY.__getitem__)
    return PlainVerdict(worst, checks, parts, len(pieces), len(topics))


def _found(name: str, status: str, evidence: Iterable[str]) -> PlainCheck:
    reason, suggestion = ("", "") if status == "PASS" else _SAID[name]
    return PlainCheck(name, status, reason, suggestion, tuple(evidence))


def _form(rows: int) -> str:
    return "RETRY" if rows >= 8 else "WARN" if rows >= 6 else "PASS"


def _praise(masked: str) -> tuple[str, list[str]]:
    worst, words = "PASS", []
    for sentence in re.split(r"[。！？\n]+", masked):
        if found := _EVALUATION.findall(sentence):
            words += found
            worst = "WARN" if worst == "PASS" else worst
            if _PARTNER.search(sentence) and _AFFIRMED.search(sentence):
                worst = "RETRY"
    return worst, words


def _scatter(sentences: int, topics: int) -> str:
    if sentences >= 4 and topics >= 3:
        return "RETRY"
    return "WARN" if sentences >= 3 or topics >= 2 else "PASS"


def _loop(text: str, history: Sequence[str]) -> tuple[str, list[str]]:
    said = Counter(_WORD.findall(text))
    worn = [word for word, times in said.items() if times > 3]
    if history:
        worn += [word for word in said if sum(word in line for line in history[-5:]) >= 4]
    return "WARN" if worn else "PASS", worn


def _jump(text: str, history: Sequence[str], topics: set[str]) -> tuple[str, list[str]]:
    turn = _TURN.findall(text)
    if not history or not (turn or topics):
        return "PASS", []
    before = {word for line in history[-2:] for word in _WORD.findall(line)}
    early = not before & set(_WORD.findall(text))
    return ("WARN" if early else "PASS"), turn if early else []


def _tone(masked: str, speaker: str, sentences: int) -> tuple[str, dict[str, int], list[str]]:
    if speaker == "yana":
        style = sentences <= 2 and ("！" in masked or "？" in masked)
    else:
        style = len(_POLITE.findall(masked)) >= 2
    markers, words = _MARKERS[speaker].findall(masked), _WORDS[speaker].findall(masked)
    parts = {"marker": int(bool(markers)), "vocab": int(bool(words)), "style": int(style)}
    score = sum(parts.values())
    return ("RETRY", "WARN", "PASS", "PASS")[score], {"score": score, **parts}, markers + words
