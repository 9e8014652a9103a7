"""Human annotations as taggers: the human rows of the thesis's Table 4.2."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from naisei.core import InputError
from naisei.emphasis.schemas import Article
from naisei.lang import say
from naisei.text_files import read_text


class Marking(BaseModel):
    """One span that a person would set in bold. document: id of the article in the corpus.
    sentence: its number, from 0. start, end: characters of the sentence, end exclusive."""

    person: str
    document: str
    sentence: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Person:
    """Marks a word if a span of the person covers any of it; probabilities are 0 or 1."""

    name: str
    spans: Mapping[tuple[str, int], Sequence[tuple[int, int]]]

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return [np.array(row, np.float64) for row in self.labels(article)]

    def labels(self, article: Article) -> list[list[bool]]:
        out = []
        for sentence in article.sentences:
            spans = self.spans.get((article.id, sentence.index), ())
            first = sentence.tokens[0].start if sentence.tokens else 0
            out.append(
                [
                    can and any(s < t.end - first and t.start - first < e for s, e in spans)
                    for t, can in zip(sentence.tokens, sentence.counted, strict=True)
                ]
            )
        return out


def people_of(path: Path) -> tuple[Person, ...]:
    """The people in a file of JSON lines, or CSV with a header, in order of first occurrence. The
    file has one line per span, see `Marking`.

    Raises:
        InputError: the file cannot be read, or a line has other fields.
    """
    text, found = read_text(path), dict[str, dict[tuple[str, int], list[tuple[int, int]]]]()
    is_csv = path.suffix.lower() == ".csv"
    lines = map(json.dumps, csv.DictReader(io.StringIO(text))) if is_csv else text.splitlines()
    for number, line in enumerate(lines, 2 if is_csv else 1):
        try:
            m = Marking.model_validate_json(line)
        except ValueError as error:
            raise InputError(
                say(f"人の印として読めません: {error}", f"is no marking of a person: {error}"),
                place=f"{path}:{number}",
                remedy=say(
                    "1 行に person, document, sentence, start, end を書いてください",
                    "write person, document, sentence, start, end a line",
                ),
            ) from error
        spans = found.setdefault(m.person, {}).setdefault((m.document, m.sentence), [])
        spans.append((m.start, m.end))
    if not found:
        raise InputError(say("印がありません", "there are no markings"), place=str(path))
    return tuple(Person(name, spans) for name, spans in found.items())
