"""Searches a line for words that count only as whole words: cues, endings, praise.

Topics of a line: the retry-judgement specification, §6.2.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from naisei.director.wording.assertion_scope import denied
from naisei.director.wording.noun_phrases import HOLLOW
from naisei.japanese.morph import Token, tokens

#: Number of characters to read on each side: a constant, long enough for the words.
REACH = 12
_BEFORE = re.compile(r"[\u3041-\u30ff\u3400-\u9fffA-Za-z0-9]*\Z")
_AFTER = re.compile(r"[\u3041-\u30ff\u3400-\u9fffA-Za-z0-9]*")


def around(text: str, start: int, end: int) -> tuple[tuple[Token, ...], int, int]:
    """Return the words around a span, and the span's start and end among their characters.

    Reads at most `REACH` characters on each side, up to a space or mark. No words if the tokens
    differ from the text.
    """
    before = _BEFORE.search(text[max(0, start - REACH) : start])
    after = _AFTER.match(text[end : end + REACH])
    left, right = before[0] if before else "", after[0] if after else ""
    window = left + text[start:end] + right
    found = tokens(window) if window.isprintable() else ()
    if "".join(t.surface for t in found) != window:
        return (), 0, 0
    return found, len(left), len(left) + end - start


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a word begins at `start` and a word ends at `end`; true if unknown."""
    found, first, last = around(text, start, end)
    if not found:
        return True
    begins = ends = False
    at = 0
    for token in found:
        begins = begins or at == first
        at += len(token.surface)
        ends = ends or at == last
    return begins and ends


#: Possible continuations of a clause-final ending: marks, the end, quoting or linking particles.
_CLAUSE_END = (
    r"(?=$|[\s。！？、…〜ー♪☆★♡♥」）「（!?,.]|[ぁぇえあー]+(?:$|[\s。！？、…〜♪]|って|と)"
    r"|って|っと|と(?:[思考言いか感]|。|、|$)|けど|けれど|しれ|知れ|しん|だ(?:[よねけし]|な[ぁあー。、！]|って|から)"
    r"|です|でしょ|[ねよ](?:$|[ねぇえー。！？、…〜♪\s])|な(?:$|[ぁあー。！？、…])|し[、。ー]|w|笑)"
)
#: A clause never begins directly after one of these.
_WITHIN = r"[^\s。！？、…〜ー♪☆「」（）!?,.]"
#: Maximum number of dictionary checks for doubtful matches per line; further matches count.
DOUBTS = 32


@dataclass(frozen=True, slots=True)
class CueSpec:
    """The text conditions of a `naisei.director.character.Cue`."""

    text: str
    at: str = "any"
    not_after: tuple[str, ...] = ()
    not_before: tuple[str, ...] = ()
    doubtful_after: tuple[str, ...] = ()


