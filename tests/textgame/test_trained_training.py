"""Training with a tiny encoder: learns, goes on after a kill, exports what plays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.core import InputError
from naisei.runs.curve import Curve, svg
from naisei.textgame.trained.dataset import batches, sampled
from naisei.textgame.trained.recordings import RecordedGame
from naisei.textgame.trained.training.options import TrainingOptions
from textgame.trained_kit import recorded, tiny_encoder


def torch_or_skip() -> None:
    for name in ("torch", "transformers", "onnx", "onnxruntime"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install 'naisei[train]'")
    import torch

    # On a busy machine threads that wait for each other take minutes for what takes seconds.
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def game() -> RecordedGame:
    return recorded()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory, game: RecordedGame) -> str:
    torch_or_skip()
    texts = [f"{s.state.text} {' '.join(s.candidates)}" for s in game.steps]
    return str(tiny_encoder(tmp_path_factory.mktemp("tiny"), texts))


def plan(encoder: str, **more: object) -> TrainingOptions:
    return TrainingOptions.model_validate(
        {"encoder": encoder, "limit": 96, "rate": 3e-3, "epochs": 2, "batch": 4, **more}
    )


def test_the_rate_rises_then_falls_to_nothing() -> None:
    given = TrainingOptions(rate=1.0, warmup=0.2)
    rates = [given.rate_at(step, 100) for step in range(100)]
    assert rates.index(max(rates)) in (19, 20) and max(rates) == pytest.approx(1.0)
    assert 0 < rates[-1] < 0.02 and 0 < rates[0] < 0.06


def test_every_epoch_has_its_own_batches_of_similar_length() -> None:
    lengths = [n % 50 for n in range(403)]
    first, again, second = (batches(lengths, 8, seed=1, epoch=e) for e in (0, 0, 1))
    assert sorted(n for batch in first for n in batch) == list(range(403))
    assert len(first) == 51 and first == again != second
    spread = [max(lengths[n] for n in b) - min(lengths[n] for n in b) for b in first]
    assert sum(spread) / len(spread) < 10  # of 49


def test_a_curve_forgets_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    curve = Curve(tmp_path / "c.csv", ("step", "loss"))
    for step in (1, 2, 3):
        curve.add(step, 1 / step)
    curve.write()
    again = Curve(tmp_path / "c.csv", ("step", "loss"))
    again.resume(2)
    assert [row[0] for row in again.rows] == [1, 2]
    drawn = svg({"loss": [(1, 1.0), (2, 0.5)]}, title="t")
    assert drawn.count("<polyline") == 1 and svg({}, title="t").startswith("<svg")


def test_a_choice_becomes_one_positive_and_its_negatives(game: RecordedGame) -> None:
    from naisei.textgame.trained.training.loop import examples

    source = examples(TrainingOptions(), [game])[0]
    item = sampled(source, 3, seed="0")
    assert item.labels == (1.0, 0.0, 0.0, 0.0)[: len(item.actions)]
    assert item.actions[0] == "inventory"
    wrong = examples(TrainingOptions(task="classifier"), [game])
    assert {sampled(w, 5, seed="").labels for w in wrong} == {(0.0,), (1.0,)}
    (together,) = examples(TrainingOptions(task="classifier", layout="shared"), [game])
    item = sampled(together, 5, seed="")
    assert dict(zip(item.actions, item.labels, strict=True)) == {
        w.actions[0]: float(w.wrong[0])  # type: ignore[union-attr]
        for w in wrong
    }


def test_rare_verbs_weigh_more_and_all_weigh_one_on_average(game: RecordedGame) -> None:
    from naisei.textgame.trained.dataset import weights
    from naisei.textgame.trained.training.loop import examples

    sources = examples(TrainingOptions(), [game])
    assert weights(sources, 0.0) == [1.0] * len(sources)
    given = weights(sources, 0.5)
    of = {s.action.split()[0]: w for s, w in zip(sources, given, strict=True)}  # type: ignore[union-attr]
    assert of["eat"] > of["go"] > 0
    assert sum(given) == pytest.approx(len(given))


@given(
    st.lists(st.floats(0.01, 20.0), min_size=1, max_size=60), st.integers(0, 9), st.integers(0, 9)
)
def test_draws_are_as_many_as_the_examples_each_as_often_as_it_weighs(
    weights: list[float], seed: int, epoch: int
) -> None:
    from naisei.textgame.trained.dataset import drawn

    numbers = drawn(weights, seed=seed, epoch=epoch)
    assert len(numbers) == len(weights)
    assert numbers == drawn(weights, seed=seed, epoch=epoch)
    for number, weight in enumerate(weights):
        due = weight * len(weights) / sum(weights)
        assert abs(numbers.count(number) - due) < 1 + 1e-6


@pytest.mark.parametrize("balance_by", ["weights", "draws"])
def test_a_killed_training_goes_on_to_the_same_curve_and_weights(
    encoder: str, game: RecordedGame, tmp_path: Path, balance_by: str
) -> None:
    import torch

    from naisei.textgame.trained.training.loop import Pace, make_model

    class Killed(Exception):
        pass

    def kill(step: int, steps: int, loss: float) -> None:
        if step >= 5:
            raise Killed

    made_so = plan(encoder, balance=0.5, balance_by=balance_by)
    pace = Pace(window=2, seconds=0)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    make_model(made_so, [game], [game], whole, device="cpu", pace=pace)
    with pytest.raises(Killed):
        make_model(made_so, [game], [game], broken, device="cpu", pace=pace, report=kill)
    made = make_model(made_so, [game], [game], broken, device="cpu", pace=pace)
    assert made.trained.steps == 6 and made.examples == 12
    for name in ("curve.csv", "validation.csv"):
        assert (whole / "training" / name).read_text() == (broken / "training" / name).read_text()
    one, two = (torch.load(f / "training" / "best.pt", weights_only=True) for f in (whole, broken))
    assert all(torch.equal(one[key], two[key]) for key in one)
    with pytest.raises(InputError, match="other settings"):
        make_model(
            plan(encoder, balance=0.5, balance_by=balance_by, seed=1),
            [game],
            [game],
            broken,
            device="cpu",
            pace=pace,
        )


def test_it_learns_a_game_by_heart_and_its_onnx_plays_it(
    encoder: str, game: RecordedGame, tmp_path: Path
) -> None:
    from naisei.core import Act, World, run
    from naisei.textgame.flow import play_game
    from naisei.textgame.player import PlayerContext
    from naisei.textgame.trained.kind import ImitationOptions, build
    from naisei.textgame.trained.training.loop import make_model
    from textgame.trained_kit import house

    out = tmp_path / "model"
    given = plan(encoder, loss="ranking", epochs=40, select="accuracy", decay=0.0)
    made = make_model(given, [game], [game], out, device="cpu", int8=False)
    assert made.trained.best >= 0.9
    kind = build()
    player = kind.new(PlayerContext(game="g", settings=ImitationOptions(model=str(out))))
    result = run(play_game("g", player, max_steps=60), World({Act: house()}))
    assert result.won or len(result.steps) == 60
    again = kind.new(PlayerContext(game="g", settings=ImitationOptions(model=str(out))))
    assert run(play_game("g", again, max_steps=60), World({Act: house()})) == result
    with pytest.raises(InputError, match="trained as policy"):
        kind.new(
            PlayerContext(
                game="g",
                settings=ImitationOptions(
                    model=str(out), penalty="soft", classifier_model=str(out)
                ),
            )
        )


def test_onnx_rates_as_the_network_and_int8_nearly(
    encoder: str, game: RecordedGame, tmp_path: Path
) -> None:
    import numpy as np

    from naisei.textgame.trained.scorer import TrainedScorer
    from naisei.textgame.trained.training.export import export
    from naisei.textgame.trained.training.learner import Learner
    from naisei.textgame.trained.training.network import RatingModel

    model = RatingModel(plan(encoder, task="classifier", seed=3))
    special = model.special
    assert (special.before, special.between, special.after) == ((2,), (3,), (3,))
    learner = Learner(model, device="cpu")
    state = game.steps[-1].state
    actions = [*game.steps[-1].candidates, "take the long red onion from somewhere"]
    logits = np.array(learner.rate([(state, actions)])[0])
    expected = 1 / (1 + np.exp(-logits))
    for int8, tolerance in ((False, 1e-4), (True, 0.05)):
        folder = tmp_path / str(int8)
        assert export(model, folder, int8=int8, figures={}).name == "model.onnx"
        rated = TrainedScorer(folder, "classifier").score(state, actions)
        assert np.allclose(rated, expected, atol=tolerance)


def test_a_missing_encoder_is_named() -> None:
    torch_or_skip()
    from naisei.textgame.trained.training.network import RatingModel

    with pytest.raises(InputError, match="cannot be loaded"):
        RatingModel(TrainingOptions(encoder="/nowhere/at/all"))


def test_recordings_are_put_together_and_none_may_repeat_a_game(
    game: RecordedGame, tmp_path: Path
) -> None:
    from rich.console import Console

    from naisei.textgame.trained.recordings import VERSION
    from naisei.textgame.trained.training.command import recordings_of

    def written(name: str, games: list[str]) -> Path:
        lines = [game.model_copy(update={"game": each}).model_dump_json() for each in games]
        head = f'{{"naisei-walkthroughs": {VERSION}, "games": {len(games)}}}'
        path = tmp_path / name
        path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
        return path

    one, two, again = written("1", ["a", "b"]), written("2", ["c"]), written("3", ["d", "b"])
    found = recordings_of(None, [one, two], Console())
    assert [each.game for each in found] == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"b is in .*1 too"):
        recordings_of(None, [one, again], Console())
    for games, files in ((None, []), (tmp_path, [one])):
        with pytest.raises(InputError, match="once"):
            recordings_of(games, files, Console())
