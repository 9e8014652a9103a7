"""Words of evaluation, and whether they are said of the partner. Source: the spec, §5."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from naisei.japanese.cues import CueSearch, CueSpec
from naisei.japanese.negation import denied

__all__ = ["Evaluations", "Span"]

#: Start and end in a text.
Span = tuple[int, int]

#: What may follow an evaluation word that is the predicate, and nouns that stand for a person.
_PREDICATE = re.compile(
    r"な?(?:人|ひと|方|かた|お方|姉|妹|才能|センス|発想|考え|答え|回答|意見|観察力|直感|判断|着眼点|感性|記憶力|腕前|アイデア|案)"
    r"(?:です|だ|で|でした|ですね|ね|よ|[。！、…\s]|$)"
    r"|(?:です|でした|だ|でしょう|でしか|と(?:思|言|しか|い)|じゃ(?:ない|あり)|では(?:ない|あり)|か[もとな]|の(?:です|よ|ね)|ん(?:です|だ)"
    r"|的?(?:です|な)|すぎ|過ぎ|さ|ね|よ|な[ぁあー]|ー|〜|！|。|？|、|…|♪|\s|$)"
)
_OWN = re.compile(
    r"(?:(?:の|が)[^。！？、はもが\n]{0,14})?(?:は|も|って|が|こそ)、?[^はがも。！？\n]{0,14}\Z"
)
_CALLED = re.compile(
    r"(?:、|。|！|って、|は、|\s)(?:やはり|やっぱり|本当に|ほんとうに|とても|さすが(?:に|です)?|まさに|今日も|、){0,3}\Z"
)
_LAUDED = re.compile(r"(?:さすが|流石)[^。！？\n]{0,4}\Z")
_AFTERWARDS = re.compile(r"[^。！？は、\n]{0,8}、(?:やはり|やっぱり|本当に|さすが)?\Z")


#: So many names before an evaluation word are weighed.
_NAMES = 3
#: A name farther away than so many characters is not what the word is said of.
_REACH = 40


class Evaluations:
    """Finds evaluation words and tells which of them affirm the one spoken to."""

    def __init__(
        self,
        words: Iterable[CueSpec],
        addressees: Iterable[CueSpec],
        affirmations: Iterable[CueSpec],
    ) -> None:
        addressees = tuple(addressees)
        self._words = CueSearch(words)
        self._addressees = CueSearch(addressees)
        #: Finds nothing in a text that names nobody, in which nothing flatters.
        self.called = re.compile("|".join(re.escape(a.text) for a in addressees) or "(?!)").search
        self._affirmations = CueSearch(affirmations)
        #: Finds nothing in a text without evaluation words: most texts.
        self.sign = self._words.sign

    def words(self, masked: str) -> list[Span]:
        """Spans of evaluation words in a masked line; denied ones are no evaluation."""
        return [span for span in self._words.all(masked) if not denied(masked, span[1])]

    def flattering(self, masked: str, start: int, end: int, words: list[Span]) -> list[Span]:
        """Of a sentence's evaluation words, those that come with an affirmed partner.

        Affirmed: an affirmation (「正しい」) stands in the sentence with an addressee, or the
        evaluation word is the predicate of an addressee (「あなたは天才です」), or is called
        out to one (「さすが姉様、完璧です」).
        """
        sentence = masked[start:end]
        named = list(self._addressees.all(sentence))
        if not named:
            return []
        if any(not denied(sentence, at) for _, at in self._affirmations.all(sentence)):
            return words
        starts = [name[0] for name in named]
        flattering = []
        for first, last in words:
            at = bisect_left(starts, first - start)
            # The names next to the word, before and after it, are those it can be said of.
            near = named[max(0, at - _NAMES) : at + 1]
            if any(_of(sentence, name, (first - start, last - start)) for name in near):
                flattering.append((first, last))
        return flattering


def _of(sentence: str, name: Span, word: Span) -> bool:
    """Whether the word is said of the one named."""
    if _PREDICATE.match(sentence, word[1]) is None:
        return False
    if name[1] > word[0]:
        if not 0 <= name[0] - word[1] <= _REACH:
            return False
        return _AFTERWARDS.match(sentence[word[1] : name[0]]) is not None
    if word[0] - name[1] > _REACH:
        return False
    between = sentence[name[1] : word[0]]
    if _OWN.match(between) or _CALLED.fullmatch(between):
        return True
    return not between and _LAUDED.search(sentence[max(0, name[0] - 8) : name[0]]) is not None
