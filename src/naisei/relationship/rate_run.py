"""A rating by a model as a run: logged, resumable, within budgets; one episode a repetition."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, JsonValue

from naisei.core import Flow, InputError, Remember, Sampling, Say, Where, World, fingerprint
from naisei.lang import say
from naisei.memory.stream import Recall, Recent, Stream, StreamHandler
from naisei.models.world import base_world
from naisei.relationship.book import Book, Router
from naisei.relationship.describe import transcript
from naisei.relationship.execute import Sitting
from naisei.relationship.rate import Rating, from_conversations
from naisei.relationship.rate_config import RatingConfig
from naisei.relationship.rate_flow import rate
from naisei.relationship.reflect import stream_of
from naisei.relationship.schemas import Conversation, Moment
from naisei.relationship.stability import stability
from naisei.relationship.task import _Lazy, empty
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.frozen import Frozen
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Task

__all__ = ["RatingTask", "rate_by_model", "rating_config", "rating_of"]


class RatingTask(Task[RatingConfig]):
    """The repetitions of one rating."""

    system = "relationship"

    def __init__(self, config: RatingConfig) -> None:
        self.config = config
        self.pair = config.pair
        self.data_hash = fingerprint([line.model_dump(mode="json") for line in config.lines])
        self._embedder = None if config.embedder == "none" else _Lazy(config.embedder)

    def episodes(self) -> list[Where]:
        return [Where("dialogue", n + 1) for n in range(self.config.repeats)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        book = Book(empty(self.pair))
        rules = self.config.rules
        names = [stream_of(agent) for agent in self.pair.names]
        streams = StreamHandler(
            {name: Stream(weights=rules.weights) for name in names}, self._embedder
        )
        world = base.having(
            {Say: book, Remember: Router(book, streams), Recall: streams, Recent: streams}
        )
        return rate(self.config, book), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        """Means of each direction, failed readings, and the agreement of the repetitions."""
        rating = rating_of(self.config, rows)
        metrics = _means(rating, self.config.seed) if rating.repeats else []
        if self.config.repeats > 1:
            repeats = [
                [{w: s.reading.vector for w, s in m.stances.items()} for m in _moments(talk)]
                for talk in _talks(rows)
            ]
            metrics += stability(repeats, seed=self.config.seed)
        return Summary(tuple(metrics))

    def shown(self, where: Where, result: JsonValue) -> str:
        return transcript(Conversation.model_validate(result))


def rating_of(config: RatingConfig, rows: Sequence[EpisodeRow]) -> Rating:
    """The rating that the finished episodes amount to."""
    model = config.models.get("reflector", "model")
    return from_conversations(config.dialogue, model, _talks(rows))


def rate_by_model(
    config: RatingConfig, sitting: Sitting, *, run_dir: Path | None = None
) -> tuple[RunResult, Rating]:
    """Rate, or go on rating, a dialogue.

    Raises:
        InputError: no model, one that cannot be opened, or an unusable directory.
    """
    for role in ("questioner", "reflector"):
        if role not in config.models:
            raise InputError(
                say(f"{role} のモデルが指定されていません", f"no model is given for the {role}"),
                place="--model",
                remedy=say(
                    "--model PROVIDER:NAME を付けるか、--rater speech で発話から推定する",
                    "give --model PROVIDER:NAME, or estimate from speech: --rater speech",
                ),
            )
    task = RatingTask(config)

    async def go() -> tuple[RunResult, Rating]:
        sampling_of = {r: Sampling(**given) for r, given in config.sampling.items()}  # type: ignore[arg-type]
        async with base_world(
            config.models,
            settings=sitting.settings,
            sampling_of=sampling_of,
            embedder=config.embedder,
            cache=sitting.cache,
            resends_of={"questioner": 0, "reflector": 0},
        ) as world:
            with RunDirectory.of(task, run_dir) as directory:
                outcome = await run_task(
                    task,
                    directory,
                    world,
                    concurrency=sitting.concurrency,
                    budget=sitting.budget,
                    progress=progress(quiet=sitting.quiet),
                )
                result = finish(task, directory, outcome)
                return result, rating_of(config, outcome.rows)

    return blocking(go)()


def rating_config(path: Path) -> RatingConfig:
    """The configuration of the rating in a run directory.

    Raises:
        InputError: it is not one of this version.
    """
    frozen = Frozen.read(path / "config.json")
    return frozen.config_as(RatingConfig, path / "config.json")


def _talks(rows: Sequence[EpisodeRow]) -> list[Conversation]:
    return [Conversation.model_validate(row.result) for row in rows if row.scored]


def _moments(talk: Conversation) -> list[Moment]:
    return [moment for session in talk.sessions for moment in session.moments]


def _means(rating: Rating, seed: int) -> list[Metric]:
    """reading_failures: turns × directions × repetitions without a vector. Power.a_to_b, …:
    means over the turns that were read."""
    marks = [turn.marks[way] for turn in rating.turns for way in turn.marks]
    lost = [float(v is None) for one in marks for v in one[DIMENSIONS[0]].repeats]
    out = [mean_metric("reading_failures", lost, seed=seed, reason="nothing was rated")]
    for name in DIMENSIONS:
        for way in ("a_to_b", "b_to_a"):
            values = [t.marks[way][name].value for t in rating.turns]
            read = [v for v in values if v == v]
            out.append(mean_metric(f"{name}.{way}", read, seed=seed, reason="no usable reading"))
    return out
