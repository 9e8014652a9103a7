"""One part of a comparison of taggers: the tagger's marks, and the writer's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from naisei.core import Event
from naisei.emphasis.metrics import span_counts, token_counts
from naisei.emphasis.results import FoldResult
from naisei.emphasis.schemas import Article, Sentence, grouped_tokens
from naisei.emphasis.task import EvalTask
from naisei.lang import say
from naisei.web.html import fragment
from naisei.web.replay import RecordedEpisode, Replay

#: Maximum number of documents shown, and of sentences per document.
_DOCUMENTS, _SENTENCES = 3, 40


@dataclass(frozen=True, slots=True)
class MarkedPart:
    """A part of a sentence. kind: who marked it: `both`, only the `tagger`, only the `writer`, or
    nobody (empty)."""

    text: str
    kind: str


def marked_pieces(sentence: Sentence, labels: Sequence[bool]) -> list[MarkedPart]:
    """Split the whole sentence, in order. labels: the tagger's label of each token."""
    kinds = [
        _KINDS[bool(ours), theirs] for ours, theirs in zip(labels, sentence.labels, strict=True)
    ]
    return [MarkedPart(text, kind or "") for text, kind in grouped_tokens(sentence, kinds)]


_KINDS = {(True, True): "both", (True, False): "tagger", (False, True): "writer"}
_KINDS |= {(False, False): ""}


def _marked(article: Article, labels: Sequence[Sequence[bool]]) -> list[list[MarkedPart]]:
    """Return the first sentences with any mark."""
    both = zip(article.sentences, labels, strict=True)
    found = [marked_pieces(s, row) for s, row in both if any(row) or any(s.labels)]
    return found[:_SENTENCES]


def _score(article: Article, labels: list[list[bool]]) -> str:
    tokens, spans = token_counts(article, labels), span_counts(article, labels)
    return say(
        f"F1 {tokens.f1:.2f}、区間 {spans.f1:.2f}", f"F1 {tokens.f1:.2f}, spans {spans.f1:.2f}"
    )


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    """Return the documents, with the marks once all of them are known."""
    task = episode.task
    if not isinstance(task, EvalTask):
        return ""
    if episode.result is None or len(events) < len(episode.events):
        return fragment("replays/emphasis.html", documents=(), more=0)
    fold = FoldResult.model_validate(episode.result)
    shown = [
        (article.title or article.id, _marked(article, one.labels(article)))
        for one in fold.documents[:_DOCUMENTS]
        for article in [task.articles[one.article]]
    ]
    more = len(fold.documents) - len(shown)
    return fragment("replays/emphasis.html", documents=shown, more=more)


REPLAY = Replay(state=_state)
