"""One episode in plain words: what was marked, beside what the editor marked."""

from __future__ import annotations

from collections.abc import Mapping

from naisei.emphasis.evaluation.results import Marked, PartResult
from naisei.emphasis.metrics import span_counts, token_counts
from naisei.emphasis.schemas import Article, Sentence
from naisei.lang import say

__all__ = ["emphasised", "transcript"]

#: Documents shown of a part, and sentences of a document.
_DOCUMENTS, _SENTENCES = 3, 12


def transcript(articles: Mapping[str, Article], result: PartResult) -> str:
    """The first documents of a part; sentences in which neither marked anything are left out."""
    blocks = [_document(articles[d.article], d) for d in result.documents[:_DOCUMENTS]]
    if more := len(result.documents) - len(blocks):
        blocks.append(say(f"ほか {more} 文書", f"and {more} more documents"))
    return "\n\n".join(blocks)


def emphasised(sentence: Sentence, labels: list[bool] | tuple[bool, ...]) -> str:
    """The sentence with its marked words in `**`."""
    if not sentence.tokens:
        return sentence.text
    first, out, at = sentence.tokens[0].start, "", 0
    inside = False
    for token, label in zip(sentence.tokens, labels, strict=True):
        start, end = token.start - first, token.end - first
        if label != inside and inside:
            out += "**"
        out += sentence.text[at:start]
        if label != inside and label:
            out += "**"
        out += sentence.text[start:end]
        at, inside = end, label
    return out + ("**" if inside else "") + sentence.text[at:]


def _document(article: Article, marked: Marked) -> str:
    labels = marked.labels(article)
    tokens, spans = token_counts(article, labels), span_counts(article, labels)
    lines = [
        f"《{article.title}》 {article.id}",
        f"F1 {tokens.f1:.3f} ({say('区間', 'spans')} {spans.f1:.3f})",
    ]
    shown = 0
    for sentence, row in zip(article.sentences, labels, strict=True):
        if not (any(row) or any(sentence.labels)):
            continue
        if shown == _SENTENCES:
            lines.append("…")
            break
        shown += 1
        lines.append(f"{say('編集者', 'editor')}: {emphasised(sentence, sentence.labels)}")
        lines.append(f"{say('タガー', 'tagger')}: {emphasised(sentence, row)}")
    return "\n".join(lines)
