"""A few readable marks for a document by an unknown writer.

Marks a term at its definition, or one key sentence in a paragraph without definitions.
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
from naisei.lang import say

#: Endings of prohibitions, and of duties without exception.
_RULE = re.compile(
    "(?:べきでは(?:ない|ありません)(?:です)?|て(?:は)?(?:いけ|なり|なら)(?:ない|ません)|ないでください"
    "|ないようにしてください|禁止(?:です|されています)|避け(?:るべき(?:です|だ|である)|てください)"
    r"|必ず(?!しも).*(?:ます|(?<!であ)る|う|く|す|ください))\Z"
)
#: Endings of duties, limits, losses and recommendations.
_CLAIM = re.compile(
    "(?:なければ(?:ならない|なりません|いけません)|べき(?:です|だ|である)|必要が(?:ある|あります)"
    "|(?:でき|許容でき)(?:ない|ません)|不可能です|とは限(?:らない|りません)"
    "|(?:使え|動作し|動き|対応してい|サポートされ(?:てい)?)(?:ない|ません)|必須(?:です|である|となります)"
    "|非推奨(?:です|である|になりました|となりました)|(?:廃止|削除)され(?:ました|る予定です)"
    "|(?:失われ|壊れ|漏れ|消え)(?:てしまい)?(?:ます|る)|危険です|(?:恐れ|リスク)が(?:ある|あります)"
    "|望ましい(?:です)?|(?:が|を)(?:推奨|お勧め|おすすめ)(?:です|します|する|されます|される)?"
    r"|(?:重要|大切|肝心|大事)なのは、?.*(?:です|だ|である))\Z"
)
#: Phrases of claims without substance, such as that everything has to be considered.
_GENERAL = re.compile(
    "考慮|検討|意識|把握|理解|判断|バランス|慎重|しっかり|適切|わかり|分かり|時には|のみの場合|必ずしも|しか(?!し)|同じ|ている必要"
    "|こともでき|と(?:思|考え)|(?:あ|お|な|よ)り、|ため、|ためには|れば、|たら、|ても、|である、"
)
#: Phrases that follow a warning.
_WARNING = re.compile(
    r"(?:こと|点)に、?(?:ご)?注意(?:してください|する必要があります|が必要です|ください)?\Z"
)
#: Openings that make the previous sentence a premise or half of a contrast.
_TURNS = re.compile("一方|逆に|[こそ]れに対し|対して|しかし|ですが|だが|ただ")
#: Topics and times in such sentences; and exceptions.
_TOPIC = re.compile("[はも]|[とばらき]、|場合|とき|ために")
_NO_TOPIC = re.compile(
    "では(?=な|あり)|て?は(?=いけ|なら|なり)|とは(?=限)|では(?=なく)|もの|もう|とも"
)
#: Words that link a sentence to the previous one; excluded from the mark.
_JOINS = re.compile(
    "(?:(?:しかし(?:ながら)?|ただし|また|さらに|つまり|要するに|そのため|このため|したがって|従って|よって"
    "|だから|なので|一方(?:で)?|逆に(?:言えば)?|とはいえ|ですが|ですから|すなわち|そして|加えて|むしろ"
    "|こうして|こうやって|このように|特に|ここで|更に|基本的に(?:は)?)[、 ]|厳密には、?"
    "|(?:つまり|ただし|しかし|そして)(?!な))+"
)
#: Words that refer elsewhere, hedge, ask, or mention the writer, the time or an example.
_LEANS = re.compile(
    "[こそあ](?:れ|の|こ|う|ちら|んな)|どれ|そういう|みたいな|上記|前述|先ほど|先程|先述|前者|後者|今回"
    "|本[記稿書章節]|以下|下記|次[のを]|[図上下]の|[上下次]表|表の|前項|つ目|番目|点をまとめ|見ての通り|同様に|例えば|たとえば|など"
    "|まず|私|僕|自分|個人|体感|気がし|思[いわうっ]|感じ|でしょう|かもしれ|現在|現時点|とりあえず|いったん"
    "|まだ|本来|理想的|参考|詳し|余談|ちなみに|なお|もちろん|だったら|としては、|ましょう|(?:です|ます)[がし]|のでしたが?|ますので"
    r"|[たすいるだん](?:が|から|ため|けど)、|ので、|[:：?？!！]|\A(?:と|が|で|ので|は|も)、?"
)
#: Patterns: after a named term, unless it is a second name; before a term without a definition;
#: after a term at the start of a sentence, with its definition.
_NAMED = re.compile(
    "と(?:呼(?:びま|び、|ぶ|ばれ(?!て?い?た))|い(?:います|い、)|言います|称し)(?!.{0,5}(?:こと|場合)(?:も|が多))"
    "|という(?:概念|考え方|用語)が"
)
_NO_NAME = re.compile("(?:単に|場合は|一般には|別名)、?\\Z")
_OPENS = re.compile("とは(?![違異別言限思完両厳いっ])")
_KIND = (
    "(?:サービス|ツール|ライブラリ|フレームワーク|仕組み|機能|言語|手法|方法|方式|規格|技術|概念"
    "|構造|形式|プロトコル|アルゴリズム|ソフトウェア|プログラム|システム)"
)
_IS = re.compile(
    f"\\A(?!.*(?:例えば|など)).*(?:{_KIND}(?:を指します)?|です|である|こと|もの|だ)\\Z"
)
_IS_KIND = re.compile(
    f"(?:{_KIND}|こと|もの|状態|性質|要素)(?:の(?:一つ|ひとつ|1つ))?(?:です|である|だ)\\Z"
)
#: Definitions of names written in Latin letters or katakana.
_IS_THING = re.compile(f"(?:[るた]|ための)[^はがを、]{{,12}}{_KIND}(?:です|である|だ)\\Z")
_FOREIGN = re.compile("[A-Za-zァ-ヶ]{3}")
_PAIRS = tuple(zip("「『（(“【", "」』）)”】", strict=True))
_STOPS = frozenset("。．！!")
#: Least characters, and most columns (two per Japanese character), of a marked sentence.
_SHORTEST, _WIDEST = 14, 100
#: Number of sentences per mark.
_EVERY = 8
#: Allowed characters of a term, and its length limits.
_TERM, _TERM_LENGTH = frozenset(["名詞", "接尾辞", "接頭辞", "形状詞"]), 3
_TERM_LONGEST = 24
#: Words that mark the sentence's topic.
_THIS = frozenset(["本", "当", "同"])
#: Characters before a term that show that it is the end of something longer.
_WITHIN = frozenset("-‐・/'’)）」")


@dataclass(frozen=True, slots=True)
class EditorTagger:
    """crf: provides probabilities, which do not influence the marks, since readers did not prefer
    likelier ones."""

    crf: CrfTagger
    name: str = "editor.v3"

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return self.crf.probabilities(article)

    def labels(self, article: Article) -> list[list[bool]]:
        rows = [[False] * len(s.tokens) for s in article.sentences]
        for _, number, first, last in _chosen(article):
            rows[number][first:last] = [True] * (last - first)
        return rows

    def reasons(self, article: Article) -> dict[int, str]:
        """Sentence number → reason for its mark, for the user."""
        kinds = (
            say("用語の説明", "says what a term means"),
            say("禁止、義務、書き手の注意", "a prohibition, a duty or a warning"),
            say("必要なこと、できないこと、推奨", "a need, a limit or a recommendation"),
        )
        return {number: kinds[rank] for rank, number, _, _ in _chosen(article)}


def bundled_tagger() -> EditorTagger:
    """The default tagger for unknown writers."""
    return EditorTagger(default_tagger())


def _chosen(article: Article) -> list[tuple[int, int, int, int]]:
    return sorted(_candidates(article))[: max(2, len(article.sentences) // _EVERY)]


def _candidates(article: Article) -> Iterator[tuple[int, int, int, int]]:
    """Yield (rank, number of the sentence, first token, one past the last). Rank 0 is a term; for
    others see `_claim`. Includes each term once per article, and one claim per paragraph without
    terms; skips repeated sentences."""
    times = Counter(sentence.text for sentence in article.sentences)
    left = set(title_lemmas(article.title))
    named: set[str] = set()
    claims: dict[int, tuple[int, int, int, int]] = {}
    with_terms: set[int] = set()
    after = [*(s.text for s in article.sentences[1:]), ""]
    for number, sentence in enumerate(article.sentences):
        if times[sentence.text] > 1:
            continue
        for first, last in _terms(sentence, left):
            if (term := _text(sentence, first, last)) not in named:
                named.add(term)
                with_terms.add(sentence.block)
                yield 0, number, first, last
        if sentence.block not in claims and (found := _claim(sentence, after[number])):
            rank, first, last = found
            claims[sentence.block] = rank, number, first, last
        left -= {token.lemma for token in sentence.tokens}
    yield from (claim for block, claim in claims.items() if block not in with_terms)


def _claim(sentence: Sentence, after: str) -> tuple[int, int, int] | None:
    """Rank (1: a rule or a warning, 2: another claim) and span: the sentence without its full
    stop, its initial linking word and "注意してください". after: the next sentence."""
    text = sentence.text.rstrip("".join(_STOPS))
    warns = _WARNING.search(text)
    begins, ends = 0, warns.start() if warns else len(text)
    if joined := _JOINS.match(text):
        begins = joined.end()
    base = sentence.tokens[0].start if sentence.tokens else 0
    own = [i for i, t in enumerate(sentence.tokens) if begins <= t.start - base < ends]
    if not own or ends == len(sentence.text):
        return None
    first, last = own[0], own[-1] + 1
    mark = _text(sentence, first, last)
    if (
        len(mark) < _SHORTEST
        or sum(2 - character.isascii() for character in mark) > _WIDEST
        or _LEANS.search(mark)
        or any(sentence.tokens[i].label is None for i in (first, last - 1))
        or any(mark.count(a) != mark.count(b) for a, b in _PAIRS)
    ):
        return None
    if warns or (_RULE.search(mark) and not _GENERAL.search(mark)):
        return 1, first, last
    about = _TOPIC.search(_NO_TOPIC.sub("", mark))
    claims = about and _CLAIM.search(mark) and not _GENERAL.search(mark)
    return (2, first, last) if claims and not _TURNS.match(after) else None


def _terms(sentence: Sentence, title: set[str]) -> Iterator[tuple[int, int]]:
    """Terms at their definitions: before と呼ぶ, or at the beginning of a sentence that defines
    them. title: words of the article's title that have not occurred yet."""
    tokens = sentence.tokens
    text = sentence.text.rstrip("".join(_STOPS))
    for last in range(1, len(tokens) - 1):
        after = text[tokens[last].start - tokens[0].start :]
        first = last
        if tokens[last - 1].surface == "」":
            first = max((i for i in range(last) if tokens[i].surface == "「"), default=last)
        else:
            while first and tokens[first - 1].pos in _TERM:
                first -= 1
        own, before = tokens[first:last], _text(sentence, 0, first)
        opens = not first and (
            (_OPENS.match(after) and _IS.search(text))
            or (after[0] == "は" and title & {t.lemma for t in own} and _IS_KIND.search(text))
            or (
                after[0] == "は"
                and _FOREIGN.search(_text(sentence, 0, last))
                and _IS_THING.search(text)
            )
        )
        named = not _NO_NAME.search(before) and (
            _NAMED.match(after) or (after == "という" and before.endswith("を"))
        )
        # In "Xと呼ばれますが、…Yと呼びます" only Y is the writer's term.
        aside = "が、" in after and _NAMED.search(after, 1)
        if (
            (opens or (named and not aside))
            and _TERM_LENGTH <= sum(len(t.surface) for t in own) <= _TERM_LONGEST
            and tokens[first].pos != "接尾辞"
            and tokens[first].surface not in _THIS
            and all(t.label is not None for t in own)
            and not (first and tokens[first - 1].surface in _WITHIN)
            and before.count("（") + before.count("(") == before.count("）") + before.count(")")
        ):
            yield first, last


def _text(sentence: Sentence, first: int, last: int) -> str:
    if first >= last:
        return ""
    base = sentence.tokens[0].start
    return sentence.text[sentence.tokens[first].start - base : sentence.tokens[last - 1].end - base]
