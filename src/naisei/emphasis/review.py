"""Single suggestions with position and reason: for editors, and to accept or reject."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Insertion, Source
from naisei.emphasis.corpus.read import Document, is_japanese
from naisei.emphasis.marks import Stretch, html_marks, markdown_marks, stretches
from naisei.emphasis.schemas import CONTENT
from naisei.emphasis.taggers.editor import EditorTagger
from naisei.lang import say

if TYPE_CHECKING:
    from naisei.emphasis.tag import Suggestions

Format = Literal["document", "textlint", "lsp"]
_RULE = "naisei-emphasis"
_LINE = re.compile(r"\r\n|[\r\n\u2028\u2029]")
_AROUND = 24
#: Fewest sentences of an article that is not short.
_SHORT = 5


@dataclass(frozen=True, slots=True)
class Suggestion:
    """start, end: offsets in the source's text. marked: the replacement. p: mean probability of its
    words. reason: human-readable."""

    stretch: Stretch
    start: int
    end: int
    marked: str
    p: float
    reason: str


def source_of(document: Document) -> Source:
    """Raises:
    InputError: a docx, which has no offsets.
    """
    if document.source is None:
        raise InputError(
            say("Word 文書そのものには印を付けられません", "a Word document cannot be marked"),
            place=document.name,
            remedy=say("--html PAGE で強調案を見られます", "see the suggestions with --html PAGE"),
        )
    return document.source


def insertions(found: Sequence[Stretch], document: Document) -> tuple[list[Insertion], int]:
    """The marks around these stretches, and the number that could not be marked."""
    if document.format == "html":
        return html_marks(found), 0
    return markdown_marks(found, document.paragraphs)


def suggested(suggestions: Suggestions) -> Iterator[Suggestion]:
    """Suggestions in document order, each marked separately; omits those that cannot be marked.

    Raises:
        InputError: a docx.
    """
    document = suggestions.document
    text = source_of(document).text
    found = stretches(suggestions.runs, suggestions.article, document.parsed, text)
    likely = suggestions.probabilities
    usual = sum(float(row.sum()) for row in likely) / max(1, sum(len(row) for row in likely))
    tagger = suggestions.tagger
    kinds: dict[int, str] = {}
    if isinstance(tagger, EditorTagger) and suggestions.threshold is None:
        kinds = tagger.reasons(suggestions.article)
    sentences: dict[int, list[int]] = {}
    for number, sentence in enumerate(suggestions.article.sentences):
        sentences.setdefault(sentence.block, []).append(number)
    for stretch in found:
        marks, _ = insertions([stretch], document)
        if marks:
            opening, closing = marks
            start, end = opening.at, closing.at
            p, reason = _reason(suggestions, stretch, sentences[stretch.block], usual, kinds)
            marked = opening.mark + text[start:end] + closing.mark
            yield Suggestion(stretch, start, end, marked, p, reason)


def _reason(
    suggestions: Suggestions,
    stretch: Stretch,
    sentences: Sequence[int],
    usual: float,
    kinds: Mapping[int, str],
) -> tuple[float, str]:
    """The mean probability of the words, and a reason: their kind, or else that probability, and
    visible features of the words.

    sentences: numbers of the paragraph's sentences. usual: mean probability in the document.
    kinds: sentence number → kind.
    """
    article = suggestions.article
    inside = [
        (number, token, float(p))
        for number in sentences
        for token, p in zip(
            article.sentences[number].tokens,
            suggestions.probabilities[number],
            strict=True,
        )
        if token.start < stretch.last and token.end > stretch.first
    ]
    mean = sum(p for *_, p in inside) / len(inside)
    reasons = [
        kinds.get(inside[0][0])
        or say(
            f"確率 {mean:.2f} (文書の平均 {usual:.2f})",
            f"probability {mean:.2f} (mean of the document {usual:.2f})",
        )
    ]
    content = [token for _, token, _ in inside if token.pos in CONTENT]
    title = [token.surface for token in content if token.surface in article.title]
    if title:
        words = "、".join(dict.fromkeys(title))
        reasons.append(say(f"題にある語: {words}", f"in the title: {words}"))
    if any(character.isdigit() for token in content for character in token.surface):
        reasons.append(say("数を含む", "has a number"))
    if inside[0][0] == sentences[0]:
        reasons.append(say("段落の最初の文", "first sentence of its paragraph"))
    return mean, say("。", "; ").join(reasons)


def why_none(suggestions: Suggestions) -> str:
    """The reason why nothing is suggested, for the user; "" if something is."""
    if suggestions.runs:
        return ""
    if not suggestions.counted:
        return say(
            "強調できる文章がありません (見出し・表・コード・リンクには印を付けません)",
            "there is no running text (headings, tables, code and links are not marked)",
        )
    if not is_japanese(suggestions.article):
        return say(
            "日本語の文章ではないようです。読めるのは日本語です",
            "this does not look like Japanese, and the tagger reads Japanese",
        )
    if suggestions.over:
        return say("割合の上限に収まる案がありません", "no suggestion fits the maximum share")
    if (sentences := len(suggestions.article.sentences)) < _SHORT:
        return say(
            f"文章が短く (見出し・表・コードのほかに {sentences} 文)、太字にする所がありません",
            f"the text is short ({sentences} sentence{'s' * (sentences != 1)} besides headings, "
            "tables and code), and nothing in it stands out",
        )
    if suggestions.threshold is None and isinstance(suggestions.tagger, EditorTagger):
        return say(
            "用語を定義する文も、禁止・義務・制限・要点をそれだけで言い切る文も見つかりません",
            "no sentence defines a term, or states by itself a rule, a limit or a key point",
        )
    top = max((float(p.max()) for p in suggestions.probabilities if len(p)), default=0.0)
    return say(
        f"基準に届く語がありません。最も高い確率は {top:.2f} です",
        f"no word reaches the threshold; the highest probability is {top:.2f}",
    )


def accepted(suggestions: Suggestions, ask: Callable[[], str] = input) -> list[Stretch]:
    """Ask on standard error about each suggestion: y, n, a (accept this and all that follow) or
    q (reject this and all that follow).

    Raises:
        InputError: a docx, or the input ended before an answer.
    """
    text = source_of(suggestions.document).text
    every = list(suggested(suggestions))
    kept: list[Stretch] = []
    for number, one in enumerate(every, 1):
        before = text[max(0, one.start - _AROUND) : one.start]
        after = text[one.end : one.end + _AROUND]
        shown = " ".join(f"{before}[{text[one.start : one.end]}]{after}".split())
        print(f"\n{number}/{len(every)}  …{shown}…\n    {one.reason}", file=sys.stderr)
        answer = _answer(ask, suggestions.document.name)
        if answer == "a":
            return kept + [later.stretch for later in every[number - 1 :]]
        if answer == "q":
            return kept
        if answer == "y":
            kept.append(one.stretch)
    return kept


def _answer(ask: Callable[[], str], place: str) -> str:
    question = say(
        "    強調する y / しない n / 残り全部 a / ここまで q: ",
        "    accept y / reject n / accept all that follow a / reject all that follow q: ",
    )
    while True:
        print(question, end="", file=sys.stderr, flush=True)
        try:
            answer = ask().strip().lower()
        except EOFError:
            raise InputError(
                say("答えの途中で入力が終わりました", "the input ended before an answer"),
                place=place,
                remedy=say(
                    "--review は端末で使ってください。何も書いていません",
                    "use --review in a terminal; nothing was written",
                ),
            ) from None
        if answer in ("y", "n", "a", "q"):
            return answer


def listed(suggestions: Suggestions, format: Format) -> str:
    """JSON: `textlint`, as `textlint --format json` prints it; `lsp`, PublishDiagnosticsParams with
    the edits in each diagnostic's `data`. Offsets and columns count UTF-16 code units.

    Raises:
        InputError: a docx.
    """
    document = suggestions.document
    places = _Places(source_of(document).text)
    every = list(suggested(suggestions))
    shown: Any = [{"filePath": document.name, "messages": [_message(one, places) for one in every]}]
    if format == "lsp":
        uri = Path(document.name).resolve().as_uri()
        shown = {"uri": uri, "diagnostics": [_diagnostic(one, places) for one in every]}
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


class _Places:
    """Positions in a text by lines. units: UTF-16 code units before each line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [0, *(match.end() for match in _LINE.finditer(text))]
        self.units = [0, *accumulate(_units(text[a:b]) for a, b in pairwise(self.lines))]

    def of(self, at: int) -> tuple[int, int]:
        """Line and column from 0."""
        line = bisect_right(self.lines, at) - 1
        return line, _units(self.text[self.lines[line] : at])


def _message(one: Suggestion, source: _Places) -> dict[str, Any]:
    places = [source.of(at) for at in (one.start, one.end)]
    start, end = ({"line": line + 1, "column": column + 1} for line, column in places)
    reach = [source.units[line] + column for line, column in places]
    return {
        "type": "lint",
        "ruleId": _RULE,
        "message": one.reason,
        "index": reach[0],
        **start,
        "range": reach,
        "loc": {"start": start, "end": end},
        "severity": 1,
        "fix": {"range": reach, "text": one.marked},
    }


def _diagnostic(one: Suggestion, source: _Places) -> dict[str, Any]:
    places = [source.of(at) for at in (one.start, one.end)]
    start, end = ({"line": line, "character": column} for line, column in places)
    reach = {"start": start, "end": end}
    return {
        "range": reach,
        "severity": 4,
        "code": _RULE,
        "source": "naisei",
        "message": one.reason,
        "data": {
            "probability": round(one.p, 4),
            "edits": [{"range": reach, "newText": one.marked}],
        },
    }
