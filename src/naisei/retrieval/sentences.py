"""What a chunk says, sentence by sentence: the texts of the second look.

A question is mostly answered by one sentence, or one row of a table, and what stands around it
draws the vector of a whole chunk away from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from naisei.japanese.sentences import sentence_spans

__all__ = ["SAID", "embedding_text", "said", "span_text"]

#: Changes when `said` or what is embedded of it does: sentences are then embedded anew.
SAID = 1

#: More sentences than this of one chunk are not told apart: a list of numbers has hundreds.
_MOST = 64


def embedding_text(title: str, headings: Sequence[str], text: str) -> str:
    """What is embedded for a chunk: where it stands, then what it says."""
    where = [title, *(heading for heading in headings if heading != title)]
    return " > ".join(where) + "\n" + text


def span_text(title: str, headings: Sequence[str], sentence: str) -> str:
    """What is embedded for a sentence: what it is about, then the sentence. The whole path of
    headings would outweigh it."""
    where = [title, *(heading for heading in headings if heading != title)]
    return " ".join([*where[-2:], sentence])


def said(text: str) -> list[str]:
    """The sentences of a chunk; a table's rows with the names of their columns. Empty if there
    is one alone: then the chunk's own vector says it all.

    >>> said("| 対象 | 日数 |\\n| 本人 | 5日 |\\n| 子 | 2日 |\\n有給とする。")
    ['対象 本人、日数 5日', '対象 子、日数 2日', '有給とする。']
    """
    found = [sentence for sentence in _sentences(text) if sentence]
    return found[:_MOST] if len(found) > 1 else []


def _sentences(text: str) -> Iterator[str]:
    for table, lines in groupby(text.split("\n"), key=lambda line: line.lstrip().startswith("|")):
        if table:
            yield from _rows(list(lines))
        else:
            for line in lines:
                yield from (sentence.strip() for sentence in sentence_spans(line))


def _rows(lines: list[str]) -> Iterator[str]:
    if len(lines) == 1:
        yield "、".join(cell for cell in _cells(lines[0]) if cell)
        return
    names = _cells(lines[0])
    for line in lines[1:]:
        cells = _cells(line)
        if len(names) == len(cells):
            cells = [f"{n} {c}".strip() for n, c in zip(names, cells, strict=True) if c]
        yield "、".join(cell for cell in cells if cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
