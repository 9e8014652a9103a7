"""Training with a tiny encoder: learns, goes on after a kill, exports what plays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.core import Act, InputError, World, run
from naisei.textgame.cooking_state import TextState
from naisei.textgame.flow import play_game
from naisei.textgame.player import PlayerContext
from naisei.textgame.trained.dataset import ProcessingExample, choices, pairs_of
from naisei.textgame.trained.kind import ImitationOptions, build
from naisei.textgame.trained.recordings import RecordedGame, Recording, _write
from naisei.textgame.trained.scorer import TrainedScorer
from naisei.textgame.trained.training.options import TrainingOptions
from textgame.trained_kit import house, recorded, tiny_encoder


@pytest.fixture(scope="module")
def game() -> RecordedGame:
    return recorded()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory, game: RecordedGame) -> str:
    for name in ("torch", "transformers", "accelerate", "onnx", "onnxruntime"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install 'naisei[train]'")
    import torch

    # On a busy machine threads that wait for each other take minutes for what takes seconds.
    torch.set_num_threads(1)
    texts = [f"{s.state.text} {' '.join(s.candidates)}" for s in game.steps]
    return str(tiny_encoder(tmp_path_factory.mktemp("tiny"), texts))


def plan(encoder: str, **more: object) -> TrainingOptions:
    return TrainingOptions.model_validate(
        {"encoder": encoder, "limit": 96, "rate": 3e-3, "epochs": 2, "batch": 4, **more}
    )


def test_a_choice_becomes_one_positive_and_its_negatives(game: RecordedGame) -> None:
    source = choices([game], navigator=True).of[0]
    pairs = pairs_of(source, 3, seed="0")
    assert pairs[0] == (source.state, "inventory", 1.0)
    assert [label for _, _, label in pairs[1:]] == [0.0] * min(3, len(source.others))
    assert pairs == pairs_of(source, 3, seed="0")
    assert len(pairs_of(source)) == 1 + len(source.others)
    wrong = ProcessingExample(game="g", cookbook="b", action="a", wrong=1)
    assert pairs_of(wrong) == [(TextState(cookbook="b"), "a", 1.0)]


def test_a_killed_training_goes_on_to_the_same_weights(
    encoder: str, game: RecordedGame, tmp_path: Path
) -> None:
    from transformers import TrainerCallback

    from naisei.textgame.trained.training.loop import _Examples, make_model

    class Killed(Exception):
        pass

    class Kill(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step == 5:
                raise Killed

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    made = make_model(plan(encoder), [game], [game], whole)
    with pytest.raises(Killed):
        make_model(plan(encoder), [game], [game], broken, callbacks=[Kill()])
    assert not (broken / "model.json").exists()
    (broken / "training" / "checkpoint-9").mkdir()  # of a kill while it was written
    again = make_model(plan(encoder), [game], [game], broken)
    assert (again.steps, again.examples, again.figures) == (6, 12, made.figures)
    drawn = _Examples(choices([game], navigator=True).of, plan(encoder, negatives=1))
    first = [drawn[n] for n in range(len(drawn))]
    drawn.set_epoch(1)
    assert first != [drawn[n] for n in range(len(drawn))], "negatives are drawn anew"
    assert (whole / "model.onnx").read_bytes() == (broken / "model.onnx").read_bytes()
    with pytest.raises(InputError, match="other settings"):
        make_model(plan(encoder, seed=1), [game], [game], broken)


@pytest.mark.slow
def test_it_learns_a_game_by_heart_and_its_onnx_plays_it(
    encoder: str, game: RecordedGame, tmp_path: Path
) -> None:
    from naisei.textgame.trained.training.loop import make_model

    out = tmp_path / "model"
    made = make_model(plan(encoder, epochs=60), [game], [game], out)
    assert made.figures["accuracy"] >= 0.8
    kind = build()
    player = kind.new(PlayerContext(game="g", settings=ImitationOptions(model=str(out))))
    result = run(play_game("g", player, max_steps=60), World({Act: house()}))
    assert result.won or len(result.steps) == 60
    again = kind.new(PlayerContext(game="g", settings=ImitationOptions(model=str(out))))
    assert run(play_game("g", again, max_steps=60), World({Act: house()})) == result
    options = ImitationOptions(model=str(out), penalty="soft", classifier_model=str(out))
    with pytest.raises(InputError, match="trained as policy"):
        kind.new(PlayerContext(game="g", settings=options))


def test_the_command_trains_a_classifier_that_tells_the_oven_from_the_stove(
    encoder: str, game: RecordedGame, tmp_path: Path, naisei: Naisei
) -> None:
    _write(tmp_path / "games.jsonl", Recording((game,)))
    flags = ["--task", "classifier", "--encoder", encoder, "--max-tokens", "96", "--rate", "3e-3"]
    flags += ["--recorded", "games.jsonl", "--valid-recorded", "games.jsonl", "--epochs", "60"]
    done = naisei("textgame", "train", *flags, "--batch", "2", "--out", "model", "--json")
    assert done.code == 0, done.err
    assert done.result["wrong_found"] == done.result["right_kept"] == 1.0
    card = json.loads(Path("model/model.json").read_text("utf-8"))
    assert (card["task"], card["layout"], card["threshold"]) == ("classifier", "pairs", 0.5)
    rated = TrainedScorer(Path("model"), "classifier").score(
        TextState(cookbook=game.steps[-1].state.cookbook),
        ["cook red onion with oven", "cook red onion with stove"],
    )
    assert rated[0] < 0.5 < rated[1]


def test_the_threshold_leaves_right_actions_alone_that_are_rated_above_a_half() -> None:
    from types import SimpleNamespace

    import numpy as np

    from naisei.textgame.trained.training.loop import figures_of

    examples = [ProcessingExample(game="g", cookbook="b", action="a", wrong=0)]
    outputs, labels = np.array([[0.4], [-2.0], [0.3], [3.0]]), np.array([[0], [0], [1], [1]])
    told = figures_of(examples)(SimpleNamespace(predictions=outputs, label_ids=labels))
    assert told["threshold"] == pytest.approx(1 / (1 + np.exp(-0.4)))
    assert (told["right_kept"], told["wrong_found"]) == (1.0, 0.5)
    told = figures_of(examples)(SimpleNamespace(predictions=outputs[1:2], label_ids=labels[1:2]))
    assert (told["threshold"], told["right_kept"]) == (0.5, 1.0)
    assert np.isnan(told["wrong_found"])


def test_onnx_rates_as_the_network(encoder: str, game: RecordedGame, tmp_path: Path) -> None:
    import numpy as np
    import torch

    from naisei.textgame.trained.scorer import ModelCard
    from naisei.textgame.trained.training.export import export
    from naisei.textgame.trained.training.loop import RatingModel

    model = RatingModel(plan(encoder, task="classifier", seed=3))
    special = model.encoder.special
    assert (special.before, special.between, special.after) == ((2,), (3,), (3,))
    state = game.steps[-1].state
    actions = [*game.steps[-1].candidates, "take the long red onion from somewhere"]
    batch = model.batch([[(state, action, 0.0) for action in actions]])
    with torch.no_grad():
        logits = model.network.eval()(**batch).logits[:, 0].numpy()
    card = ModelCard(task="classifier", limit=96, special=special, inputs=model.inputs)
    export(model.network, model.tokenizer, card, tmp_path)
    rated = TrainedScorer(tmp_path, "classifier").score(state, actions)
    assert np.allclose(rated, 1 / (1 + np.exp(-logits)), atol=1e-4)


def test_a_missing_encoder_is_named(encoder: str) -> None:
    from naisei.textgame.trained.training.loop import RatingModel

    with pytest.raises(InputError, match="cannot be loaded"):
        RatingModel(TrainingOptions(encoder="/nowhere/at/all"))
