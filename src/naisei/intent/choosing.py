"""Which of the options that were offered an answer chooses: by number, or in its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from naisei.japanese.morph import normalise
from naisei.japanese.query_analysis import content_words

_KANJI = {c: n for n, c in enumerate("一二三四五六七八九", 1)}
_KANA = {k: n for n, k in enumerate(("ひと", "ふた", "みっ", "よっ", "いつ", "むっ"), 1)}
_NUMBER = r"(?:\d+|[一二三四五六七八九])"
_ONE = rf"(?:{_NUMBER}(?:番目?|つ目|つめ|個目)?|(?:ひと|ふた|みっ|よっ|いつ|むっ)つ(?:目|め))"
_SEVERAL = re.compile(
    rf"(?:じゃあ?|では|えっと|えーと|多分|たぶん)?[、,\s]*[(（\[#]?({_ONE}(?:[)）\].、,\s・/&]*(?:と|か|and|or)?[\s、,(（]*{_ONE})*)"
    r"[)）\].。]?\s*(?:の(?:ほう|方)?)?(?:です(?:かね|ね)?|で|だ|かな|をお願いします|お願いします|が知りたいです?|について)?[。!！\s]*"
)
_EACH = re.compile(_ONE)
_TAIL = re.compile(r"(?:です|のこと|について|の件|お願いします|かな|でしょうか)*[。！？!?\s]*$")


def chosen(answer: str, options: Sequence[str]) -> tuple[int, ...]:
    """Places (from 0) in `options`, in the order of the answer; empty if it names none.

    Numbers count from 1, only in an answer of numbers alone: 「3日です」 chooses nothing. Words
    choose an option equal to them or containing them.
    """
    folded = unicodedata.normalize("NFKC", answer).strip()
    if not folded or not options:
        return ()
    if found := _SEVERAL.fullmatch(folded):
        places = [_number(m[0]) - 1 for m in _EACH.finditer(found[1])]
        return tuple(dict.fromkeys(p for p in places if 0 <= p < len(options)))
    said = _bare(answer)
    quoted = [at for at, option in enumerate(options) if _names(said, _bare(option))]
    if quoted:
        longest = max(len(_bare(options[at])) for at in quoted)
        return tuple(at for at in quoted if len(_bare(options[at])) == longest)
    if len(said) >= 2:
        within = [at for at, option in enumerate(options) if said in _bare(option)]
        if len(within) == 1:
            return tuple(within)
    return ()


def led(answer: str, options: Sequence[str]) -> tuple[int, str] | None:
    """The option number at the start of an answer, and the rest: 「2です。横浜の場合を知りたい」;
    `None` if it does not."""
    m = _LEADING.match(unicodedata.normalize("NFKC", answer).strip())
    if m is None or not 0 <= (place := _number(m[1]) - 1) < len(options):
        return None
    return place, m[2].strip()


_LEADING = re.compile(
    rf"[(\[#]?({_NUMBER})(?:番目?|つ目|つめ|個目)?[)\]]?(?:です|で|の(?:ほう|方)?(?:です|で)?)?"
    r"[、。,.:]+(?!\d)\s*(\S.*)$",
    re.S,
)


def _names(said: str, option: str) -> bool:
    """Whether an answer is just an option's name."""
    return bool(option) and option in said and not content_words(said.replace(option, "", 1))


def _number(text: str) -> int:
    if digits := re.match(r"\d+", text):
        return int(digits[0])
    return _KANJI.get(text[0]) or _KANA.get(text[:2], 0)


def _bare(text: str) -> str:
    said = _TAIL.sub("", normalise(text))
    return re.sub(r"[\s「」（）()›>・、。:：]", "", said).lower()
