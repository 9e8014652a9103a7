"""Training from recorded walkthroughs to a folder with a model that plays. Killed at any moment, it
goes on from its last checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from time import monotonic
from typing import Literal

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.runs.curve import Curve, svg
from naisei.textgame.trained.dataset import (
    Source,
    batches,
    by_cookbook,
    choices,
    data_digest,
    drawn,
    length_of,
    sampled,
    weights,
    wrong_actions,
)
from naisei.textgame.trained.recordings import RecordedGame
from naisei.textgame.trained.training.augmentation import Joiner, Renamer
from naisei.textgame.trained.training.export import export, game_words
from naisei.textgame.trained.training.learner import (
    Learner,
    Progress,
    Validation,
    restore,
    save,
    save_best,
    start_from,
    take_best,
    threshold,
    validate,
)
from naisei.textgame.trained.training.network import RatingModel
from naisei.textgame.trained.training.options import TrainingOptions


@dataclass(frozen=True, slots=True)
class Pace:
    """What changes no weights. window: steps whose loss is one point of the curve; a checkpoint
    is written at the end of one. seconds: between checkpoints, at least."""

    window: int = 20
    seconds: float = 60.0


PACE = Pace()


@dataclass(frozen=True, slots=True)
class Trained:
    """epoch: the best, from 1. best: its criterion."""

    epoch: int
    best: float
    steps: int


def train(
    plan: TrainingOptions,
    learner: Learner,
    sources: Sequence[Source],
    valid: Sequence[Source],
    folder: Path,
    *,
    pace: Pace = PACE,
    started: str = "",
    play: Callable[[], float] | None = None,
    report: Callable[[int, int, float], None] = lambda step, steps, loss: None,
) -> Trained:
    """Learn; the best weights are then in `folder` (`best.pt`), beside the curves.

    started: digest of the weights that the learner begins with, if not its own. play: the share
    of points that the present model wins in games, for `select=games`. report:
    is told (steps done, all steps, loss).

    Raises:
        InputError: the folder holds another training.
    """
    digest = plan.digest(data_digest([*sources, *valid]) + started)
    progress = restore(folder, learner, digest=digest)
    per_epoch = -(-len(sources) // plan.batch)
    steps = per_epoch * plan.epochs
    losses = Curve(folder / "curve.csv", ("step", "epoch", "loss", "rate"))
    epochs = Curve(
        folder / "validation.csv",
        ("epoch", "loss", "accuracy", "wrong_found", "right_kept", "games"),
    )
    losses.resume(progress.step)
    epochs.resume(progress.validated)
    lengths = [length_of(source) for source in sources]
    weight = weights(sources, plan.balance)
    draws = plan.balance_by == "draws"
    renamer = Renamer(sources, share=plan.augment)
    joiner = Joiner(sources, share=plan.join)
    since: list[float] = []
    order: list[list[int]] = []
    numbers = list(range(len(sources)))
    ordered = -1
    saved = monotonic()
    while progress.validated < plan.epochs:
        epoch, at = divmod(progress.step, per_epoch)
        if progress.step == (progress.validated + 1) * per_epoch:
            _finish_epoch(plan, learner, valid, folder, progress, epochs, play)
            _write(folder, losses, epochs, plan)
            save(folder, learner, progress, digest=digest)
            continue
        if epoch != ordered:
            if draws:
                numbers = drawn(weight, seed=plan.seed, epoch=epoch)
            those = [lengths[n] for n in numbers]
            order, ordered = batches(those, plan.batch, seed=plan.seed, epoch=epoch), epoch
        batch = []
        for place in order[at]:
            n, seed = numbers[place], f"{plan.seed}/{epoch}/{place}"
            item = sampled(joiner.source(n, seed=seed), plan.negatives, seed=seed)
            item = item if draws else replace(item, weight=weight[n])
            batch.append(renamer.item(item, seed=seed))
        rate = plan.rate_at(progress.step, steps)
        since.append(learner.step(batch, rate=rate, seed=plan.seed * 1_000_003 + progress.step))
        progress.step += 1
        ends = at + 1 == per_epoch
        if progress.step % pace.window == 0 or ends:
            losses.add(progress.step, epoch + 1, sum(since) / len(since), rate)
            report(progress.step, steps, losses.rows[-1][2])
            since = []
        late = monotonic() - saved >= pace.seconds
        if late and progress.step % pace.window == 0 and not ends:
            _write(folder, losses, epochs, plan)
            save(folder, learner, progress, digest=digest)
            saved = monotonic()
    return Trained(progress.best_epoch, progress.best, progress.step)


def _finish_epoch(
    plan: TrainingOptions,
    learner: Learner,
    valid: Sequence[Source],
    folder: Path,
    progress: Progress,
    epochs: Curve,
    play: Callable[[], float] | None,
) -> None:
    found = validate(learner, valid)
    games = play() if plan.select == "games" and play is not None else float("nan")
    criterion = _criterion(plan, found, games)
    progress.validated += 1
    # Without anything to validate on, the last epoch is the one.
    if criterion > progress.best or isnan(criterion):
        progress.best, progress.best_epoch = criterion, progress.validated
        save_best(folder, learner)
    epochs.add(
        progress.validated,
        found.loss,
        found.accuracy,
        found.wrong_found,
        found.right_kept,
        games,
    )


def _criterion(plan: TrainingOptions, found: Validation, games: float) -> float:
    if plan.select == "games":
        return games
    return found.accuracy if plan.select == "accuracy" else -found.loss


def _write(folder: Path, losses: Curve, epochs: Curve, plan: TrainingOptions) -> None:
    losses.write()
    epochs.write()
    lines: dict[str, Sequence[tuple[float, float]]] = {
        "train loss": [(row[0], row[2]) for row in losses.rows]
    }
    ends = {int(row[1]): row[0] for row in losses.rows}  # epoch → its last step so far
    for name, column in (("valid loss", 1), ("valid accuracy", 2)):
        known = [row for row in epochs.rows if not isnan(row[column])]
        lines[name] = [(ends[int(row[0])], row[column]) for row in known]
    write_atomically(folder / "curve.svg", svg(lines, title=f"{plan.task}, seed {plan.seed}"))


@dataclass(frozen=True, slots=True)
class Made:
    """folder: of the model. examples: learned from. megabytes: of the weights."""

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
    model = RatingModel(plan)
    learner = Learner(model, device=_device(device))
    work = out / "training"
    checked = examples(plan, valid)
    started = start_from(start, learner, task=plan.task) if start is not None else ""

    def play_now() -> float:
        assert play is not None
        try:
            export(model, work / "now", int8=False, figures={})
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
    written = export(
        model,
        out,
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
    return Made(out, trained, len(sources), written.stat().st_size / 1e6)


def _words(recordings: Sequence[RecordedGame]) -> tuple[str, ...]:
    texts = dict.fromkeys(game_words())
    for game in recordings:
        for step in game.steps:
            texts.update(dict.fromkeys((step.state.text, *step.candidates, *step.navigate)))
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
