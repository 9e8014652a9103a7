"""What one item came to."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.intent.evaluation.items import Kind
from naisei.intent.schemas import Case, Exchange

__all__ = ["EXPECTED", "Action", "ItemResult"]

Action = Literal["ask", "search"]

#: What the assistant should do first, by the kind of question: a vague question and a worry
#: want to be asked about; a clear question wants an answer, and so does one that nobody can
#: answer from the documents, since asking back would not change that.
EXPECTED: dict[Kind, Action] = {
    "clear": "search",
    "unanswerable": "search",
    "vague": "ask",
    "consultation": "ask",
}


class ItemResult(BaseModel):
    """One item, from the question to the answer.

    first: what the assistant did on hearing the question. cases: one an evaluation. exchanges:
    what was asked back. before, after: for each gold passage its rank, from 1, in the search
    for the question as it was typed, and in the search that the answer came from; `None` where
    it is not among the first ten. query, rewritten: what was searched for in the end, and how it
    came about. answered: whether the documents were found to hold an answer. sentences,
    unsupported: of the answer, and how many are not borne out. cited, cited_gold: chunks cited,
    and whether one of them holds a gold passage. verbatim: of the quotes cited, those that stand
    in their chunks. contact: the department named. seconds: of the assistant, without searching
    for `before`; the user's thinking time is in it where a model plays the user. leaked: words
    of gold passages that the user said without having been told them. failures: instrument
    failures that the assistant survived.
    """

    model_config = ConfigDict(frozen=True)

    item: str
    kind: Kind
    first: Action
    cases: tuple[Case, ...]
    exchanges: tuple[Exchange, ...] = ()
    before: tuple[int | None, ...] = ()
    after: tuple[int | None, ...] = ()
    query: str = ""
    rewritten: str = "unchanged"
    answered: bool = False
    answer: str = ""
    sentences: int = 0
    unsupported: int = 0
    cited: int = 0
    cited_gold: bool = False
    verbatim: int = 0
    contact: str | None = None
    seconds: float = 0.0
    leaked: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the first action is the one that the kind of question wants."""
        return self.first == EXPECTED[self.kind]
