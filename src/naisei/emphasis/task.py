"""The evaluation as a task of the run engine: cross-validation of one tagger by document."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, JsonValue

from naisei.core import Act, Flow, Handler, InputError, Observation, Where, World, fingerprint
from naisei.emphasis.config import EvalConfig
from naisei.emphasis.corpus.store import (
    Fold,
    describe,
    folds,
    folds_within,
)
from naisei.emphasis.flow import examine as examine_by_model
from naisei.emphasis.results import FoldResult, TaggedDocument, fold_lines, summarise, tagged_spans
from naisei.emphasis.schemas import Article, Sentence, Tagger
from naisei.emphasis.taggers.registry import LLM, Trainer, trainer
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.task import EpisodeRow, Summary, Table, Task
from naisei.training_documents import learnt_from, training_note


def examine(part: int, *, seed: int) -> Flow[FoldResult]:
    """Training is an external action: it takes minutes, and its outcome is logged before use."""
    seen = yield from Act({"tag": part, "seed": seed})
    return FoldResult.model_validate(seen.info)


_BINS = 10


class TaggerTraining(Handler):
    """Performs `Act`: trains on a fold's training part and tags its test part.

    scored: ids of the documents to score; others in the test part are not tagged.
    folder: for checkpoints, from which an interrupted training resumes.
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        trainer: Trainer,
        *,
        scored: frozenset[str],
        empty_title: bool = False,
        folder: Path | None = None,
    ) -> None:
        self._folds = folds
        self._trainer = trainer
        self._scored = scored
        self._empty_title = empty_title
        self._folder = folder

    async def perform(self, effect: Act, where: Where) -> Observation:
        action = effect.action
        assert isinstance(action, dict)
        part, seed = action["tag"], action["seed"]
        assert isinstance(part, int) and isinstance(seed, int)
        # In a thread, so that the event loop handles signals during training.
        found = await asyncio.to_thread(self._tag, part, seed)
        return Observation(info=found.model_dump(mode="json"), done=True)

    def _tag(self, part: int, seed: int) -> FoldResult:
        fold = self._folds[part]
        folder = self._folder / f"part-{part + 1}-{seed}" if self._folder else None
        began = time.perf_counter()
        tagger = self._trainer.train(fold.train, fold.dev, seed=seed, folder=folder)
        trained = time.perf_counter() - began
        test = [a for a in fold.test if a.id in self._scored]
        found = evaluate(tagger, test, empty_title=self._empty_title)
        if folder and folder.is_dir():
            _keep_only_curves(folder)
        return found.model_copy(update={"trained": round(trained, 3)})


def _keep_only_curves(folder: Path) -> None:
    """Delete everything except the curves, since weights of every part would fill the disk."""
    for path in folder.glob("checkpoint-*"):
        shutil.rmtree(path)


def evaluate(tagger: Tagger, articles: Sequence[Article], *, empty_title: bool) -> FoldResult:
    """Evaluate a tagger on unseen articles."""
    began = time.perf_counter()
    labels = [tagger.labels(a) for a in articles]
    tagged = time.perf_counter() - began
    untitled = [
        tagged_spans(tagger.labels(replace(a, title=""))) if empty_title else None for a in articles
    ]
    return FoldResult(
        documents=tuple(
            TaggedDocument(article=a.id, spans=tagged_spans(rows), untitled=bare)
            for a, rows, bare in zip(articles, labels, untitled, strict=True)
        ),
        bins=_bins(tagger, articles),
        tokens=sum(len(s.tokens) for a in articles for s in a.sentences),
        tagged=round(tagged, 3),
    )


def _bins(tagger: Tagger, articles: Sequence[Article]) -> tuple[tuple[int, float, int], ...]:
    n = np.zeros((3, _BINS))
    for article in articles:
        for p, sentence in zip(tagger.probabilities(article), article.sentences, strict=True):
            can = np.array(sentence.counted, bool)
            gold = np.array(sentence.labels, np.float64)[can]
            own: NDArray[np.float64] = p[can]
            which = np.minimum((own * _BINS).astype(np.int64), _BINS - 1)
            for row, weights in zip(n, (np.ones_like(own), own, gold), strict=True):
                row += np.bincount(which, weights=weights, minlength=_BINS)
    return tuple((int(a), round(float(b), 6), int(c)) for a, b, c in n.T)


