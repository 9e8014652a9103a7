"""Praise of the one spoken to: an evaluation, and that it is said of the hearer.

An evaluation counts as praise where it is said of the hearer (「姉様の直感は鋭い」), of something
that is the hearer's doing (「その発想、すてき」), or called out with nothing else it could be said
of (「お見事です」). Of a thing, a third person or oneself, denied or quoted, it is none. For the
director.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from importlib.resources import files

from naisei.japanese.assertion_scope import denied
from naisei.japanese.screen import Screen

__all__ = ["Praises"]


@lru_cache(maxsize=1)
def _words() -> tuple[str, str, str]:
    """Expressions of `praise_words.txt`: said of people by nature, said of things too, doings."""
    text = (files("naisei.japanese") / "praise_words.txt").read_text(encoding="utf-8")
    personal, general, doing = (
        "|".join(line for line in part.split() if line) for part in text.split("---")
    )
    return personal, general, doing


@lru_cache(maxsize=1)
def _evaluations() -> tuple[re.Pattern[str], Callable[[str], bool]]:
    """All evaluations, and what is false for a line without one: for most lines."""
    personal, general, _ = _words()
    words = rf"(?P<personal>{personal})|(?P<general>{general})"
    return re.compile(words), Screen([words]).any


_ADDRESSED = (
    r"リスナー|ユーザー|"
    r"お便り(?:の|を)|ペンネーム|皆(?:様|さん|さま)|みなさ[まん]|あなた|きみ|(?<![\u3400-\u9fff])君(?=[のはって])"
)
#: The speaker as topic or subject.
_SELF = re.compile(
    r"(?:私|わたし|あたし|自分|僕|俺)(?:って|は|が|も|、|の(?!姉|妹)|ながら|でも|だって|(?=えら|偉|天才|すご|さすが))"
)
_THIRD = re.compile(
    r"(?:彼女?|あいつ|あの(?:人|子)|先生|先輩|店長|店員|母|父|お母さん|お父さん|おばあちゃん|叔母|友[達人]|[\u3400-\u9fffァ-ヶ]{1,4}(?:さん|くん))(?:は|が|って|も|の|、)"
)
_SUBJECT = re.compile(
    r"((?!それは|これは|今のは|そこは|本当は|実は|と[っー]?ても|とっても|なんとも|いつも|何とも|もっとも|最も|今日も|今回も|毎度も|何よりも|どれも|あまりにも|まさか|本当が|なにより)[^、。！？\s〓「」]{1,14}?)(?:(?<!と)は|が|って(?!い)|も|こそ|なんて)(?=[^ぁ-ん]|[ぁ-ん]{2}|\Z)"
)
_POINTED = r"(?:その|この|こんな|そんな|そういう|お|ご)"
_HONORIFIC = re.compile(
    r"なさ(?:る|っ|い|れ)|(?:て|で)?いらっしゃ(?!い)|おあり|お持ちで|ご自身|ご自分|でいらっしゃ|(?:て|で)くださ(?:る|っ|り)|ご(?:覧|存[じ知])"
)
_TAIL = re.compile(
    r"[いなのだっ]?[ぁ-ん]{0,4}?(?:です|だ|でした|だった|でしょう|すぎ|過ぎ|じゃん|じゃない(?:ですか|？|の)|ではありませんか)?(?:ます|る|た)?"
    r"(?:の|よ|ね|な|わ|か|ー|〜|ぁ|あ|さ|もん|っす)*(?:[。！？…♪〜、]|$)"
)
#: What may stand before an evaluation that is called out.
_CALL = re.compile(
    r"(?:[うわぁあーえおへっほぉはいんね、。！？…\s]|本当に|ほんとに?|本当|いやあ|いや|とても|すごく|なんて|なんと|実に|まさに|やっぱり?|やはり|それは|それ|これは|これ|今日も|めっちゃ|超|もう|まあ|まさか|もちろん|"
    r"さすが|相変わらず|いつも|毎回|大変|非常に|心から|つくづく|本当|こんな|そんな)*\Z"
)
#: Said to somebody who did something, whatever it was.
_REPLY = re.compile(
    r"い?(?:です|でした)(?:ね|よ)?[。！、]|い?ね[え〜ー]?[。！]|い(?:質問|指摘)|。|！"
)


#: So much of a sentence to either side of an evaluation says whom it is of.
_REACH = 80
#: So many praising words are reported.
_ENOUGH = 8


class Praises:
    """Finds praise of the hearer. names: the partner's, as the speaker says them."""

    def __init__(self, names: Collection[str]) -> None:
        partner = "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)"
        doing = _words()[2]
        self._word, self.sign = _evaluations()
        self._hearer = re.compile(rf"{partner}|{_ADDRESSED}")
        self._owned = re.compile(rf"(?:{partner}|{_ADDRESSED})の[^、。はがも]{{0,4}}\Z")
        self._pointed = re.compile(rf"{_POINTED}[^、。]{{0,6}}(?:{doing})")
        self._described = re.compile(
            rf"(?:[いなる]|的な|の|すぎる|い)?(?:お|ご)?(?:[\u3400-\u9fff]{{0,3}})(?:{doing}|料理人|芸術家|お姉ちゃん|姉様|妹(?!さん))"
        )

    def find(self, masked: str, sentences: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
        """Spans of the praising words in a folded line with quotations masked."""
        found = []
        spoken_of = self._hearer.search(masked) is not None
        own = not spoken_of and _SELF.search(masked) is not None
        for start, end in sentences:
            sentence = masked[start:end]
            pointed = not own or self._pointed.search(sentence) is not None
            for match in self._word.finditer(sentence):
                left = max(0, match.start() - _REACH)
                around = sentence[left : match.end() + _REACH]
                directed = self._directed(around, match, match.start() - left, spoken_of)
                strong = match.lastgroup == "personal"
                if not pointed:
                    directed -= 3
                if directed < (1 if strong else 2) or denied(sentence, match.end()):
                    continue
                found.append((start + match.start(), start + match.end()))
                if len(found) == _ENOUGH:
                    return found
        return found

    def _directed(self, sentence: str, word: re.Match[str], at: int, spoken_of: bool) -> int:
        """How much speaks for the hearer as the one evaluated, less what speaks for another.

        sentence: what stands around the word, which begins at `at` in it.
        """
        before, after = sentence[:at], sentence[at + len(word[0]) :]
        if after.startswith(("とは", "って言", "っぽ", "な？", "？", "かどうか", "かな")):
            return 0
        score = 0
        described = self._described.match(after) is not None
        subjects = list(_SUBJECT.finditer(before))
        if subjects:
            last = subjects[-1]
            said_of = before[: last.end()].rsplit("、", 1)[-1]
            if self._hearer.search(said_of) or self._pointed.search(said_of):
                score += 2
            elif _SELF.search(said_of):
                score -= 3
            else:
                score -= 1 if described else 2
        elif _CALL.search(before) and (
            _TAIL.match(after) if word.lastgroup == "personal" else _REPLY.match(after)
        ):
            score += 1 if word.lastgroup == "personal" else 2 if "です" in after[:4] else 0
        if _THIRD.search(before) and not self._hearer.search(before):
            score -= 2
        if self._pointed.search(before[-12:] + after[:0]) and not subjects:
            score += 2
        if self._owned.search(before):
            score += 2
        if self._hearer.search(sentence):
            score += 1 if subjects else 2
        elif spoken_of:
            score += 1 if not subjects else 0
        if described:
            score += 2 if not subjects else 1
        if _HONORIFIC.search(sentence):
            score += 1
        return score
