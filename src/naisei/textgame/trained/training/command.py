"""`naisei textgame record` and `naisei textgame train`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.progress import Progress, TextColumn

from naisei.core import InputError
from naisei.lang import say
from naisei.system.execute import RunOptions
from naisei.terminal import Console
from naisei.textgame.config import GameConfig
from naisei.textgame.games import Game, find_games
from naisei.textgame.system import RUN
from naisei.textgame.trained.dataset import choices, wrong_actions
from naisei.textgame.trained.recordings import (
    RecordedGame,
    Recording,
    cached_path,
    read_recording,
    record_games,
)
from naisei.textgame.trained.training.options import (
    RecordOptions,
    TrainingData,
    TrainingOptions,
    TrainingOutput,
)


def recordings_of(
    games: Path | None,
    recorded: Sequence[Path],
    console: Console,
    *,
    processes: int | None = None,
) -> tuple[RecordedGame, ...]:
    """From recordings, in order, or from games, which are recorded once into the cache.

    Raises:
        InputError: both or neither are named, a game is in two of them, or they cannot be used.
    """
    if (games is None) == (not recorded):
        raise InputError(
            say(
                "学習に使う解答の指定がないか、二重になっています",
                "name the walkthroughs to learn from, once",
            ),
            place="--games",
            remedy=say(
                "--games DIR (まず記録します) か、"
                "naisei textgame record で作った --recorded FILE の一方を指定してください",
                "give --games DIR (recorded first), or --recorded FILE from naisei textgame record",
            ),
        )
    if games is None:
        return _together(recorded)
    found = find_games(str(games))
    return _recorded(found, cached_path(found), console, processes).games


def _together(files: Sequence[Path]) -> tuple[RecordedGame, ...]:
    out: tuple[RecordedGame, ...] = ()
    came: dict[str, Path] = {}
    for path in files:
        for game in (own := read_recording(path).games):
            if (other := came.setdefault(game.game, path)) is not path:
                raise InputError(
                    say(f"{game.game} は {other} にもあります", f"{game.game} is in {other} too"),
                    place=str(path),
                    remedy=say(
                        "同じ記録は一度だけ指定し、種の違うゲームの記録を使ってください",
                        "name each recording once, and record sets of different seeds",
                    ),
                )
        out += own
    return out


def _recorded(
    found: Sequence[Game], out: Path, console: Console, processes: int | None
) -> Recording:
    """Recorded, with a word about each game that could not be played."""
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(say("解答を記録", "recording walkthroughs"), total=len(found))
        recording = record_games(
            found,
            out,
            processes=processes,
            progress=lambda done, all: bar.update(task, completed=done, total=all),
        )
    for game, why in recording.unplayable.items():
        console.print(
            say(f"{game} は遊べないので除きました: {why}", f"{game} cannot be played: {why}"),
            markup=False,
        )
    if count := len(recording.unplayable):
        console.print(
            say(
                f"{count} ゲームは遊べず、記録に入っていません",
                f"{count} games could not be played and are not in the recording",
            )
        )
    return recording


def record(options: RecordOptions) -> None:
    """Record, and say what the rewriting of §6.2.2 makes of it."""
    console = Console(stderr=True)
    found = find_games(str(options.games))
    recording = _recorded(found, options.out, console, options.processes)
    figures = figures_of(recording.games)
    if recording.unplayable:
        figures["unplayable"] = len(recording.unplayable)
    if options.json_result:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        console.print(f"{name:22} {value}")


def figures_of(recordings: tuple[RecordedGame, ...]) -> dict[str, int]:
    """Counts, to be set beside the thesis's of §§5.2.3 and 6.2.2."""
    counts = choices(recordings, navigator=True).counts
    processing = wrong_actions(recordings)
    return {
        "games": len(recordings),
        "won": sum(game.won for game in recordings),
        "walkthrough_commands": sum(len(game.walkthrough) for game in recordings),
        "inadmissible": sum(game.inadmissible for game in recordings),
        "commands": counts["commands"],
        "moves": counts["moves"],
        "places_replaced": counts["places"],
        "moves_replaced": counts["replaced"],
        "choices": len(choices(recordings, navigator=False).of),
        "choices_navigator": len(choices(recordings, navigator=True).of),
        "processing_wrong": sum(each.wrong for each in processing),
        "processing_right": sum(1 - each.wrong for each in processing),
    }


def train(data: TrainingData, training: TrainingOptions, output: TrainingOutput) -> None:
    """Train a model and print where it is and how large."""
    from naisei.textgame.trained.training import needs_torch
    from naisei.textgame.trained.training.loop import make_model

    needs_torch()
    console = Console(stderr=True, quiet=output.quiet)
    if training.select == "games" and (data.valid_games is None or training.task != "policy"):
        raise InputError(
            say(
                "最良のエポックをゲームで選べるのは、方策 (--task policy) の学習で、"
                "遊ぶゲームがあるときだけです",
                "the best epoch can be chosen by games only for a policy, and with games to play",
            ),
            place="--select games",
            remedy=say(
                "--valid-games DIR を付けるか、--select loss にしてください",
                "give --valid-games DIR, or --select loss",
            ),
        )
    learned = recordings_of(data.games, data.recorded, console)
    valid: tuple[RecordedGame, ...] = ()
    if data.valid_recorded is not None:
        valid = recordings_of(None, (data.valid_recorded,), console)
    elif data.valid_games is not None:
        valid = recordings_of(data.valid_games, (), console)
    with Progress(
        *Progress.get_default_columns(),
        TextColumn("{task.fields[loss]}", markup=False),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task(say("学習", "training"), total=None, loss="")
        made = make_model(
            training,
            learned,
            valid,
            output.out,
            device=output.device,
            int8=output.int8,
            vocabulary=output.vocabulary,
            start=output.start,
            play=(lambda folder: _points(folder, str(data.valid_games), data.valid_limit))
            if training.select == "games"
            else None,
            report=lambda step, steps, loss: bar.update(
                task, completed=step, total=steps, loss=say("損失", "loss") + f" {loss:.4f}"
            ),
        )
    if output.json_result:
        result = {
            "model": str(made.folder),
            "examples": made.examples,
            "steps": made.trained.steps,
            "best_epoch": made.trained.epoch,
            "best": made.trained.best,
            "megabytes": round(made.megabytes, 2),
        }
        print(json.dumps(result))
        return
    curve = output.out / "training" / "curve.svg"
    console.print(
        say(
            f"学習済みモデル: {made.folder} ({made.megabytes:.1f} MB、{made.trained.epoch} "
            f"エポック目)。曲線: {curve}",
            f"Model: {made.folder} ({made.megabytes:.1f} MB, epoch {made.trained.epoch}). "
            f"Curves: {curve}",
        ),
    )


def _points(folder: Path, games: str, limit: int) -> float:
    """Mean normalised score of a model on validation games."""
    config = GameConfig(
        agent="imitation", agent_options={"model": str(folder)}, games=games, limit=limit
    )
    with tempfile.TemporaryDirectory(prefix="naisei-valid-") as scratch:
        result = RUN.run(config, RunOptions(quiet=True), run_dir=Path(scratch) / "run")
    scores = {metric.name: metric.value for metric in result.summary.metrics}
    return float(scores["normalized_score"])
