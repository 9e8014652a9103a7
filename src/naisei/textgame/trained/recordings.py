"""Recordings of walkthroughs: the state and candidates at each command, as JSONL."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import Act, EffectFailed, Flow, InputError, InstrumentFailure, World, run
from naisei.files import check_place, is_disk_error, output_error, written_beside
from naisei.lang import say
from naisei.textgame.cooking_state import Navigator, TextState, offered
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld
from naisei.textgame.games import Game, walkthrough
from naisei.textgame.schemas import START, View


class RecordedStep(BaseModel):
    """A command of a walkthrough.

    candidates: after the filter of §6.3.3. navigate: the navigator's commands. moves: whether it is
    `go …` or opens a door.
    """

    model_config = ConfigDict(frozen=True)

    state: TextState
    action: str
    candidates: tuple[str, ...]
    navigate: tuple[str, ...] = ()
    moves: bool = False


class RecordedGame(BaseModel):
    """walkthrough: all commands. inadmissible: number of commands that the engine rejected; they
    are skipped. won: whether the others won the game."""

    model_config = ConfigDict(frozen=True)

    game: str
    walkthrough: tuple[str, ...]
    steps: tuple[RecordedStep, ...]
    inadmissible: int = 0
    won: bool = False


def record(game: str, walkthrough: Sequence[str]) -> Flow[RecordedGame]:
    """Replay a walkthrough, skipping commands that are not candidates."""
    view = View.of((yield from Act(START)))
    navigator = Navigator()
    steps: list[RecordedStep] = []
    skipped = 0
    for command in walkthrough:
        if view.done:
            break
        state = navigator.see(view)
        if command not in view.candidates:
            # Skipped, so the view stays the same.
            skipped += 1
            navigator.gave("")
            continue
        verb, _, rest = command.partition(" ")
        doors = navigator.state.world.place.doors.values()
        steps.append(
            RecordedStep(
                state=state,
                action=command,
                candidates=offered(view),
                navigate=navigator.commands(),
                moves=verb == "go" or (verb == "open" and rest in doors),
            )
        )
        navigator.gave(command)
        view = View.of((yield from Act(command)))
    return RecordedGame(
        game=game,
        walkthrough=tuple(walkthrough),
        steps=tuple(steps),
        inadmissible=skipped,
        won=view.won,
    )


#: Format version; recordings of other versions are recorded again.
VERSION = 2


@dataclass(frozen=True, slots=True)
class Recording:
    """Recordings of a set. unplayable: game → why it cannot be replayed."""

    games: tuple[RecordedGame, ...]
    unplayable: Mapping[str, str] = field(default_factory=dict)


def record_games(
    games: Sequence[Game],
    out: Path,
    *,
    processes: int | None = None,
    progress: Callable[[int, int], None] = lambda done, all: None,
) -> Recording:
    """Record all games with a walkthrough, in order.

    out: `.jsonl` or `.jsonl.gz`; reused if it exists. A killed recording resumes from `<out>.part`,
    one line per game.

    Raises:
        InputError: no engine, no walkthrough, no playable game, an invalid recording, or an
            unwritable path.
    """
    if out.is_file():
        return read_recording(out)
    needs_textworld()
    solved = {g.id: (g, path) for g in games if (path := walkthrough(g.path))}
    if not solved:
        raise InputError(
            say(
                "学習に使える解答の付いたゲームがありません",
                "no game here has a walkthrough to learn from",
            ),
            place=str(games[0].path.parent) if games else str(out),
            remedy=say(
                ".json に metadata.walkthrough のあるゲームを使ってください。"
                "naisei textgame make cooking --split train で作れます",
                "use games with metadata.walkthrough in their .json; naisei textgame make "
                "cooking --split train makes some",
            ),
        )
    check_place(out)
    part = out.with_name(out.name + ".part")
    unplayable: dict[str, str] = {}
    pool = ProcessPool()
    try:
        done = _resumed(part)
        with (
            ThreadPoolExecutor(processes or os.cpu_count() or 1) as threads,
            part.open("a", encoding="utf-8") as file,
        ):
            todo = {
                threads.submit(_play, game, path, pool): name
                for name, (game, path) in solved.items()
                if name not in done
            }
            try:
                for future in as_completed(todo):
                    name, recorded = todo[future], future.result()
                    if isinstance(recorded, RecordedGame):
                        done[name] = recorded
                        file.write(recorded.model_dump_json() + "\n")
                        file.flush()
                    else:
                        unplayable[name] = recorded
                    progress(len(done) + len(unplayable), len(solved))
            except BaseException:
                threads.shutdown(cancel_futures=True)
                raise
    except OSError as error:
        if not is_disk_error(error):
            raise
        raise output_error(error, out) from error
    finally:
        pool.close()
    if not done:
        name, why = next(iter(unplayable.items()))
        raise InputError(
            say(f"遊べるゲームがありません: {why}", f"no game can be played: {why}"),
            place=str(solved[name][0].path),
            remedy=say("ゲームを作り直してください", "generate the games again"),
        )
    recording = Recording(
        tuple(done[name] for name in solved if name in done),
        {name: unplayable[name] for name in solved if name in unplayable},
    )
    _write(out, recording)
    part.unlink()
    return recording


def _play(game: Game, commands: Sequence[str], pool: ProcessPool) -> RecordedGame | str:
    """Record one game; returns the reason if the interpreter cannot play it."""
    handler = GameHandler(game.path, pool)
    try:
        return run(record(game.id, commands), World({Act: handler}))
    except (EffectFailed, InstrumentFailure) as error:
        return str(error)
    finally:
        handler.close()


def _resumed(part: Path) -> dict[str, RecordedGame]:
    """Finished games of a killed recording; drops a truncated last line."""
    if not part.is_file():
        return {}
    done, whole = {}, 0
    data = part.read_bytes()
    for line in data.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        recorded = RecordedGame.model_validate_json(line)
        done[recorded.game] = recorded
        whole += len(line)
    if whole < len(data):
        with part.open("r+b") as file:
            file.truncate(whole)
    return done


def _write(out: Path, recording: Recording) -> None:
    head: dict[str, object] = {"naisei-walkthroughs": VERSION, "games": len(recording.games)}
    if recording.unplayable:
        head["unplayable"] = dict(recording.unplayable)
    opened = gzip.open if out.suffix == ".gz" else open
    with written_beside(out) as scratch, opened(scratch, "wt", encoding="utf-8") as file:
        file.write(json.dumps(head, ensure_ascii=False) + "\n")
        file.writelines(each.model_dump_json() + "\n" for each in recording.games)


def read_recording(path: Path) -> Recording:
    """Raises `InputError` if the file is missing or is not a recording of this version."""
    if not path.is_file():
        raise InputError(
            say("記録のファイルがありません", "there is no such recording"),
            place=str(path),
            remedy=say(
                "naisei textgame record --games DIR --out FILE で作れます",
                "make one: naisei textgame record --games DIR --out FILE",
            ),
        )
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            head = json.loads(next(file))
            if head.get("naisei-walkthroughs") != VERSION:
                found = head.get("naisei-walkthroughs")
                raise ValueError(
                    say(
                        f"バージョンが {found} です ({VERSION} が要ります)",
                        f"version {found}, not {VERSION}",
                    )
                )
            games = tuple(RecordedGame.model_validate_json(line) for line in file)
            return Recording(games, head.get("unplayable", {}))
    except (OSError, EOFError, ValueError, ValidationError, StopIteration, AttributeError) as error:
        raise InputError(
            say(
                f"解答の記録として読めません: {error}",
                f"this is no recording of walkthroughs: {error}",
            ),
            place=str(path),
            remedy=say("削除して記録し直してください", "delete it and record again"),
        ) from error
