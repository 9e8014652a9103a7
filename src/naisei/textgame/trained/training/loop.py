"""Training from the first step to the best epoch; killed at any moment, it goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from time import monotonic

from naisei.files import write_atomically
from naisei.textgame.trained.training.checkpoint import Progress, restore, save, save_best
from naisei.textgame.trained.training.curves import Curve, svg
from naisei.textgame.trained.training.items import (
    Source,
    batches,
    data_digest,
    drawn,
    length_of,
    sampled,
    weights,
)
from naisei.textgame.trained.training.joining import Joiner
from naisei.textgame.trained.training.learner import Learner
from naisei.textgame.trained.training.options import TrainingOptions
from naisei.textgame.trained.training.renaming import Renamer
from naisei.textgame.trained.training.validation import Validation, validate

__all__ = ["PACE", "Pace", "Trained", "train"]


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
