"""The evaluation as a task of the run engine: one episode a part and training, or a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, JsonValue

from naisei.core import Act, Flow, InputError, Where, World, fingerprint
from naisei.emphasis.corpus.statistics import describe, folds
from naisei.emphasis.corpus.store import load_corpus
from naisei.emphasis.evaluation import flow, metrics
from naisei.emphasis.evaluation.config import EvalConfig
from naisei.emphasis.evaluation.describe import transcript
from naisei.emphasis.evaluation.recipes import LLM, recipe
from naisei.emphasis.evaluation.results import PartResult
from naisei.emphasis.evaluation.world import Bench
from naisei.emphasis.schemas import Article, Sentence
from naisei.emphasis.zero_shot import flow as zero_shot
from naisei.lang import say
from naisei.runs.task import EpisodeRow, Summary, Table, Task

__all__ = ["EvalTask"]


class EvalTask(Task[EvalConfig]):
    """One tagger on one corpus.

    corpus: the articles, if they are at hand already; else they are read.
    `folder`, where it is set, holds what a training keeps until it is done.

    Raises:
        InputError: an unusable corpus, one in which nothing is emphasised, or an unknown
            tagger or setting.
    """

    system = "emphasis"

    def __init__(
        self,
        config: EvalConfig,
        corpus: Sequence[Article] | None = None,
    ) -> None:
        self.config = config
        self.folder: Path | None = None
        every = tuple(corpus) if corpus is not None else load_corpus(Path(config.corpus))
        self._parts = folds(every, parts=config.parts, dev=config.dev, seed=config.seed)
        chosen = every[: config.first]
        if not any(any(s.labels) for a in chosen for s in a.sentences):
            raise InputError(
                say("強調された語が一つもありません", "nothing is emphasised in these documents"),
                place=config.corpus,
                remedy=say("太字を含む文書から作ってください", "build it from documents with bold"),
            )
        self.articles = {a.id: a for a in chosen}
        if config.tagger != LLM:
            self._recipe = recipe(config.tagger, config.options)
        self.data_hash = _digest(every)
        self._described = describe(chosen)

    def episodes(self) -> list[Where]:
        if self.config.tagger == LLM:
            return [Where(name) for name in self.articles]
        trials = self.config.seeds if self._recipe.random else 1
        held = [
            part
            for part, fold in enumerate(self._parts)
            if any(a.id in self.articles for a in fold.test)
        ]
        return [Where(f"part-{p + 1}", t + 1) for t in range(trials) for p in held]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        if self.config.tagger == LLM:
            article = self.articles[where.instance]
            return zero_shot.examine(article, language=self.config.language), base
        bench = Bench(
            self._parts,
            self._recipe,
            scored=frozenset(self.articles),
            empty_title=self.config.empty_title,
            folder=self.folder,
        )
        part = int(where.instance.removeprefix("part-")) - 1
        return flow.examine(part, seed=where.trial), base.having({Act: bench})

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        found = metrics.summarise(self.config, self.articles, rows, self.model_notes())
        tables = (*found.tables, self._corpus())
        return Summary(found.metrics, tables, found.notes, found.extra)

    def _corpus(self) -> Table:
        """Section 4.1: what the scored documents consist of."""
        d = self._described
        return Table(
            say("採点した文書", "Documents scored"),
            (
                say("文書", "documents"),
                say("文 / 文書", "sentences each"),
                say("語 / 文書", "words each"),
                say("強調語 / 文書", "emphasised words each"),
                say("強調率", "share emphasised"),
            ),
            ((d.articles, d.sentences, d.tokens, d.emphasised, d.rate),),
        )

    def shown(self, where: Where, result: JsonValue) -> str:
        return transcript(self.articles, PartResult.model_validate(result))


def _digest(articles: Sequence[Article]) -> str:
    """Of all that a tagger can read and learn from, in order."""
    return fingerprint([[a.id, a.title, [_plain(s) for s in a.sentences]] for a in articles])


def _plain(sentence: Sentence) -> list[JsonValue]:
    tokens: list[JsonValue] = [
        [t.surface, t.start, t.pos, t.lemma, t.label] for t in sentence.tokens
    ]
    return [sentence.block, sentence.text, *tokens]
