"""Neural taggers over a tiny encoder: what they read, how they learn, what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emphasis import tiny_encoder
from naisei.core import InputError
from naisei.emphasis.corpus.store import save_corpus
from naisei.emphasis.metrics import Counts, token_counts
from naisei.emphasis.schemas import Article, Sentence, Token

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'naisei[train]'")
pytest.importorskip("transformers")
# On a busy machine threads that wait for each other take seconds for what takes none.
torch.set_num_threads(1)

from safetensors.torch import load_file  # noqa: E402

from naisei.emphasis.taggers.crf import load as load_crf  # noqa: E402
from naisei.emphasis.taggers.neural.network import IGNORED, inputs_of  # noqa: E402
from naisei.emphasis.taggers.neural.tagger import (  # noqa: E402
    NeuralTagger,
    load,
    save,
    train,
    untrained,
)
from naisei.emphasis.taggers.plans import NeuralPlan  # noqa: E402
from naisei.emphasis.train import TrainOptions, train_tagger  # noqa: E402
from naisei.terminal import Console  # noqa: E402

_FILE = "tagger.safetensors"
KINDS: dict[str, dict[str, Any]] = {
    "bilstm": {"body": "bilstm", "hidden": 12},
    "transformer": {},
    "title-crf": {"title": True, "crf": True},
    "all": {"tuned": "all"},
    "bilstm-title-crf": {"body": "bilstm", "title": True, "crf": True, "hidden": 8},
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_encoder.folder(tmp_path_factory.mktemp("encoder") / "tiny"))


def sentence(words: str, index: int = 0, bold: str = "") -> Sentence:
    tokens: list[Token] = []
    for surface in words.split():
        start = tokens[-1].end if tokens else 0
        tokens.append(
            Token(surface, start, start + len(surface), "名詞", surface, surface in bold.split())
        )
    return Sentence("".join(t.surface for t in tokens), tuple(tokens), 0, index)


def corpus(n: int = 12) -> list[Article]:
    """重要 is emphasised wherever it is."""
    out = []
    for number in range(n):
        rows = ["犬 が 走る 。", "猫 は 重要 です 。", "設定 を する 。", "重要 設定 が 走る 。"]
        sentences = tuple(
            sentence(row, index, "重要") for index, row in enumerate(rows[number % 3 :])
        )
        out.append(Article(f"a{number}", "題 名", sentences))
    return out


def plan(encoder: str, kind: str, **more: Any) -> NeuralPlan:
    own = {"steps": 40, "every": 10, "batch": 4, "limit": 32, "rate": 5e-3}
    return NeuralPlan(encoder=encoder, **{**own, **KINDS[kind], **more})


def f1(tagger: NeuralTagger, articles: list[Article]) -> float:
    return sum((token_counts(a, tagger.labels(a)) for a in articles), Counts()).f1


@pytest.mark.parametrize("title", [False, True])
def test_each_word_is_read_once(encoder: str, title: bool) -> None:
    subwords = untrained(plan(encoder, "bilstm")).subwords
    long = sentence(" ".join(["犬", "が", "走る", "重要"] * 40), 1, "重要")
    rest = (sentence("重要", 2, "重要"), sentence("猫 は 。", 3))
    own = Article("a", "題 名 " * 50, (sentence("猫 は 。"), long, *rest))
    inputs = inputs_of(own, subwords, title=title, limit=40)
    places = [(e.place[0], e.place[1] + i) for e in inputs for i in range(len(e.labels))]
    assert places == [(n, i) for n, s in enumerate(own.sentences) for i in range(len(s.tokens))]
    labels = [label for each in inputs for label in each.labels]
    assert labels == [y for s in own.sentences for y in s.labels]
    for each in inputs:
        assert len(each.ids) <= 40
        assert each.ids[0] == 0 and each.ids[-1] == 2
        # Words, then [SEP], then perhaps the title.
        assert (each.ids.index(2) < len(each.ids) - 1) is title
        assert [each.ids[i] for i in each.leads] == [
            subwords.cut([t.surface])[0][0]
            for t in own.sentences[each.place[0]].tokens[each.place[1] :][: len(each.labels)]
        ]


def test_what_does_not_count_is_ignored_and_an_empty_title_leaves_its_place(encoder: str) -> None:
    subwords = untrained(plan(encoder, "bilstm")).subwords
    held = sentence("猫 は")
    held = replace(held, tokens=(held.tokens[0]._replace(label=None), held.tokens[1]))
    (only,) = inputs_of(Article("a", "", (held,)), subwords, title=True, limit=40)
    assert only.labels == (IGNORED, 0) and only.ids[-2:] == (2, 2)


def test_a_sentence_of_50000_characters_and_an_endless_word(encoder: str) -> None:
    tagger = untrained(plan(encoder, "transformer", layers=1, limit=60))
    word = Token("犬" * 50_000, 0, 50_000, "名詞", "犬", False)
    many = sentence(" ".join(["aptaptapt"] * 5_600), 1)
    assert len(many.text) > 50_000
    own = Article("a", "題", (Sentence(word.surface, (word,), 0, 0), many))
    p = tagger.probabilities(own)
    assert [len(row) for row in p] == [1, 5_600]
    assert all(((row > 0) & (row < 1)).all() for row in p)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_company_change_nothing(encoder: str, kind: str) -> None:
    tagger = untrained(plan(encoder, kind))
    short = Article("a", "題", (sentence("猫 は 重要"),))
    both = replace(short, sentences=(*short.sentences, sentence("犬 が " * 12, 1)))
    np.testing.assert_allclose(
        tagger.probabilities(short)[0], tagger.probabilities(both)[0], atol=1e-5
    )


@pytest.mark.parametrize("kind", ["bilstm", "transformer", "title-crf", "all"])
def test_it_learns_what_can_be_learnt(encoder: str, kind: str) -> None:
    tagger = train(corpus(), corpus(3), plan=plan(encoder, kind, steps=60))
    test = [replace(a, id=f"t{i}") for i, a in enumerate(corpus(5))]
    assert f1(tagger, test) == 1.0
    for row, own in zip(tagger.probabilities(test[0]), test[0].sentences, strict=True):
        assert (row > 0.5).tolist() == list(own.labels)


def test_what_cannot_be_emphasised_never_is(encoder: str) -> None:
    tagger = train(corpus(), plan=plan(encoder, "title-crf", steps=40))
    free = corpus(1)[0]
    code = tuple(t._replace(label=None) for t in free.sentences[1].tokens)
    held = replace(free, sentences=(replace(free.sentences[1], tokens=code),))
    assert any(tagger.labels(free)[1])
    assert not any(tagger.labels(held)[0]) and not tagger.probabilities(held)[0].any()


@pytest.mark.parametrize("kind", ["bilstm-title-crf", "title-crf"])
def test_a_training_that_was_broken_off_ends_as_it_would_have(
    encoder: str, kind: str, tmp_path: Path
) -> None:
    own = plan(encoder, kind, steps=9, every=3)
    whole = train(corpus(), corpus(3), plan=own, seed=3, folder=tmp_path / "whole")

    def broken(logs: Mapping[str, float]) -> None:
        if logs["step"] == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(corpus(), corpus(3), plan=own, seed=3, folder=tmp_path / "cut", report=broken)
    steps: list[float] = []
    again = train(
        corpus(), corpus(3), plan=own, seed=3, folder=tmp_path / "cut",
        report=lambda logs: steps.append(logs["step"]),
    )  # fmt: skip
    assert sorted({*steps}) == [6, 9]  # the checkpoint of step 3 was on disk
    for a, b in zip(
        whole.probabilities(corpus()[0]), again.probabilities(corpus()[0]), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    assert "<polyline" in (tmp_path / "cut" / "curve.svg").read_text()
    with pytest.raises(InputError):
        train(corpus(), plan=own, seed=4, folder=tmp_path / "cut")


def test_a_seed_makes_the_training(encoder: str) -> None:
    own = plan(encoder, "transformer", steps=3)
    first, same, other = (
        train(corpus(), plan=own, seed=seed).probabilities(corpus()[0])[0] for seed in (1, 1, 2)
    )
    assert (first == same).all() and not (first == other).all()


@pytest.mark.parametrize("kind", ["bilstm", "title-crf"])
def test_it_is_kept_and_opened_again(encoder: str, kind: str, tmp_path: Path) -> None:
    tagger = train(corpus(), corpus(3), plan=plan(encoder, kind, steps=8))
    save(tagger, tmp_path)
    again = load(tmp_path)
    assert (again.plan, again.calibration) == (tagger.plan, tagger.calibration)
    for a, b in zip(
        tagger.probabilities(corpus()[0]), again.probabilities(corpus()[0]), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert again.labels(corpus()[0]) == tagger.labels(corpus()[0])
    # Word vectors that were not trained are not written.
    assert not any("embeddings.word" in n or "vectors" in n for n in load_file(tmp_path / _FILE))


def test_half_of_a_new_tagger_over_an_old_one_is_none(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = untrained(plan(encoder, "bilstm"))
    save(tagger, tmp_path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("naisei.emphasis.taggers.neural.tagger.write_atomically", killed)
    with pytest.raises(KeyboardInterrupt):
        save(tagger, tmp_path)
    with pytest.raises(InputError):
        load(tmp_path)


def test_a_folder_that_is_no_tagger_is_refused(encoder: str, tmp_path: Path) -> None:
    save(untrained(plan(encoder, "bilstm")), tmp_path)
    save(untrained(plan(encoder, "transformer")), tmp_path / "other")
    card, weights = tmp_path / "tagger.json", tmp_path / _FILE
    load(tmp_path)

    def refused() -> None:
        with pytest.raises(InputError) as caught:
            load(tmp_path)
        assert str(tmp_path) in str(caught.value.place)

    weights.write_bytes((tmp_path / "other" / _FILE).read_bytes())
    refused()
    weights.unlink()
    refused()
    card.write_text('{"format": 1, "plan": {"body": "rnn"}}', encoding="utf-8")
    refused()
    card.unlink()
    refused()


def test_the_title_counts_only_where_it_is_read(encoder: str) -> None:
    own = corpus()[0]
    bare = replace(own, title="")
    for title in (False, True):
        tagger = train(corpus(), plan=plan(encoder, "transformer", title=title, steps=2))
        same = (tagger.probabilities(own)[0] == tagger.probabilities(bare)[0]).all()
        assert same is np.bool_(not title)


def test_nothing_emphasised_is_no_corpus(encoder: str) -> None:
    bare = [Article("a", "題", (sentence("犬 が 走る"),))]
    with pytest.raises(InputError, match=r"強調|emphasised"):
        train(bare, plan=plan(encoder, "bilstm"))


def test_a_device_that_is_not_there(encoder: str) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(InputError, match="cuda"):
        train(corpus(), plan=plan(encoder, "bilstm"), device="cuda")


def trained(folder: Path, spec: str) -> dict[str, Any]:
    options = TrainOptions(
        corpus=folder / "c.jsonl", tagger=spec, out=folder / "out", dev=6, device="cpu"
    )
    return train_tagger(options, Console(stderr=True, quiet=True))


@pytest.mark.parametrize("spec", ["transformer-title-crf:layers=1,limit=40", "bilstm", "crf"])
def test_the_train_command_writes_a_tagger_that_opens(
    encoder: str, spec: str, tmp_path: Path
) -> None:
    articles = corpus(12)
    save_corpus(tmp_path / "c.jsonl", articles)
    if spec != "crf":
        spec += f"{',' if ':' in spec else ':'}encoder={encoder},steps=2,every=1"
    said = trained(tmp_path, spec)
    assert 6 <= said["articles"] <= 12 and said["dev_articles"] >= 2
    if spec == "crf":
        opened: Any = load_crf(Path(said["model"]))
    else:
        opened = load(Path(said["model"]))
        # What the specification says goes before the settings for a processor.
        assert (opened.plan.steps, opened.plan.plain) == (2, 0.2)
    assert [len(row) for row in opened.labels(articles[0])] == [
        len(s.tokens) for s in articles[0].sentences
    ]


def test_a_rule_does_not_learn(tmp_path: Path) -> None:
    save_corpus(tmp_path / "c.jsonl", corpus(3))
    with pytest.raises(InputError, match="rule"):
        trained(tmp_path, "rule")
