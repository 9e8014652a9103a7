"""One reading of a state for all its actions: ratings, training, export, names, vocabulary."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.core import InputError
from naisei.textgame.trained.dataset import Item, sampled
from naisei.textgame.trained.recordings import RecordedGame
from naisei.textgame.trained.training.augmentation import Renamer
from naisei.textgame.trained.training.options import TrainingOptions
from textgame.test_trained_training import torch_or_skip
from textgame.trained_kit import recorded, tiny_encoder

STEP = recorded().steps[-3]
#: The least with a head of each kind.
WIDTH = 144
ACTIONS = (*STEP.candidates, "take the long red onion", "navigate to knife", "nonsense of words")


@pytest.fixture(scope="module")
def game() -> RecordedGame:
    return recorded()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory, game: RecordedGame) -> str:
    torch_or_skip()
    texts = [f"{s.state.text} {' '.join(s.candidates)}" for s in game.steps]
    return str(tiny_encoder(tmp_path_factory.mktemp("tiny"), texts))


def learner(encoder: str, **more: Any) -> Any:
    from naisei.textgame.trained.training.learner import Learner
    from naisei.textgame.trained.training.network import RatingModel

    options = {"encoder": encoder, "layout": "shared", "seed": 5, "limit": 120, **more}
    model = RatingModel(TrainingOptions.model_validate(options))
    return Learner(model, device="cpu"), model


@cache
def rated_by(encoder: str, matching: bool) -> Any:
    return learner(encoder, width=WIDTH, matching=matching)[0]


@given(st.permutations(ACTIONS), st.integers(1, len(ACTIONS)), st.booleans())
def test_a_rating_depends_on_no_other_candidate(
    encoder: str, order: list[str], count: int, matching: bool
) -> None:
    rating = rated_by(encoder, matching).rate
    shown = order[:count]
    (together,) = rating([(STEP.state, shown)])
    alone = rating([(STEP.state, [action]) for action in shown])
    assert np.allclose(together, [one for (one,) in alone], atol=1e-5)
    assert len({round(value, 4) for value in together}) > 1 or count < 3


def test_a_state_depends_on_no_other_state_of_the_batch(encoder: str, game: RecordedGame) -> None:
    rating = rated_by(encoder, True).rate
    groups = [(step.state, step.candidates) for step in game.steps]
    together = rating(groups, at_once=3)
    assert [len(own) for own in together] == [len(step.candidates) for step in game.steps]
    for own, group in zip(together, groups, strict=True):
        assert np.allclose(own, rating([group])[0], atol=1e-5)


def test_with_one_action_nothing_is_hidden_but_the_action_from_the_state(encoder: str) -> None:
    batch = rated_by(encoder, False)._encoder.batch([(STEP.state, ("go north",))])
    ids, segments = batch.input_ids[0].tolist(), batch.segments[0].tolist()
    assert batch.position_ids[0].tolist() == list(range(len(ids)))
    at = int(batch.heads[0, 0])
    assert ids[at] == ids[0] and segments == [0] * at + [1] * (len(ids) - at)


@pytest.mark.parametrize(("int8", "width"), [(False, 16), (True, 16), (False, None)])
def test_the_exported_file_rates_as_the_network_with_the_words_of_games_only(
    encoder: str, game: RecordedGame, tmp_path: Path, int8: bool, width: int | None
) -> None:
    from naisei.textgame.trained.scorer import TrainedScorer
    from naisei.textgame.trained.training.export import export

    taught, model = learner(encoder, width=width, matching=True)
    (logits,) = taught.rate([(STEP.state, ACTIONS)])
    (tmp_path / "model.onnx").touch()  # of an earlier training
    written = export(model, tmp_path, int8=int8, figures={}, words=["red"])
    assert written.name == "model.npz" and not (tmp_path / "model.onnx").exists()
    scorer = TrainedScorer(tmp_path, "policy")
    rated = scorer.score(STEP.state, ACTIONS)
    assert np.allclose(rated, 1 / (1 + np.exp(-np.array(logits))), atol=5e-3 if int8 else 1e-5)
    (alone,) = scorer.score(STEP.state, ACTIONS[2:3])
    assert alone == pytest.approx(rated[2], abs=1e-6)


def test_what_is_learned_with_the_layout_is_kept_by_the_file(
    encoder: str, game: RecordedGame, tmp_path: Path
) -> None:
    from naisei.textgame.trained.scorer import TrainedScorer
    from naisei.textgame.trained.training.loop import make_model

    plan = TrainingOptions(
        task="classifier",
        encoder=encoder,
        layout="shared",
        width=16,
        matching=True,
        epochs=60,
        batch=1,
        rate=1e-2,
        limit=120,
        decay=0.0,
    )
    made = make_model(plan, [game], [game], tmp_path, device="cpu", vocabulary="games")
    assert made.examples == 1 and made.trained.steps == 60
    state = game.steps[-1].state.model_copy(update={"inventory": "", "room": "", "description": ""})
    rated = TrainedScorer(tmp_path, "classifier").score(
        state, ["cook red onion with oven", "cook red onion with stove"]
    )
    assert rated[0] < 0.5 < rated[1]


def test_foods_are_renamed_alike_everywhere(game: RecordedGame) -> None:
    from naisei.textgame.trained.training.loop import examples

    sources = examples(TrainingOptions(), [game])
    item = sampled(sources[-2], 5, seed="1")
    assert Renamer(sources, share=0.0).item(item, seed="7") is item
    renamer = Renamer(sources, share=1.0)
    seen: set[str] = set()
    for number in range(8):
        other = renamer.item(item, seed=str(number))
        assert other == renamer.item(item, seed=str(number)) and other.labels == item.labels
        (name,) = {
            action.removeprefix("drop ")
            for action in other.actions
            if action.startswith("drop ") and "knife" not in action
        } or {""}
        assert name in other.state.inventory and name in other.state.cookbook
        seen.add(name)
    assert len(seen) > 1


def test_renaming_leaves_tools_and_the_meal_alone(game: RecordedGame) -> None:
    from naisei.textgame.trained.training.loop import examples

    sources = examples(TrainingOptions(), [game])
    renamer = Renamer(sources, share=1.0)
    kept = Item(STEP.state, ("take knife", "eat meal", "prepare meal", "take cookbook"), (1.0,))
    assert renamer.item(kept, seed="3").actions == kept.actions


def test_a_smaller_vocabulary_gives_the_same_tokens() -> None:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    from naisei.textgame.trained.training.export import pruned

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "onion", "red", "##s", "##r", "r", "e", "##e"]
    pieces += ["##d", "house", "##hold", "blue"]
    whole = Tokenizer(models.WordPiece({p: n for n, p in enumerate(pieces)}, unk_token="[UNK]"))
    whole.pre_tokenizer = pre_tokenizers.Whitespace()
    whole.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    found = pruned(whole, ["blue onions"])
    assert found is not None
    smaller, rows = found
    assert smaller.encode("blue onions").tokens == ["[CLS]", "blue", "onion", "##s", "[SEP]"]
    assert smaller.encode("red").tokens == ["[CLS]", "r", "##e", "##d", "[SEP]"]
    assert [pieces[old] for old in rows] == [smaller.id_to_token(n) for n in range(len(rows))]
    assert not {"red", "house", "##hold"} & set(smaller.get_vocab())
    by_word = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    assert pruned(by_word, ["x"]) is None


def test_what_cannot_be_shared_narrowed_or_shortened_is_named(encoder: str) -> None:
    with pytest.raises(InputError, match="has 2 layers"):
        learner(encoder, layers=3)
    with pytest.raises(InputError, match="cannot be narrowed to 20"):
        learner(encoder, width=20)
    assert len(learner(encoder, layers=1)[1].network.body.encoder.layer) == 1


def test_a_training_begins_with_the_weights_of_another(
    encoder: str, game: RecordedGame, tmp_path: Path
) -> None:
    import torch

    from naisei.textgame.trained.training.loop import make_model

    plan = TrainingOptions(
        encoder=encoder, layout="shared", width=16, epochs=1, rate=1e-9, limit=120, decay=0.0
    )
    first, second, third = tmp_path / "first", tmp_path / "second", tmp_path / "third"
    make_model(plan, [game], [game], first, device="cpu", int8=False)
    other = plan.model_copy(update={"seed": 8})
    with pytest.raises(InputError, match="no training to start from"):
        make_model(other, [game], [game], third, device="cpu", start=second)
    make_model(other, [game], [game], second, device="cpu", int8=False, start=first)
    one, two = (torch.load(f / "training" / "best.pt", weights_only=True) for f in (first, second))
    assert all(torch.allclose(one[key], two[key], atol=1e-6) for key in one)
    with pytest.raises(InputError, match="other settings"):
        make_model(other, [game], [game], second, device="cpu", int8=False)
    wider = plan.model_copy(update={"width": None})
    with pytest.raises(InputError, match="another one"):
        make_model(wider, [game], [game], third, device="cpu", start=first)
