"""What the page shows beside the talk, folded from the events: beliefs and notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from naisei.clarify.person import Outcome, Person
from naisei.core import Event
from naisei.web.pages.assistant.config import SittingConfig
from naisei.web.pages.assistant.live import THOUGHT

__all__ = ["Chance", "Picture"]


@dataclass(frozen=True, slots=True)
class Chance:
    """What the agent believes of an action. p, before: 0 to 1; before the last answer; `None`
    where it was not among the likeliest."""

    text: str
    p: float
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """chances: the likeliest actions, best first, empty where the agent keeps no account.
    thought: its last. person: with the notes of now."""

    chances: Sequence[Chance]
    thought: str
    person: Person

    @classmethod
    def of(cls, config: SittingConfig, events: Iterable[Event]) -> Picture:
        person = config.person.model_copy(deep=True)
        chances: list[Chance] = []
        thought, utterance, proposed = "", "", ""
        for event in events:
            request: dict[str, object] = event.request  # type: ignore[assignment]
            if event.kind == "ask" and not request["question"]:
                utterance, chances = str(event.result), []
            elif event.kind == "say" and request["speaker"] == THOUGHT:
                meta: dict[str, object] = request["meta"]  # type: ignore[assignment]
                before = {c.text: c.p for c in chances}
                found: list[dict[str, object]] = meta["chances"]  # type: ignore[assignment]
                chances = [
                    Chance(str(c["text"]), float(str(c["p"])), before.get(str(c["text"])))
                    for c in found
                ]
                thought, proposed = str(meta["thought"]), str(request["text"])
            elif event.kind == "act" and isinstance(event.result, dict):
                right = float(str(event.result["reward"])) > 0
                person.learned(Outcome(utterance=utterance, action=proposed, right=right))
            elif event.kind == "remember":
                person.memo = str(request["item"])
        return cls(chances, thought, person)
