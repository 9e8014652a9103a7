"""A training from recorded walkthroughs to a folder with a model that plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.trained.dataset import choices, wrong_actions
from naisei.textgame.trained.pairs import PairEncoder, numbers_by, special_of
from naisei.textgame.trained.recorded import RecordedGame
from naisei.textgame.trained.shared import SharedEncoder
from naisei.textgame.trained.training.checkpoint import start_from, take_best
from naisei.textgame.trained.training.export import export
from naisei.textgame.trained.training.items import Source, by_cookbook
from naisei.textgame.trained.training.learner import Learner
from naisei.textgame.trained.training.loop import PACE, Pace, Trained, train
from naisei.textgame.trained.training.network import load
from naisei.textgame.trained.training.options import TrainingOptions
from naisei.textgame.trained.training.validation import threshold
from naisei.textgame.trained.training.vocabulary import game_words

__all__ = ["Made", "examples", "make_model"]


@dataclass(frozen=True, slots=True)
class Made:
    """folder: of the model. examples: learned from. megabytes: of `model.onnx`."""

    folder: Path
    trained: Trained
    examples: int
    megabytes: float


def examples(plan: TrainingOptions, recordings: Sequence[RecordedGame]) -> tuple[Source, ...]:
    """What a plan learns from."""
    if plan.task == "classifier":
        together = plan.layout == "shared"
        return tuple(by_cookbook(wrong_actions(recordings), together=together))
    return choices(recordings, navigator=plan.navigator, meal=plan.meal).of


def make_model(
    plan: TrainingOptions,
    recordings: Sequence[RecordedGame],
    valid: Sequence[RecordedGame],
    out: Path,
    *,
    device: str = "auto",
    int8: bool = True,
    vocabulary: Literal["all", "games"] = "all",
    start: Path | None = None,
    pace: Pace = PACE,
    play: Callable[[Path], float] | None = None,
    report: Callable[[int, int, float], None] = lambda step, steps, loss: None,
) -> Made:
    """Train (or go on training) in `out/training` and write the best model into `out`.

    vocabulary: which of the encoder's tokens the model keeps: `games`, those of the recordings
    and of textworld's own texts (where it is installed). start: folder of another training,
    whose best weights this one begins with. play: share of points that the model of
    a folder wins; needed for `select=games`.

    Raises:
        InputError: nothing to learn from, no such encoder or device, or another training in `out`.
    """
    sources = examples(plan, recordings)
    if not sources:
        raise InputError(
            say(
                "これらの解答には、学習に使える例がありません",
                "there is nothing to learn from in these walkthroughs",
            ),
            place=plan.task,
            remedy=say(
                "解答で料理本を読むゲームを記録してください",
                "record games whose walkthroughs read the cookbook",
            ),
        )
    loaded = load(
        plan.encoder,
        pooling=plan.pooling,
        seed=plan.seed,
        layout=plan.layout,
        layers=plan.layers,
        width=plan.width,
        matching=plan.matching,
    )
    limit = min(plan.limit, loaded.longest)
    special = special_of(loaded.tokenizer, pad=loaded.pad, types=loaded.types)
    kind = SharedEncoder if plan.layout == "shared" else PairEncoder
    encoder = kind(numbers_by(loaded.tokenizer), special, limit=limit)
    learner = Learner(loaded, encoder, plan, device=_device(device))
    work = out / "training"
    work.mkdir(parents=True, exist_ok=True)

    checked = examples(plan, valid)
    started = start_from(start, learner, task=plan.task) if start is not None else ""

    def play_now() -> float:
        assert play is not None
        try:
            export(loaded, special, plan, work / "now", limit=limit, int8=False, figures={})
            return play(work / "now")
        finally:
            learner.network.to(learner.device)

    trained = train(
        plan,
        learner,
        sources,
        checked,
        work,
        pace=pace,
        started=started,
        play=play_now if play is not None else None,
        report=report,
    )
    take_best(work, learner)
    export(
        loaded,
        special,
        plan,
        out,
        limit=limit,
        int8=int8,
        threshold=threshold(learner, checked) if plan.task == "classifier" else 0.5,
        figures={
            "games": len(recordings),
            "examples": len(sources),
            "best_epoch": trained.epoch,
            "steps": trained.steps,
            "vocabulary": vocabulary,
            "start": start.name if start is not None else None,
        },
        words=_words([*recordings, *valid]) if vocabulary == "games" else (),
    )
    size = (out / "model.onnx").stat().st_size / 1e6
    return Made(out, trained, len(sources), size)


def _words(recordings: Sequence[RecordedGame]) -> tuple[str, ...]:
    texts = dict.fromkeys(game_words())
    for game in recordings:
        for step in game.steps:
            texts.update(dict.fromkeys((step.situation.text, *step.candidates, *step.navigate)))
    return tuple(texts)


def _device(name: str) -> str:
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            say("このデバイスは使えません: ", "this device cannot be used: ")
            + str(error).splitlines()[0],
            place=f"--device {name}",
            remedy=say("--device cpu を指定してください", "use --device cpu"),
        ) from error
    return name