class CueSearch:
    """All cues of one list in one regular expression. Linear in the length of the text."""

    def __init__(self, cues: Iterable[CueSpec]) -> None:
        listed = sorted(cues, key=lambda cue: -len(cue.text))
        #: Number of a cue's final empty group → the texts that make the cue doubtful.
        self._doubts = ((), *(tuple(cue.doubtful_after) for cue in listed if cue.doubtful_after))
        self._pattern = re.compile("|".join(map(_expression, listed)) or r"(?!)")
        #: Cheap pre-check, in which doubtful cues match.
        self.sign = self._pattern.search

    def all(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of the cues, in order."""
        return (found.span() for found in self._certain(text))

    def _certain(self, text: str) -> Iterator[re.Match[str]]:
        left = DOUBTS
        for found in self._pattern.finditer(text):
            start, end = found.span()
            before = self._doubts[found.lastindex or 0]
            if before and left and text.endswith(before, 0, start):
                left -= 1
                if not stands_alone(text, start, end):
                    continue
            yield found

    def first(self, text: str) -> re.Match[str] | None:
        """The first cue, or `None`."""
        found = self._pattern.search(text)
        if found is None or found.lastindex is None:
            return found
        return next(self._certain(text), None)


def _expression(cue: CueSpec) -> str:
    """A cue's expression: the cue first, then its conditions.

    If all alternatives begin with a character, `re` searches for those characters, several times as
    fast as for conditions. It tests a character class in one step, alternatives one by one.
    """
    text = re.escape(cue.text)
    if cue.text.isascii():
        text = f"(?i:{text})"
    parts = [text]
    if cue.at == "clause-start":
        parts.append(f"(?<!{_WITHIN}{text})")
    by_length: dict[int, list[str]] = defaultdict(list)
    for before in cue.not_after:
        by_length[len(before)].append(re.escape(before))
    for length, texts in by_length.items():
        none = f"[{''.join(texts)}]" if length == 1 else f"(?:{'|'.join(texts)})"
        parts.append(f"(?<!{none}{text})")
    if cue.not_before:
        parts.append(f"(?!{'|'.join(map(re.escape, cue.not_before))})")
    if cue.at == "clause-end":
        parts.append(_CLAUSE_END)
    if cue.doubtful_after:
        parts.append("()")
    return "".join(parts)


#: A polite verb form follows a stem in -i or -e; 「だます」 and 「励ます」 are plain verbs.
_NO_STEM = "あかさたなはまやらわがざだばうくすつぬふむゆるぐずづぶ励覚冷醒済澄騙悩眩黙"
_TRAIL = r"[ぁぇー〜…♪☆★♡♥w）」 \t、]*(?:（[^（）\n]*）[ \t]*)?(?=[。！？\n]|$)"


class EndingSearch:
    """Counts sentences of a masked line that end in one of the endings.

    Final particles and decoration may follow the ending (「ですよね〜♪」).
    """

    def __init__(self, endings: Iterable[str], particles: Iterable[str]) -> None:
        listed = sorted(endings, key=len, reverse=True)
        forms = "|".join(
            re.escape(form) + (f"(?<![{_NO_STEM}]{re.escape(form)})" if form[0] == "ま" else "")
            for form in listed
        )
        particle = "|".join(map(re.escape, particles)) or r"(?!)"
        self._pattern = re.compile(rf"(?:{forms})(?:{particle}){{0,3}}{_TRAIL}")

    def reaches(self, masked: str, count: int) -> bool:
        """Whether at least `count` sentences match."""
        return len(self._pattern.findall(masked)) >= count


#: Start and end in a text.
Span = tuple[int, int]

#: Possible continuations of an evaluation word as the predicate, and nouns for a person.
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


#: Maximum number of names to consider before an evaluation word.
_NAMES = 3
#: Maximum distance, in characters, between an evaluation word and the name it describes.
_REACH = 40


class Evaluations:
    """Finds evaluation words, and those that affirm the partner."""

    def __init__(
        self,
        words: Iterable[CueSpec],
        addressees: Iterable[CueSpec],
        affirmations: Iterable[CueSpec],
    ) -> None:
        addressees = tuple(addressees)
        self._words = CueSearch(words)
        self._addressees = CueSearch(addressees)
        #: Cheap pre-check: a text without names cannot flatter.
        self.called = re.compile("|".join(re.escape(a.text) for a in addressees) or "(?!)").search
        self._affirmations = CueSearch(affirmations)
        #: Cheap pre-check: most texts have no evaluation word.
        self.sign = self._words.sign

    def words(self, masked: str) -> list[Span]:
        """Spans of evaluation words in a masked line, without denied ones."""
        return [span for span in self._words.all(masked) if not denied(masked, span[1])]

    def flattering(self, masked: str, start: int, end: int, words: list[Span]) -> list[Span]:
        """The evaluation words of a sentence that affirm the partner.

        Returns all of them if the sentence has an affirmation (「正しい」) and an addressee; else
        those that are an addressee's predicate (「あなたは天才です」) or an exclamation to one
        (「さすが姉様、完璧です」).
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
            # Only the names nearest to the word, before and after it, can be its subject.
            near = named[max(0, at - _NAMES) : at + 1]
            if any(_of(sentence, name, (first - start, last - start)) for name in near):
                flattering.append((first, last))
        return flattering


def _of(sentence: str, name: Span, word: Span) -> bool:
    """Whether the word describes the named person."""
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


_WRITTEN = "\u3400-\u9fff々〆ァ-ヶーA-Za-z0-9〓"
#: A noun before a position, matched backwards: kanji, katakana or Latin, else kana.
_NOUN = re.compile(rf"」?([{_WRITTEN}]+(?:[ぁ-ん][{_WRITTEN}]+)?|[ぁ-ん]+)")
_NAMED = re.compile(
    r"について|に関し|に関する|"
    r"の話(?=[をがはもにでなとっだ、。！？…\s]|題|です|する|しよ|した[いか]|していい|してよ|$)|"
    r"と(?:いえ|言え)ば|って(?:いえ|言え)ば|っていうと"
)
#: は after a noun, or after kana that can be one; excludes the last kana of particles, verb forms,
#: greetings and laughter.
_SPOKEN = re.compile(
    rf"は(?<=[{_WRITTEN}ぁ-ん」]は)(?<![でにとのてへくもがはあえお]は)"
    r"(?<!(?:から|まで|より|だけ|ほど|ばか|など|なら|たり|ちゃ|ない|ずに|それ|これ|あれ|どれ|[こそあど]こ|うち)は)"
    r"(?<!(?:ばかり|くらい|ぐらい|わたし|あたし|みんな|[こそあ]っち|ほんと|いつも)は)"
    r"(?<!(?:こんにち|こんばん|やっぱり|もちろん)は)"
    r"、?(?=[^\s。！？、…〜はにへ」）])"
)
#: Expressions that end a topic instead of raising one.
_LEFT = re.compile(
    r"(?:題)?(?:は|を|も|なんて|なんか)?(?:もう)?(?:やめ|止め|置いと|おいと|後に|あとに|いい|終わ)"
)
_NOUN_REACH = 16
_DOUBTS = 24
_POINTING = re.compile(r"(?:\A|[^ぁ-ん])(?:こ|そ|あ|ど|こん?な|そんな|あんな|どんな)\Z")


def topics(text: str, masked: str, excluded: Collection[str] = ()) -> tuple[str, ...]:
    """Distinct topics, in order: 「Xについて」, 「Xの話」, 「Xといえば」, 「Xは＋活用語」.

    Excludes pronouns, time words, particle compounds (では, には, のは) and the names in `excluded`
    (the speakers). Topics inside quotations do not count; a quotation as a topic (「『星』の話」)
    does. text and masked have the same length.
    """
    found: dict[str, None] = {}
    if any(part in masked for part in ("の話", "えば", "につ", "に関", "いうと")):
        for match in _NAMED.finditer(masked):
            at = match.start()
            if match[0] == "の話" and (
                _LEFT.match(masked, match.end()) or _POINTING.search(text[max(0, at - 4) : at])
            ):
                continue
            if name := _name(text, at, excluded):
                found[name] = None
    if "は" in masked:
        doubts = _DOUBTS
        for match in _SPOKEN.finditer(masked):
            at = match.start()
            if not "ぁ" <= text[at - 1] <= "ん":
                name = _name(text, at, excluded)
            elif doubts:
                doubts -= 1
                name = _looked_up(text, at, excluded)
            else:
                continue
            if name:
                found[name] = None
    return tuple(found)


def _name(text: str, end: int, excluded: Collection[str]) -> str:
    found = _NOUN.match(text[max(0, end - _NOUN_REACH) : end][::-1])
    if found is None:
        return ""
    name = found[1][::-1]
    if name in ("たち", "達"):
        return ""
    if name[0] in "今昨明" and name[-1] in "日年朝夜週月":
        return ""
    return "" if name in HOLLOW or name in excluded else name


def _looked_up(text: str, at: int, excluded: Collection[str]) -> str:
    """The noun before は, if Sudachi finds one there and は is a particle; else ""."""
    words, start, _ = around(text, at, at + 1)
    before = None
    place = 0
    for word in words:
        if place == start:
            if word.surface != "は" or word.pos != "助詞" or before is None:
                return ""
            if before.pos not in ("名詞", "接尾辞") or before.detail in ("助動詞語幹", "数詞"):
                return ""
            name = before.surface
            return "" if name in excluded or {name, before.form} & HOLLOW else name
        place += len(word.surface)
        before = word
    return ""
