"""Taggers compared on a corpus whose answer is known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from commandline import Naisei
from emphasis.corpus_by_hand import article
from in_process_ray import InProcessRay
from naisei.cli.flags import configurations
from naisei.core import Act, InputError, Where, World
from naisei.emphasis.config import EvalConfig
from naisei.emphasis.corpus.store import save_corpus
from naisei.emphasis.results import TaggedDocument, emphasised, tagged_spans
from naisei.emphasis.schemas import Article, Tagger
from naisei.emphasis.system import EVAL
from naisei.emphasis.taggers.registry import NAMES, FirstSentence, parsed, trainer
from naisei.emphasis.task import EvalTask, TaggerTraining, evaluate
from naisei.runs.cluster_pool import Cluster
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.system.execute import RunOptions, aexecute
from naisei.system.studies import execute_study

QUIET = RunOptions(quiet=True)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    save_corpus(path, [article(i) for i in range(18)])
    return path


def config(corpus: Path, tagger: str = "rule", **changes: object) -> EvalConfig:
    given = {"corpus": str(corpus), "tagger": tagger, "dev": 20, "parts": 3, **changes}
    return EvalConfig.model_validate(given)


def opened(config: EvalConfig) -> EvalTask:
    return EVAL.load(config)  # type: ignore[return-value]


def values(result: object) -> dict[str, float]:
    return {m.name: m.value for m in result.summary.metrics}  # type: ignore[attr-defined]


class Counting:
    """The rule, made anew each time, and counted; seeds and folds are noted."""

    random = True
    people = ()

    def __init__(self) -> None:
        self.made: list[tuple[int, int]] = []
        self.fails = False

    def train(
        self, articles: Sequence[Article], dev: Sequence[Article], *, seed: int, **rest: object
    ) -> Tagger:
        if self.fails:
            raise RuntimeError("power cut")
        self.made.append((len(articles), seed))
        return FirstSentence()


def test_every_document_is_scored_once_and_the_rule_as_by_hand(
    corpus: Path, tmp_path: Path
) -> None:
    result = EVAL.run(config(corpus), QUIET, run_dir=tmp_path / "run")
    found = values(result)
    # Four of ten sentences begin a paragraph, of 8 words each; one word of 80 is emphasised.
    assert found["emphasis_rate"] == pytest.approx(0.4)
    hits = round(found["token_recall"] * 18)
    assert found["token_precision"] == pytest.approx(hits / (18 * 32))
    assert found["token_f1"] == pytest.approx(2 * hits / (18 * 33))
    named = {m.name: m for m in result.summary.metrics}
    assert named["token_f1"].low <= found["token_f1"] <= named["token_f1"].high
    assert len(named["token_f1_article"].per_unit) == 18
    documents = [d["article"] for row in result.outcome.rows for d in row.result["documents"]]  # type: ignore[index,call-overload]
    assert sorted(documents) == sorted(f"a{i}" for i in range(18))


def test_the_context_beats_the_rule_and_needs_its_titles(corpus: Path, tmp_path: Path) -> None:
    configs = {
        "rule": config(corpus),
        "best": config(corpus, "crf-context", options={"steps": 25}, empty_title=True),
    }
    study = execute_study(EVAL, configs, QUIET, title="emphasis eval", run_dir=tmp_path / "study")
    f1 = {label: values(r)["token_f1"] for label, r in study.results.items()}
    assert f1["best"] > 0.8 > f1["rule"]
    main_table, against = study.tables
    assert [row[1] for row in main_table.rows if row[0] == "token_f1"] == ["rule", "best"]
    (rule,) = (row for row in against.rows if row[0] == "token_f1_article")
    assert rule[1] == "best", "against the first that was named"
    assert rule[2] > 0.5 and rule[5] < 0.001 and rule[-1] == 18
    # The same trained tagger without titles: Table 4.3.
    best = study.results["best"]
    assert values(best)["empty-title/token_f1"] < f1["best"]
    titles = best.summary.tables[0]
    assert titles.rows[0][3] == f1["best"]
    assert [row[0] for row in titles.rows][2] == "p" and 0 <= titles.rows[2][3] <= 1


def test_only_the_first_documents_are_scored_where_that_is_wanted(corpus: Path) -> None:
    task = opened(config(corpus, first=2))
    assert set(task.articles) == {"a0", "a1"}
    assert 1 <= len(task.episodes()) <= 2


def test_what_was_done_is_not_done_again(corpus: Path, tmp_path: Path) -> None:
    counting = Counting()

    def go(fails_after: int | None) -> int:
        task = opened(config(corpus, seeds=2))
        task._trainer = counting  # type: ignore[assignment]
        with RunDirectory.of(task, tmp_path / "run") as directory:

            def seen(row: object) -> None:
                counting.fails = len(counting.made) == fails_after

            asyncio.run(run_task(task, directory, World({}), concurrency=1, on_episode=seen))
        return len(counting.made)

    with pytest.raises(RuntimeError, match="power cut"):
        go(4)
    counting.fails = False
    assert go(None) == 6
    assert [seed for _, seed in counting.made] == [1, 1, 1, 2, 2, 2]


def findings(result: object) -> list[object]:
    """What was found in each part, but not how long it took."""
    return [
        {key: value for key, value in row.result.items() if key not in ("trained", "tagged")}
        for row in result.outcome.rows  # type: ignore[attr-defined]
    ]


def test_trainings_on_a_cluster_are_one_a_worker_and_find_the_same(
    corpus: Path, tmp_path: Path
) -> None:
    chosen = config(corpus, "crf", options={"steps": 3})
    busy: list[list[int]] = []

    async def on_two_workers() -> object:
        cluster = Cluster(InProcessRay(), workers=2, slots=4)
        try:
            return await aexecute(
                EVAL,
                chosen,
                RunOptions(quiet=True, engine="ray"),
                run_dir=tmp_path / "two",
                on_event=lambda event: busy.append([m.busy for m in cluster.members]),
                cluster=cluster,
            )
        finally:
            await cluster.aclose()

    result = asyncio.run(on_two_workers())
    assert busy[0] == [1, 1] and max(max(each) for each in busy) == 1
    local = EVAL.run(chosen, QUIET, run_dir=tmp_path / "one")
    assert len(findings(local)) == 3 and findings(result) == findings(local)


def test_writers_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "writers.jsonl"
    save_corpus(path, [replace(article(i), writer="ABC"[i % 3]) for i in range(13)])

    def parts(**changes: object) -> list[tuple[set[str], set[str], int]]:
        found = opened(config(path, **changes))._folds
        return [
            ({a.writer for a in f.train}, {a.writer for a in f.test}, len(f.train)) for f in found
        ]

    within = parts(split="within")
    assert all(learnt == tested and len(tested) == 1 for learnt, tested, _ in within)
    assert len(within) == 9
    assert {n for _, _, n in parts(split="within", given=2)} == {2}
    save_corpus(path, [replace(article(i), writer=str(i)) for i in range(6)])
    with pytest.raises(InputError, match="two articles"):
        opened(config(path, split="within"))


def test_a_tagger_without_chance_is_trained_once(corpus: Path) -> None:
    assert len(opened(config(corpus, "crf", seeds=3)).episodes()) == 3
    assert len(opened(config(corpus, "transformer", seeds=3)).episodes()) == 9


def test_a_training_leaves_curves_and_no_weights(tmp_path: Path) -> None:
    class Writing(Counting):
        def train(self, articles, dev, *, seed, folder=None):  # type: ignore[no-untyped-def]
            (folder / "checkpoint-3").mkdir(parents=True)
            (folder / "checkpoint-3" / "model.safetensors").write_bytes(b"x")
            (folder / "curve.svg").write_text("<svg/>")
            return FirstSentence()

    task = EvalTask(config(Path("none")), [article(i) for i in range(6)])
    training = TaggerTraining(
        task._folds, Writing(), scored=frozenset(task.articles), folder=tmp_path / "t"
    )
    seen = asyncio.run(training.perform(Act({"tag": 0, "seed": 1}), Where()))
    assert len(seen.info["documents"]) == 2  # type: ignore[arg-type]
    assert [p.name for p in (tmp_path / "t" / "part-1-1").iterdir()] == ["curve.svg"]


def test_marks_are_kept_as_spans() -> None:
    rows = [[True, True, False, True], [False], [True]]
    spans = tagged_spans(rows)
    assert spans == ((0, 0, 2), (0, 3, 4), (2, 0, 1))
    one = replace(
        article(1),
        sentences=tuple(
            replace(s, tokens=s.tokens[:n])
            for s, n in zip(article(1).sentences, (4, 1, 1), strict=False)
        ),
    )
    assert TaggedDocument(article="a1", spans=spans).labels(one) == rows
    bare = TaggedDocument(article="a1").labels(one, untitled=True)
    assert bare == [
        [False] * 4,
        [False],
        [False],
    ]


def test_bins_hold_every_word_that_can_be_emphasised() -> None:
    found = evaluate(FirstSentence(), [article(2)], empty_title=False)
    assert sum(n for n, _, _ in found.bins) == 80
    assert [n for n, _, _ in found.bins] == [48, 0, 0, 0, 0, 0, 0, 0, 0, 32]
    assert sum(y for _, _, y in found.bins) == 1


def test_a_sentence_is_shown_with_its_marks() -> None:
    sentence = article(1).sentences[0]
    bold = [False] * 3 + [True] + [False] * 4
    assert emphasised(sentence, bold).count("**") == 2
    assert emphasised(sentence, bold).replace("**", "") == sentence.text
    assert emphasised(sentence, [True] * 8) == f"**{sentence.text}**"


@pytest.mark.parametrize(
    ("spec", "place"),
    [("nobody", "--tagger"), ("rule:steps=3", "--tagger"), ("crf:colour=red", "colour"),
     ("crf:l2=-1", "l2"), ("transformer:body=gru", "body")],
)  # fmt: skip
def test_taggers_that_there_are_not(spec: str, place: str) -> None:
    with pytest.raises(InputError, match=place):
        trainer(*parsed(spec))


def test_every_name_has_a_trainer() -> None:
    for name in NAMES:
        if name not in ("llm", "people"):
            assert isinstance(trainer(name, {}).random, bool)
    assert trainer("crf-context", {"l2": "2"}).plan.l2 == 2.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", ["crf:l2", "crf:=2", "crf:l2=1,l2=2"])
def test_settings_that_cannot_be_read(spec: str) -> None:
    with pytest.raises(InputError, match="--tagger"):
        parsed(spec)


def test_nothing_emphasised_is_told(naisei: Naisei, tmp_path: Path) -> None:
    plain = [
        replace(a, sentences=tuple(
            replace(s, tokens=tuple(t._replace(label=False) for t in s.tokens))
            for s in a.sentences
        ))
        for a in map(article, range(6))
    ]  # fmt: skip
    save_corpus(tmp_path / "c.jsonl", plain)
    done = naisei("emphasis", "eval", tmp_path / "c.jsonl", "--tagger", "rule")
    assert done.code == 2
    assert "nothing is emphasised" in done.err and "Traceback" not in done.err


def test_from_the_command_line_with_a_scripted_editor(
    corpus: Path, tmp_path: Path, naisei: Naisei
) -> None:
    wanted = [article(i) for i in range(2)]
    rules = [
        {
            "contains": a.title,
            "reply": "\n".join(emphasised(s, s.labels) for s in a.sentences),
        }
        for a in wanted
    ]
    (tmp_path / "editor.jsonl").write_text(
        "\n".join(json.dumps(r, ensure_ascii=False) for r in rules), "utf-8"
    )
    save_corpus(corpus, [*wanted, *(article(i) for i in range(2, 12))])
    command = ["emphasis", "eval", str(corpus), "--first", "2", "--tagger", "llm", "--tagger"]
    command += ["rule", "--model", "scripted:editor.jsonl", "--quiet", "--json", "--folds", "2"]
    done = naisei(*command, NAISEI_LANG="ja")
    assert done.code == 0, done.err
    out = done.result
    assert out["metrics"]["llm"]["token_f1"] == 1.0
    assert out["metrics"]["llm"]["aligned"] == 1.0
    assert out["metrics"]["rule"]["token_f1"] < 0.2
    assert (Path(out["run_dir"]) / "study.html").is_file()
    assert naisei("runs", "resume", f"{out['run_dir']}/llm", "--quiet").code == 0


def test_the_editor_needs_a_model(corpus: Path, naisei: Naisei) -> None:
    done = naisei("emphasis", "eval", corpus, "--tagger", "llm")
    assert done.code == 2 and "--model" in done.err


def test_a_study_of_one_has_no_comparison(corpus: Path, tmp_path: Path) -> None:
    configs = {"rule": config(corpus)}
    study = execute_study(EVAL, configs, QUIET, title="emphasis eval", run_dir=tmp_path / "run")
    assert [table.title for table in study.tables] == ["Results"]


def test_taggers_are_compared_by_default_and_settings_stand_in_the_label(corpus: Path) -> None:
    assert list(configurations(EVAL, corpus=str(corpus))) == ["rule", "crf", "crf-context"]
    found = configurations(EVAL, corpus=str(corpus), tagger=["crf:l2=2, steps=30", "llm"])
    assert list(found) == ["crf:l2=2,steps=30", "llm"]
    assert found["crf:l2=2,steps=30"].options == {"l2": "2", "steps": "30"}
    two = configurations(EVAL, corpus=str(corpus), tagger=["llm"], model=["local:a", "local:b"])
    assert {c.models["editor"] for c in two.values()} == {"local:a", "local:b"}
