"""Embeds what an index holds and has no vectors of yet: chunks, and the sentences in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from naisei.models.base import Embedder
from naisei.retrieval.sentences import embedding_text, said, span_text
from naisei.retrieval.spans import packed
from naisei.retrieval.store import Store

__all__ = ["embed_missing"]

#: Chunks embedded and kept at once: what a killed run loses at most.
_BATCH = 64


def embed_missing(
    store: Store,
    documents: list[int],
    model: Embedder,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Embeds the chunks that have no vectors of this embedder yet; returns how many.

    progress: is told (chunks done, chunks in all), first with 0, if there are any.
    """
    todo = store.without_vectors(documents, model.name)
    batches = iter(todo.items())
    done = 0
    if todo and progress is not None:
        progress(0, len(todo))
    while batch := list(islice(batches, _BATCH)):
        texts: list[str] = []
        starts: list[int] = []
        for _, (title, headings, text) in batch:
            starts.append(len(texts))
            texts.append(embedding_text(title, headings, text))
            texts += [span_text(title, headings, sentence) for sentence in said(text)]
        vectors = model.embed(texts, "passage")
        keys = [key for key, _ in batch]
        ends = [*starts[1:], len(texts)]
        with store.db:
            store.keep(model.name, zip(keys, vectors[starts], strict=True))
            store.keep_spans(
                model.name,
                (
                    (key, packed(vectors[start + 1 : end]))
                    for key, start, end in zip(keys, starts, ends, strict=True)
                ),
            )
        done += len(batch)
        if progress is not None:
            progress(done, len(todo))
    return len(todo)
