"""`naisei textgame record` and `naisei textgame train`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.progress import Progress

from naisei.lang import say
from naisei.terminal import Console
from naisei.textgame.games import Game, find_games
from naisei.textgame.trained.dataset import choices, wrong_actions
from naisei.textgame.trained.recordings import (
    RecordedGame,
    Recording,
    read_recording,
    record_games,
)
from naisei.textgame.trained.training.options import (
    RecordOptions,
    TrainingFiles,
    TrainingOptions,
)


def _recorded(
    games: Sequence[Game], out: Path, console: Console, processes: int | None
) -> Recording:
    """Record games, and report those that cannot be played."""
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(say("解答を記録", "recording walkthroughs"), total=len(games))
        recording = record_games(
            games,
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
    """Record walkthroughs and print the counts of the rewriting of §6.2.2."""
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
    """Counts for comparison with the thesis's §§5.2.3 and 6.2.2."""
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


def train(training: TrainingOptions, files: TrainingFiles) -> None:
    """Train a model and print its folder and size."""
    from naisei.textgame.trained.training import needs_torch

    needs_torch()
    from naisei.textgame.trained.training.loop import make_model

    learned = read_recording(files.recorded).games
    valid = read_recording(files.valid_recorded).games if files.valid_recorded else ()
    made = make_model(training, learned, valid, files.out, quiet=files.quiet or files.json_result)
    if files.json_result:
        result = {
            "model": str(made.folder),
            "examples": made.examples,
            "steps": made.steps,
            **made.figures,
            "megabytes": round(made.megabytes, 2),
        }
        print(json.dumps(result))
        return
    curve = files.out / "training" / "curve.svg"
    Console(stderr=True, quiet=files.quiet).print(
        say(
            f"学習済みモデル: {made.folder} ({made.megabytes:.1f} MB)。曲線: {curve}",
            f"Model: {made.folder} ({made.megabytes:.1f} MB). Curves: {curve}",
        ),
    )
