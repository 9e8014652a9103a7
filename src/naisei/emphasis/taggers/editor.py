"""Few, readable marks for a document of an unknown writer.

It marks a term at its definition, or one key sentence in a paragraph without definitions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.schemas import Article, Sentence
from naisei.emphasis.taggers.crf import CrfTagger, default_tagger
from naisei.emphasis.taggers.page import title_lemmas

#: Endings of unconditional prohibitions and duties.
_RULE = re.compile(
    "(?:べきでは(?:ない|ありません)(?:です)?|て(?:は)?(?:いけ|なり|なら)(?:ない|ません)|ないでください"
    "|禁止(?:です|されています)|避け(?:るべきです|てください|る必要があります)"
    r"|必ず.*(?:ます|る|う|く|す|ください))\Z"
)
#: Endings of duties, limits, warnings, contrasts, recommendations and key points.
_CLAIM = re.compile(
    "(?:なければ(?:ならない|なりません|いけません)|べき(?:です|だ|である)|必要が(?:ある|あります)"
    "|でき(?:ない|ません)|不可能です|とは限(?:らない|りません)|わけでは(?:ない|ありません)"
    "|ではなく、?.{4,}(?:です|ある|だ|ます|する|なる|れる)"
    "|だけで(?:は)?なく、?.{4,}(?:(?<!存在し)(?<!あり)(?<!い)ます|する|なる|れる)"
    "|ことが(?:非常に|最も|とても|何より)?(?:重要|大切|大事|肝心|不可欠)(?:です|だ|である)"
    "|(?:失われ|壊れ|漏れ)(?:ます|る)|てしまい?(?:ます|う)|危険です|(?:恐れ|リスク)が(?:ある|あります)"
    "|注意が必要です|注意してください|望ましい(?:です)?|(?:が|を)(?:推奨|おすすめ|お勧め)(?:です|します|されます)"
    "|(?:重要|大切|肝心|大事)なのは、?.*(?:です|だ|である)"
    "|(?:メリット|利点|欠点|特徴|違い|目的|原因|理由|ポイント|コツ)は、?.*(?:こと|点)(?:です|だ|である)"
    r"|(?:本質|最大の|一番の|最も(?:重要|大切|大事|効果|効率)).*(?:です|だ|である))\Z"
)
#: Topics and times of such sentences; and false friends.
_TOPIC = re.compile("[はも]|[とばらき]、|場合|とき|ために")
_NO_TOPIC = re.compile(
    "では(?=な|あり)|て?は(?=いけ|なら|なり)|とは(?=限)|では(?=なく)|もの|もう|とも"
)
#: Words that join a sentence to the one before, and are left out of the mark.
_JOINS = re.compile(
    "(?:しかし(?:ながら)?|ただし|また|さらに|つまり|要するに|そのため|このため|したがって|従って|よって"
    "|だから|なので|一方(?:で)?|逆に(?:言えば)?|とはいえ|ですが|ですから|すなわち|そして|加えて|むしろ"
    "|こうして|こうやって|このように|特に|ここで|更に)[、 ]|(?:つまり|ただし|しかし|そして)(?!な)"
)
#: Words that refer elsewhere, hedge, ask, or mention the writer, the moment or an example.
_LEANS = re.compile(
    "[こそあ](?:れ|の|こ|う|ちら|んな)|どれ|そういう|みたいな|上記|前述|先ほど|先程|先述|前者|後者|今回"
    "|本[記稿書章節]|以下|下記|次[のを]|[図上下]の|前項|つ目|番目|点をまとめ|見ての通り|同様に|例えば|たとえば|など"
    "|まず|私|僕|自分|個人|体感|気がし|思[いわうっ]|感じ|でしょう|かもしれ|現在|現時点|とりあえず|いったん"
    "|まだ|参考|詳し|余談|ちなみに|なお|もちろん|だったら|としては、|ましょう|(?:です|ます)[がし]|のでしたが?|ますので"
    r"|[たすいるだん](?:が|から|ため|けど)、|ので、|[:：?？!！]|\A(?:と|が|で|ので|は|も)、?"
)
#: Words after a named term; after a term that opens a sentence, and its definition.
_NAMED = re.compile(
    "と(?:呼(?:びま|び、|ぶ|ばれ)|い(?:います|い、)|言います|称し)|という(?:概念|考え方|用語)が"
)
_OPENS = re.compile("とは(?![違異別言限思完両いっ])")
_KIND = (
    "(?:こと|もの|サービス|ツール|ライブラリ|フレームワーク|仕組み|機能|言語|手法|方法|方式|規格|技術|概念"
    "|状態|性質|構造|形式|要素|プロトコル|アルゴリズム|ソフトウェア|プログラム|システム)"
)
_IS = re.compile(
    f"\\A(?!.*(?:例えば|など)).*(?:{_KIND}(?:です|である|だ|を指します)?|です|である)\\Z"
)
_IS_KIND = re.compile(f"{_KIND}(?:の(?:一つ|ひとつ|1つ))?(?:です|である|だ)\\Z")
_PAIRS = tuple(zip("「『（(“【", "」』）)”】", strict=True))
_STOPS = frozenset("。．！!")
#: Characters of a sentence that is a mark.
_SHORTEST, _LONGEST = 14, 60
#: Sentences of an article for each of its marks.
_EVERY = 8
#: Allowed characters of a term, and its length limits.
_TERM, _TERM_LENGTH = frozenset(["名詞", "接尾辞", "接頭辞", "形状詞"]), 3
_TERM_LONGEST = 24
#: Words that mark the sentence's topic.
_THIS = frozenset(["本", "当", "同"])
#: Before it: then it is the end of something longer.
_WITHIN = frozenset("-‐・/'’)）」")


@dataclass(frozen=True, slots=True)
class EditorTagger:
    """crf: gives probabilities, which do not influence the marks: readers did not prefer likelier
    ones."""

    crf: CrfTagger
    name: str = "editor.v2"

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return self.crf.probabilities(article)

    def labels(self, article: Article) -> list[list[bool]]:
        most = max(2, len(article.sentences) // _EVERY)
        rows = [[False] * len(s.tokens) for s in article.sentences]
        for _, number, first, last in sorted(_candidates(article))[:most]:
            rows[number][first:last] = [True] * (last - first)
        return rows


def bundled_tagger() -> EditorTagger:
    """The default tagger for unknown writers."""
    return EditorTagger(default_tagger())


def _candidates(article: Article) -> Iterator[tuple[int, int, int, int]]:
    """Rank (0: a term, then as of `_claim`), number of the sentence, first token, one past the
    last: each term once an article, and a claim of each paragraph that names none; of a sentence
    that is said twice nothing."""
    times = Counter(sentence.text for sentence in article.sentences)
    left = set(title_lemmas(article.title))
    named: set[str] = set()
    claims: dict[int, tuple[int, int, int, int]] = {}
    with_terms: set[int] = set()
    for number, sentence in enumerate(article.sentences):
        if times[sentence.text] > 1:
            continue
        for first, last in _terms(sentence, left):
            if (term := _text(sentence, first, last)) not in named:
                named.add(term)
                with_terms.add(sentence.block)
                yield 0, number, first, last
        if sentence.block not in claims and (found := _claim(sentence)):
            rank, first, last = found
            claims[sentence.block] = rank, number, first, last
        left -= {token.lemma for token in sentence.tokens}
    yield from (claim for block, claim in claims.items() if block not in with_terms)


def _claim(sentence: Sentence) -> tuple[int, int, int] | None:
    """Rank (1: a rule, 2: another claim), and the whole sentence, without its full stop and the
    word that joins it to the one before."""
    tokens, last = sentence.tokens, len(sentence.tokens)
    while last and tokens[last - 1].surface in _STOPS:
        last -= 1
    whole = _text(sentence, 0, last)
    begins = joined.end() if (joined := _JOINS.match(whole)) else 0
    first = next((i for i, t in enumerate(tokens) if t.start - tokens[0].start >= begins), last)
    mark = _text(sentence, first, last)
    if (
        last == len(tokens)
        or not _SHORTEST <= len(mark) <= _LONGEST
        or _LEANS.search(mark)
        or any(token.label is None for token in tokens)
        or any(mark.count(a) != mark.count(b) for a, b in _PAIRS)
    ):
        return None
    if _RULE.search(mark):
        return 1, first, last
    about = _TOPIC.search(_NO_TOPIC.sub("", mark))
    return (2, first, last) if about and _CLAIM.search(mark) else None


def _terms(sentence: Sentence, title: set[str]) -> Iterator[tuple[int, int]]:
    """Terms where they are defined: before と呼ぶ, or at the beginning of a sentence that says what
    it is. title: words of the article's title that have not come yet."""
    tokens = sentence.tokens
    text = sentence.text.rstrip("".join(_STOPS))
    for last in range(1, len(tokens) - 1):
        after = "".join(t.surface for t in tokens[last : last + 3])
        first = last
        if tokens[last - 1].surface == "」":
            first = max((i for i in range(last) if tokens[i].surface == "「"), default=last)
        else:
            while first and tokens[first - 1].pos in _TERM:
                first -= 1
        own = tokens[first:last]
        opens = not first and (
            (_OPENS.match(after) and _IS.search(text))
            or (after[0] == "は" and title & {t.lemma for t in own} and _IS_KIND.search(text))
        )
        if (
            (opens or _NAMED.match(after))
            and _TERM_LENGTH <= sum(len(t.surface) for t in own) <= _TERM_LONGEST
            and tokens[first].pos != "接尾辞"
            and tokens[first].surface not in _THIS
            and all(t.label is not None for t in own)
            and not (first and tokens[first - 1].surface in _WITHIN)
        ):
            yield first, last


def _text(sentence: Sentence, first: int, last: int) -> str:
    if first >= last:
        return ""
    base = sentence.tokens[0].start
    return sentence.text[sentence.tokens[first].start - base : sentence.tokens[last - 1].end - base]
