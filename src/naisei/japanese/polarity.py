"""Whether two sentences say the opposite: needed or not, free or not, possible or not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["opposed"]


#: (what it is about, said to hold, said not to hold).
_POLES = tuple(
    (name, re.compile(yes), re.compile(no))
    for name, yes, no in (
        (
            "必要",
            "必要(?:です|があり|となり|になり|な(?!い)|$|。)|要(?:し|る|り)ます|なければなりません|義務|必須|要提出",
            "不要|必要(?:は|が)?(?:ありません|ない|なし|ございません)|要(?:し|り)ません|いりません|任意|省略でき",
        ),
        (
            "無料",
            "無料|無償|(?:料|代|費|金|円)?は?かかりません|(?:料|費|代)なし",
            "有料|有償|かかります|自己負担|(?:料|費|代)が(?:必要|かか)",
        ),
        (
            "可能",
            "でき(?:ます|る)|可能(?:です|。|$)|いただけます|利用可|受けられ(?:ます|る)|もらえ(?:ます|る)|使え(?:ます|る)|借りられ(?:ます|る)|認め(?:ます|られます)|"
            "構いません|かまいません|大丈夫です",
            "でき(?:ません|ない|ず)|不可|禁止|いただけません|お断り|受けられ(?:ません|ない)|もらえ(?:ません|ない)|使え(?:ません|ない)|借りられ(?:ません|ない)|"
            "認め(?:ません|られません|ない)|ご遠慮|お控え|いけません|ないでください|できかね",
        ),
        (
            "対象",
            "対象(?:です|に(?:なり|含)|となり)",
            "対象外|対象(?:に|と)(?:は)?(?:なりません|ならない|含)|対象では",
        ),
        (
            "含む",
            "含(?:み|む|ま(?:れ)ます)(?!せん)|込み",
            "含(?:み|まれ)ません|含まない|含まず|別途|別料金|除(?:く|き)",
        ),
        (
            "開く",
            "開(?:館|庁|院|園|店)(?:します|しています|して|日)|受け付けて(?:います|おり)|営業",
            "休(?:館|庁|み|業|診|止)|閉(?:館|庁)|受け付け(?:ません|ていません)|お休み",
        ),
        ("継続", "(?:継続|続け)(?:ます|して|できます)", "廃止|終了|中止"),
        (
            "変わる",
            "変わります|変更(?:し|され)ます",
            "変わり(?:ません|はありません)|変更(?:は|し)(?:ありません|ません)",
        ),
        (
            "返る",
            "(?:返金|返却|払い戻し|返還)(?:し|でき|され)ます",
            "(?:返金|返却|払い戻し|返還)(?:は|し|でき|され)*(?:ません|ない|いたしません)",
        ),
    )
)


def opposed(sentence: str, others: Sequence[str]) -> str:
    """What the sentence says of a matter where the others say nothing but its opposite; empty if
    there is none.

    >>> opposed("手数料は無料です。", ["手数料がかかります。"])
    '無料'
    """
    plain = unicodedata.normalize("NFKC", sentence)
    told = [unicodedata.normalize("NFKC", other) for other in others]
    for name, yes, no in _POLES:
        says_no = no.search(plain) is not None
        says_yes = yes.search(no.sub("", plain)) is not None
        if says_yes == says_no:
            continue
        yesses = any(yes.search(no.sub("", other)) for other in told)
        noes = any(no.search(other) for other in told)
        if (says_yes and noes and not yesses) or (says_no and yesses and not noes):
            return name
    return ""
