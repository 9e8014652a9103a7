"""Steps of a sitting as a task of the run engine: one episode a step."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

from naisei.core import Flow, Where, World
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Dialogue
from naisei.intent.feedback import adjusted, read_feedback
from naisei.intent.flow import personal
from naisei.intent.places import place
from naisei.intent.schemas import Reply
from naisei.intent.thresholds import Thresholds
from naisei.intent.world import document_world
from naisei.retrieval.index import Index
from naisei.runs.task import EpisodeRow, Metric, Summary, Task

__all__ = ["StepsTask", "cuts_of"]


def cuts_of(user: str, base: Thresholds) -> Thresholds:
    """What a person's feedback has made of the thresholds."""
    path = place("feedback", user, option="--user", suffix=".jsonl")
    return adjusted(base, read_feedback(path))


class StepsTask(Task[AssistConfig]):
    """The steps taken so far, and the one to take."""

    system = "intent"

    def __init__(
        self, config: AssistConfig, index: Index, steps: Sequence[Dialogue], data_hash: str
    ) -> None:
        self.config, self.data_hash = config, data_hash
        self._index, self._steps = index, tuple(steps)

    def episodes(self) -> list[Where]:
        return [Where(f"step-{n:04}") for n in range(1, len(self._steps) + 1)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        dialogue = self._steps[int(where.instance.removeprefix("step-")) - 1]
        config = self.config
        cuts = config.setting.rules.thresholds
        world = document_world(
            base, self._index, mode=config.mode, cuts=lambda user: cuts_of(user, cuts)
        )
        return personal(dialogue, config.setting, user=config.user), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        replies = [Reply.model_validate(row.result) for row in rows if row.scored]
        n = len(replies)
        asked = tuple(float(r.route == "ask") for r in replies)
        doubtful = tuple(float(bool(r.unsupported)) for r in replies if r.evidence)
        return Summary((_share("asked_back", asked, n), _share("unsupported", doubtful, n)))

    def shown(self, where: Where, result: JsonValue) -> str:
        reply = Reply.model_validate(result)
        said = self._steps[int(where.instance.removeprefix("step-")) - 1].said
        return f"> {' / '.join(said)}\n{reply.message}"


def _share(name: str, values: tuple[float, ...], n: int) -> Metric:
    if not values:
        return Metric(name, float("nan"), n=n, reason="no such step")
    return Metric(name, sum(values) / len(values), n=len(values), per_unit=values)
