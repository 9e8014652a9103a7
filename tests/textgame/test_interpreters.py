"""Interpreters that crash and hang, and files that are no games."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from naisei.core import InputError
from naisei.runs.result import RunResult
from naisei.system.execute import RunOptions
from naisei.textgame.config import GameConfig
from naisei.textgame.engine import ProcessPool, playable
from naisei.textgame.system import RUN
from textgame.conftest import FakeSet, story
from waiting import PATIENCE, until


def run(fake: FakeSet, where: str, *, timeout: float = PATIENCE) -> RunResult:
    config = GameConfig(
        agent="random",
        games=str(fake.folder),
        max_steps=20,
        seed=1,
        interpreter_timeout=timeout,
    )
    return RUN.run(config, RunOptions(concurrency=2, quiet=True), run_dir=Path(where))


def results(run: RunResult) -> dict[str, object]:
    return {row.where.instance: row.result for row in run.outcome.rows}


def test_a_crash_in_mid_game_changes_nothing(fake: FakeSet) -> None:
    calm = results(run(fake, "calm"))
    for fault in ("g0.crash-1", "g2.crash-5", "g2.crash-6", "g5.crash-3"):
        fake.fault(fault)
    crashed = run(fake, "crashed")
    assert not list(fake.faults.iterdir()), "every fault happened"
    assert results(crashed) == calm
    assert crashed.outcome.failed == 0


@pytest.mark.slow
def test_a_hanging_interpreter_is_ended_and_the_game_goes_on(fake: FakeSet) -> None:
    calm = results(run(fake, "calm"))
    fake.fault("g1.hang-4")
    assert results(run(fake, "hung", timeout=12)) == calm


def test_one_that_always_crashes_is_unscored_and_the_others_are_played(fake: FakeSet) -> None:
    fake.fault("g3.always-crash-2")
    done = run(fake, "run")
    failed = [row for row in done.outcome.rows if not row.scored]
    assert [row.where.instance for row in failed] == ["g3"]
    assert "crashed" in failed[0].failure
    assert done.outcome.scored == 5
    by_name = {m.name: m for m in done.summary.metrics}
    assert by_name["normalized_score"].n == 5, "not counted as zero"

    (fake.faults / "g3.always-crash-2").unlink()
    came = len(fake.asked)
    again = run(fake, "run")
    assert again.outcome.scored == 6
    assert {game for game, _, _ in fake.asked[came:]} == {"g3"}, "only the failed one is tried"


def test_a_game_that_offers_no_command_is_unscored_with_its_room(fake: FakeSet) -> None:
    fake.fault("g4.always-mute-0")
    done = run(fake, "run")
    failed = {row.where.instance: row.failure for row in done.outcome.rows if not row.scored}
    assert list(failed) == ["g4"]
    assert "offers no command" in failed["g4"] and "Room 0" in failed["g4"]


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def changed(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))


def other_kind(path: Path) -> None:
    path.write_text("<html>not found</html>" * 10)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def without_json(path: Path) -> None:
    path.with_suffix(".json").unlink()


def broken_json(path: Path) -> None:
    path.with_suffix(".json").write_text('{"world": [')


def other_json(path: Path) -> None:
    path.with_suffix(".json").write_text("[1, 2]")


def gone(path: Path) -> None:
    path.unlink()


HARMS = (gone, cut_off, changed, other_kind, empty, without_json, broken_json, other_json)


@pytest.mark.parametrize("harm", HARMS)
def test_a_broken_file_is_an_error_that_names_it(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    bad = story(tmp_path / "g2.z8")
    harm(bad)
    with pytest.raises(InputError) as raised:
        playable(bad, ProcessPool())
    assert "g2" in raised.value.place and raised.value.remedy


def test_broken_games_among_others_are_unscored_and_the_others_played(fake: FakeSet) -> None:
    for number, harm in enumerate((cut_off, changed, without_json, broken_json)):
        harm(fake.folder / f"g{number}.z8")
    done = run(fake, "many")
    failed = {row.where.instance: row.failure for row in done.outcome.rows if not row.scored}
    assert set(failed) == {"g0", "g1", "g2", "g3"}
    assert all(f"{game}." in failure for game, failure in failed.items())
    assert done.outcome.scored == 2
    assert {game for game, _, _ in fake.asked} == {"g4", "g5"}


def test_a_json_that_is_no_game_is_an_error(
    fake: FakeSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"world": 1}))
    with pytest.raises(InputError, match="TextWorld game"):
        playable(path, ProcessPool(), cache=tmp_path / "cache")


def test_when_a_run_is_abandoned_a_hanging_interpreter_is_not_waited_for(fake: FakeSet) -> None:
    fake.fault("g0.hang-1")
    pool = ProcessPool(timeout=PATIENCE)
    process = pool.borrow()
    process.open(fake.folder / "g0.z8")
    from threading import Thread

    failures: list[str] = []

    def ask() -> None:
        try:
            process.step("look")
        except Exception as error:
            failures.append(str(error))

    thread = Thread(target=ask)
    thread.start()
    until(lambda: process.busy and not list(fake.faults.iterdir()), say="it hangs")
    pool.give_back(process)
    thread.join(PATIENCE)
    assert not thread.is_alive() and "crashed" in failures[0]
    pool.close()


@pytest.mark.slow
def test_games_that_are_first_to_be_compiled_are_all_played_at_once(
    needs_engine: None, cleanup_game: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_CACHE", str(tmp_path / "cache"))
    source = cleanup_game.with_suffix(".json").read_text()
    games = tmp_path / "games"
    games.mkdir()
    for number in range(4):
        (games / f"cleanup-{number}.json").write_text(source + " " * number)
    (games / "web-page.json").write_text("<html>")
    (games / "hollow.json").write_text('{"world": [], "infos": [], "quests": []}')
    config = GameConfig(agent="random", games=str(games), max_steps=3)
    done = RUN.run(config, RunOptions(concurrency=7, quiet=True), run_dir=tmp_path / "run")
    failed = {row.where.instance: row.failure for row in done.outcome.rows if not row.scored}
    assert set(failed) == {"hollow", "web-page"}, failed
    assert "JSON" in failed["web-page"] and "TextWorld game: KeyError" in failed["hollow"]


def test_a_cache_that_cannot_be_written_stops_the_run_and_blames_no_game(
    fake: FakeSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fake.folder / "cache").write_text("a file")
    monkeypatch.setenv("NAISEI_CACHE", str(fake.folder / "cache"))
    for story_file in fake.folder.glob("*.z8"):
        story_file.unlink()
    with pytest.raises(InputError, match=r"cache.*: cannot be written") as raised:
        run(fake, "r")
    assert ".z8" in raised.value.place and raised.value.remedy
