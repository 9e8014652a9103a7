"""Answers that hold no answer: 「その中にはありません」, 「特にありません」, 「わかりません」."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["at_a_loss", "none_of_them"]

_LEAD = r"(?:いいえ|いえ|いや|うーん|ええと|えっと|すみません|no)?[、,.。!\s]*"
_NONE = re.compile(
    rf"{_LEAD}(?:(?:(?:そ|こ)の(?:中|なか|どれ|いずれ)(?:の|から)?|選択肢|リスト|候補|一覧|どれ|いずれ|ここ|そこ|この6つ)"
    r"(?:の中)?(?:に|で|と)?(?:は|も|でも)?(?:特に)?"
    r"(?:ありません|ないです|無いです|ない|なかった|ございません|当てはまりません|当てはまらない|該当しません|違います|違う|ちがいます|近くない|近くありません)"
    r"|none(?: of (?:these|them|those))?(?: (?:fits?|apply|applies))?|neither)"
    r"(?:です|ね|よ|な|かな|けど)*[。.!\s]*",
    re.I,
)
_NOTHING = re.compile(
    rf"{_LEAD}(?:(?:もう|ほかに|他に|特に|とくに|別に)*(?:は|も|何も)?(?:ありません|ないです|ない|なし|ございません)"
    r"|(?:よく|ちょっと|あまり|まったく|全然)*(?:分か|わか|判)(?:らない|りません|んない)|さあ|(?:知|し)(?:りません|らない)"
    r"|何でも(?:いい|よい|良い)|なんでも(?:いい|よい|良い)|お?任せします|おまかせ(?:します)?"
    r"|nothing(?: (?:in particular|else|more))?|i (?:do not|don't) know|not sure|no idea|anything)"
    r"(?:です|ね|よ|な|かな|けど|が)*[。.!…\s]*",
    re.I,
)


def none_of_them(answer: str) -> bool:
    """Whether an answer says that none of what was offered fits, and nothing else.

    >>> none_of_them("その中にはありません。"), none_of_them("その中にはないです、有休の話です")
    (True, False)
    """
    return _NONE.fullmatch(_folded(answer)) is not None


def at_a_loss(answer: str) -> bool:
    """Whether an answer says that there is nothing to say, or that the person does not know.

    >>> at_a_loss("特にありません。"), at_a_loss("お金がありません")
    (True, False)
    """
    folded = _folded(answer)
    return not any(c.isalnum() for c in folded) or _NOTHING.fullmatch(folded) is not None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().strip("「」")
