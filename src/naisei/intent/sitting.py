"""A sitting: steps one after another, each durable; what was killed goes on where it was."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from naisei.intent.dialogue import Dialogue
from naisei.intent.schemas import Reply

__all__ = ["Standing"]

_EARLIER = 5


class Standing(BaseModel):
    """steps: the dialogues of all steps, oldest first. replies: theirs; one fewer than steps
    while a step is under way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[Dialogue, ...] = ()
    replies: tuple[Reply, ...] = ()

    @property
    def last(self) -> Reply | None:
        return self.replies[-1] if self.replies else None

    @property
    def open(self) -> bool:
        """Whether a question back waits for its answer."""
        last = self.last
        return last is not None and last.route == "ask" and last.extended is None

    def next(self, text: str, *, new: bool = False) -> Dialogue:
        """The dialogue with one more message: the answer to the question that is open, else a
        new request. new: a new request in any case."""
        last = self.last
        if last is not None and self.open and not new:
            return self.steps[len(self.replies) - 1].answered(last.message, text, last.options)
        earlier = [r.query for r in self.replies if r.query]
        return Dialogue(utterance=text.strip(), earlier=tuple(earlier[-_EARLIER:]))

    def with_step(self, dialogue: Dialogue) -> Standing:
        return self.model_copy(update={"steps": (*self.steps, dialogue)})

    def with_replies(self, replies: Sequence[Reply]) -> Standing:
        return self.model_copy(update={"replies": tuple(replies)})
