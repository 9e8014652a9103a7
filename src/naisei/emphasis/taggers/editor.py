"""Few marks that read well, for a document whose writer's habit is not known.

A mark is a clause that says what a reader must not miss, or a topic of the article where it is
introduced; at most one a sentence, and the best few of an article by what the CRF says of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.schemas import Article, Sentence
from naisei.emphasis.taggers.crf import CrfTagger, default_tagger
from naisei.emphasis.taggers.page import title_lemmas

#: Conclusions, duties, prohibitions, limits, contrasts.
_CUE = re.compile(
    "重要|大切|肝心|本質|結論|最大の|一番の|必ず|絶対に|必須|不可欠|注意|危険|禁止です|避け[るたまて]|失われ|戻せな"
    "|べき(?:で|だ|。)|[てで]はいけ|ないでください|ないように|必要が(?:ある|あり)|必要です"
    "|できな(?:い|く)|できません|だけでな|ではな[くい]|わけではな|とは限ら|不要|おすすめ|オススメ|お勧め|推奨"
    "|メリット|利点|欠点|原因[はが]|違いは|にくい|問題[がは]|課題[がは]|むしろ|[るた]だけで"
)
#: Of these what stands before the comma is half.
_CONTRAST = re.compile("だけでな|ではな[くい]|わけではな|むしろ")
#: Sentences that lead on, announce, tell of a step or of the writer, guess, or ask.
_LEADS = re.compile(
    r"\A(?:まず|続いて|次[にはの]|最後に|以上|以下|今回|本[記稿書章節]|この[記章節]|ここで[はの]?|では|それでは|さて"
    r"|ちなみに|因みに|なお|余談|例えば|たとえば|参考|詳し|また後)"
    r"|以下|下記|次の|思っ|感じ|気づ|信じ|ワクワク|のよう(?:です|だ|に|な)[。、]|[:：?？]\s*\Z"
    r"|(?:ました|でした|った|ています|みます|いきます|ましょう|思います|思う|でしょう|そうです|しょうか"
    r"|(?:です|ます)(?:か|ね|よね|が)|かった(?:です)?|かもしれ(?:ない|ません)|(?:思|感じら)れます"
    r"|(?:から|ため)(?:です|である)?|分かっていない|わからない|ください)[。.!！]*\Z"
)
_WARNS = re.compile(r"ないでください|必ず[^、]*ください|注意してください|ないように")
_INTRODUCES = re.compile(
    r"(?:です|である|こと|もの|サービス|ツール|ライブラリ|フレームワーク|仕組み|機能|言語|手法|方法|方式|規格)"
    r"(?:です|である|だ)?[。.]\Z"
)
#: What points out of a mark, at its beginning.
_POINTS = re.compile(
    "[こそ](?:れ|の|こ|う|ちら|んな)|そういう|例えば|たとえば|など|同じ|よって|従って|したがって|もちろん|確かに|一方|どちら"
)
#: Parts of speech that a mark does not begin with.
_JOINTS = frozenset(["接続詞", "感動詞", "補助記号", "記号", "空白"])
_LEANING = ("助詞", "助動詞")
#: What it ends with, beside a bracket.
_ENDS = frozenset(["動詞", "形容詞", "助動詞", "名詞", "接尾辞", "形状詞"])
_COMMAS, _STOPS = frozenset("、，"), frozenset("。．！!")
_PAIRS = tuple(zip("「『（(“【", "」』）)”】", strict=True))
#: Characters of a clause that is a mark.
_SHORTEST, _LONGEST = 15, 64
#: Different nouns of such a clause, at least: with fewer it says nothing by itself.
_NOUNS = 2
#: Sentences of an article for each of its marks.
_EVERY = 8
_TERM_WEIGHT = 0.1
#: Of a term: what it consists of, its fewest characters, and how it is named.
_TERM, _TERM_LENGTH = frozenset(["名詞", "接尾辞", "接頭辞", "形状詞"]), 3
_NAMED = re.compile(
    "と(?:呼[ばびぶん]|いいます|言います|いう(?:概念|考え方|手法|仕組み|用語|名前))"
)


@dataclass(frozen=True, slots=True)
class EditorTagger:
    """crf: says how likely emphasis is; by it candidates are ranked."""

    crf: CrfTagger
    name: str = "editor.v1"

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return self.crf.probabilities(article)

    def labels(self, article: Article) -> list[list[bool]]:
        found = list(_candidates(article))
        if len(found) > (most := max(2, len(article.sentences) // _EVERY)):
            likely = self.probabilities(article)
            # A term weighs as much as a clause of few likely words.
            p = {n: max(_TERM_WEIGHT, float(likely[n][a:b].mean())) for n, a, b in found}
            found = sorted(found, key=lambda place: (-p[place[0]], place))[:most]
        rows = [[False] * len(s.tokens) for s in article.sentences]
        for number, first, last in found:
            rows[number][first:last] = [True] * (last - first)
        return rows


def _candidates(article: Article) -> Iterator[tuple[int, int, int]]:
    """Number of the sentence, first token, one past the last: at most one a sentence; a term once
    an article."""
    left = set(title_lemmas(article.title))
    named: set[str] = set()
    for number, sentence in enumerate(article.sentences):
        if found := _clause(sentence):
            yield (number, *found)
        elif (found := _topic(sentence, left)) and ((term := _text(sentence, *found)) not in named):
            named.add(term)
            yield (number, *found)
        left -= {token.lemma for token in sentence.tokens}


def bundled_tagger() -> EditorTagger:
    """What suggests marks where nothing is known of the writer."""
    return EditorTagger(default_tagger())


def _clause(sentence: Sentence) -> tuple[int, int] | None:
    """The longest end of the sentence, from a comma on, that is neither too long nor broken."""
    text, tokens = sentence.text, sentence.tokens
    if any(text.count(a) != text.count(b) for a, b in _PAIRS) or (
        _LEADS.search(text) and not _WARNS.search(text)
    ):
        return None
    last = len(tokens)
    while last and tokens[last - 1].surface in _STOPS:
        last -= 1
    starts = [0, *(i + 1 for i in range(last) if tokens[i].surface in _COMMAS)]
    ends = tokens[last - 1].pos in _ENDS or tokens[last - 1].surface in "」』）)"
    if (
        last == len(tokens)
        or not ends
        or not (_CUE.search(_text(sentence, starts[-1], last)) or _CONTRAST.search(text))
    ):
        return None
    for first in starts:
        while first < last and tokens[first].pos in _JOINTS and tokens[first].surface not in "「『":
            first += 1
        mark = _text(sentence, first, last)
        if (
            _SHORTEST <= len(mark) <= _LONGEST
            and _CUE.search(mark)
            and not _POINTS.match(mark)
            and tokens[first].pos not in _LEANING
            and len({t.lemma for t in tokens[first:last] if t.pos == "名詞"}) >= _NOUNS
            and all(t.label is not None for t in tokens[first:last])
            and all(mark.count(a) == mark.count(b) for a, b in _PAIRS)
        ):
            return first, last
    return None


def _topic(sentence: Sentence, left: set[str]) -> tuple[int, int] | None:
    """A term where it is named: at the beginning of a sentence that says what it is, or before
    と呼ぶ. left: words of the title that have not come yet."""
    tokens = sentence.tokens
    for last in range(1, len(tokens) - 1):
        after = "".join(t.surface for t in tokens[last : last + 3])
        first = last
        while first and tokens[first - 1].pos in _TERM and tokens[first - 1].label is not None:
            first -= 1
        own = tokens[first:last]
        if sum(len(t.surface) for t in own) < _TERM_LENGTH or tokens[first].pos == "接尾辞":
            continue
        if _NAMED.match(after) or (not first and after.startswith("とは")):
            return first, last
        says = not first and after[0] == "は" and _INTRODUCES.search(sentence.text)
        if says and left & {t.lemma for t in own}:
            return first, last
    return None


def _text(sentence: Sentence, first: int, last: int) -> str:
    if first >= last:
        return ""
    base = sentence.tokens[0].start
    return sentence.text[sentence.tokens[first].start - base : sentence.tokens[last - 1].end - base]
