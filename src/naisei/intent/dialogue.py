"""A request and what was asked back about it, so far."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from naisei.intent.schemas import Exchange
from naisei.japanese.normal import normalise
from naisei.japanese.query_analysis import analyse_query, chosen, led

__all__ = ["Dialogue"]


class Dialogue(BaseModel):
    """utterance: what the person first said. exchanges: questions back, with their answers.
    earlier: questions of the same sitting that were answered before, oldest first."""

    model_config = ConfigDict(frozen=True)

    utterance: str
    exchanges: tuple[Exchange, ...] = ()
    earlier: tuple[str, ...] = ()

    def answered(self, question: str, answer: str, options: tuple[str, ...] = ()) -> Dialogue:
        """With one more exchange; an answer by number becomes the option's words, and what was
        said besides is kept."""
        if picked := chosen(answer, options):
            words = "、".join(options[at] for at in picked)
        elif begun := led(answer, options):
            words = f"{options[begun[0]]}、{begun[1]}"
        else:
            words = answer.strip()
        exchange = Exchange(question=question, answer=words, options=options)
        return self.model_copy(update={"exchanges": (*self.exchanges, exchange)})

    @property
    def said(self) -> tuple[str, ...]:
        """All that the person said about it, oldest first; 「その中にはありません」 and the like
        say nothing about it. A request that only points back (「その場合は？」) is taken
        together with the question before."""
        before = self.earlier[-1:] if analyse_query(self.utterance).pointing else ()
        answers = (e.answer for e in self.exchanges if e.tells)
        return (*before, self.utterance, *answers)

    @property
    def alone(self) -> bool:
        """Whether the utterance is all there is: it is then searched for as it stands."""
        return len(self.said) == 1

    def has_asked(self, question: str) -> bool:
        """Whether this was asked already, marks and width aside."""
        return any(_bare(e.question) == _bare(question) for e in self.exchanges)


def _bare(text: str) -> str:
    return "".join(c for c in normalise(text).lower() if c.isalnum())