class EvalTask(Task[EvalConfig]):
    """One tagger on one corpus.

    corpus: the articles, in order.

    Raises:
        InputError: an unusable corpus, one without emphasis, or an unknown tagger or
            setting.
    """

    system = "emphasis"
    each = "documents"

    def __init__(
        self,
        config: EvalConfig,
        corpus: Sequence[Article],
    ) -> None:
        self.config = config
        #: Folder of a training's checkpoints until it is finished.
        self._folder: Path | None = None
        self._folds = _split(corpus, config)
        chosen = corpus[: config.first]
        if not any(any(s.labels) for a in chosen for s in a.sentences):
            raise InputError(
                say("強調された語が一つもありません", "nothing is emphasised in these documents"),
                place=config.corpus,
                remedy=say("太字を含む文書から作ってください", "build it from documents with bold"),
            )
        self.articles = {a.id: a for a in chosen}
        #: Scored documents that the tagger was trained on beforehand.
        self._learnt = 0
        if config.tagger != LLM:
            self._trainer = trainer(config.tagger, config.options)
            self._learnt = learnt_from([a.text for a in chosen], self._trainer.documents)
        self.data_hash = _digest(corpus)
        if people := self._trainer.people if config.tagger != LLM else ():
            marks = [[p.name, sorted(p.spans.items())] for p in people]
            self.data_hash = fingerprint([self.data_hash, marks])
        self._described = describe(chosen)
        # A language model processes many documents concurrently.
        self.alone = config.tagger != LLM

    def episodes(self) -> list[Where]:
        if self.config.tagger == LLM:
            return [Where(name) for name in self.articles]
        trials = self.config.seeds if self._trainer.random else len(self._trainer.people) or 1
        held = [
            part
            for part, fold in enumerate(self._folds)
            if any(a.id in self.articles for a in fold.test)
        ]
        return [Where(f"part-{p + 1}", t + 1) for t in range(trials) for p in held]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        if self.config.tagger == LLM:
            article = self.articles[where.instance]
            shown = self._training_articles(article) if self.config.given else ()
            flow = examine_by_model(article, language=self.config.language, examples=shown)
            return flow, base
        training = TaggerTraining(
            self._folds,
            self._trainer,
            scored=frozenset(self.articles),
            empty_title=self.config.empty_title,
            folder=self._folder,
        )
        part = int(where.instance.removeprefix("part-")) - 1
        return examine(part, seed=where.trial), base.having({Act: training})

    def _training_articles(self, article: Article) -> tuple[Article, ...]:
        """The training articles of the fold that tests this article."""
        return next(f.train for f in self._folds if any(a.id == article.id for a in f.test))

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        self._folder = directory.path / "training"
        yield

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        notes = training_note(self.config.tagger, self._learnt, len(self.articles))
        found = summarise(self.config, self.articles, rows, (*notes, *self.model_notes()))
        tables = (*found.tables, self._corpus())
        return Summary(found.metrics, tables, found.notes, found.extra)

    def _corpus(self) -> Table:
        """Statistics of the scored documents (section 4.1)."""
        d = self._described
        return Table(
            say("採点した文書", "Documents scored"),
            (
                say("文書", "documents"),
                say("文 / 文書", "sentences each"),
                say("語 / 文書", "words each"),
                say("強調語 / 文書", "emphasised words each"),
                say("強調率", "share emphasised"),
                say("学習に使った文書", "trained on"),
            ),
            ((d.articles, d.sentences, d.tokens, d.emphasised, d.rate, self._learnt),),
        )

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return fold_lines(self.articles, FoldResult.model_validate(result))


def _split(corpus: Sequence[Article], config: EvalConfig) -> tuple[Fold, ...]:
    """The folds; with a limit on training documents (`given`), no dev part is held out."""
    dev = 0 if config.given else config.dev
    split = folds_within if config.split == "within" else folds
    found = split(corpus, parts=config.parts, dev=dev, seed=config.seed)
    return tuple(replace(fold, train=fold.train[: config.given]) for fold in found)


def _digest(articles: Sequence[Article]) -> str:
    """Digest of everything that a tagger can read or learn from, in order."""
    return fingerprint(
        [[a.id, a.title, a.writer, [_plain(s) for s in a.sentences]] for a in articles]
    )


def _plain(sentence: Sentence) -> list[JsonValue]:
    tokens: list[JsonValue] = [
        [t.surface, t.start, t.pos, t.lemma, t.label] for t in sentence.tokens
    ]
    return [sentence.block, sentence.text, *tokens]
