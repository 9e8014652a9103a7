"""What weights were trained on is known by its words, and figures on it say so."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.clarify.data import load
from naisei.clarify.describe import scene_text
from naisei.emphasis.demo import HELD_OUT
from naisei.training_documents import digest, learnt_from, read_digests, training_note
from tools import emphasis_weights, fault_weights, fit_speech

DATA = files("naisei") / "data"


def test_a_copy_is_known_however_it_is_wrapped_and_marked() -> None:
    assert digest("鍵は**総務部**で\n借ります。ＡＢ") == digest("鍵は総務部で借ります。AB")
    assert digest("鍵は総務部で借ります。") != digest("鍵は総務部で返します。")
    assert training_note("x", 0, 5) == ()
    (note,) = training_note("x", 2, 5)
    assert "2" in note and "5" in note and "x" in note


def test_the_lists_beside_the_weights_are_those_of_the_tools() -> None:
    ours = emphasis_weights.written()
    known = read_digests(DATA / "emphasis_weights" / "documents.txt")
    seen = [a.text for a in ours if a.id not in HELD_OUT]
    assert known == {digest(text) for text in seen}
    assert learnt_from([a.text for a in ours if a.id in HELD_OUT], known) == 0
    lines = [row["line"] for row in fault_weights.rows()]
    assert read_digests(DATA / "fault_weights" / "documents.txt") == set(map(digest, lines))
    assert read_digests(fit_speech.DOCUMENTS) == {digest(i.text) for i in fit_speech.tuning()}


@pytest.mark.parametrize("language", ["", "-en"])
def test_bayes_was_fitted_to_train_and_dev_alone(language: str) -> None:
    suffix = ".en" if language else ""
    folder = files("naisei.clarify.agents") / "weights"
    known = read_digests(folder / f"bayes_ambigact40{suffix}.documents.txt")

    def scenes(split: str) -> list[str]:
        return [
            scene_text(i.scene) for i in load(f"ambigact40-open{language}", split=split).instances
        ]

    assert set(map(digest, [*scenes("train"), *scenes("dev")])) == known
    assert learnt_from(scenes("test"), known) == 0


USED = "3 of these 4 documents were used to train"


def notes(naisei: Naisei, *words: object) -> str:
    done = naisei(*words, "--quiet", "--json")
    assert done.code == 0, done.err
    assert all(note[:40] in done.err for note in done.result["notes"] if "used to train" in note)
    return " ".join(done.result["notes"])


def test_figures_of_bayes_on_what_it_was_fitted_to_say_so(naisei: Naisei, english: Path) -> None:
    asked = ["clarify", "run", "--agent", "bayes", "--limit", 2, "--embedder", "ngram"]
    assert "2 of these 2" in notes(naisei, *asked, "--split", "dev")
    assert "used to train" not in notes(naisei, *asked)


def test_figures_of_a_tagger_on_what_it_was_trained_on_say_so(
    naisei: Naisei, english: Path
) -> None:
    folder = Path("own")
    folder.mkdir()
    articles = Path(str(DATA / "emphasis_articles"))
    learnt = [p for p in sorted(articles.glob("*.md")) if p.stem not in (*HELD_OUT, "README")]
    some = [p for p in learnt if "**" in p.read_text("utf-8")][:3]
    for n, path in enumerate([*some, articles / f"{HELD_OUT[0]}.md"]):
        (folder / f"renamed-{n}.md").write_text(path.read_text("utf-8"), "utf-8")
    assert naisei("emphasis", "corpus", "--from", folder, "--out", "c.jsonl").code == 0
    asked = ["emphasis", "eval", "c.jsonl", "--folds", 2, "--dev", 0]
    for tagger in ("bundled", "adapted"):
        assert USED in notes(naisei, *asked, "--tagger", tagger)
    assert "used to train" not in notes(naisei, *asked, "--tagger", "rule")
    study = naisei(*asked, "--tagger", "rule", "--tagger", "bundled", "--quiet", "--json")
    assert any(USED in note for note in study.result["notes"])
    assert any("3 of these 4" in p.read_text("utf-8") for p in Path("runs").rglob("report.html"))


def test_figures_on_the_questions_that_the_rules_were_tuned_on_say_so(
    naisei: Naisei, english: Path
) -> None:
    index = naisei("intent", "index", "handbook", "--index", "idx", "--embedder", "none")
    assert index.code == 0, index.err
    asked = ["intent", "eval", "--index", "idx", "--mode", "bm25", "--limit", 2]
    assert "2 of these 2" in notes(naisei, *asked, "--split", "dev")
    assert "used to train" not in notes(naisei, *asked, "--split", "test")
