"""Recording walkthroughs: which games cannot be played is told, and nothing is half written."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from naisei.core import EffectFailed, Handler, InputError
from naisei.textgame.games import find_games
from naisei.textgame.trained import recordings
from naisei.textgame.trained.recordings import read_recording, record_games
from naisei.textgame.trained.training.command import record
from naisei.textgame.trained.training.options import RecordOptions
from textgame.conftest import story
from textgame.toy_kitchen import ToyKitchen
from textgame.trained_kit import SOLUTION, house


class _Broken(Handler):
    def perform(self, effect: Any, where: Any) -> Any:
        raise EffectFailed("the story file is damaged")

    def close(self) -> None:
        """There is no process."""


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Two games with walkthroughs; the interpreter cannot play `broken`."""
    folder = tmp_path / "games"
    folder.mkdir()
    for name in ("broken", "good"):
        story(folder / f"{name}.z8")
        world = {"metadata": {"walkthrough": list(SOLUTION)}}
        (folder / f"{name}.json").write_text(json.dumps(world), encoding="utf-8")

    def played(path: Path, pool: object) -> ToyKitchen | _Broken:
        game = _Broken() if path.stem == "broken" else house()
        game.close = lambda: None  # type: ignore[union-attr,method-assign]
        return game

    monkeypatch.setattr(recordings, "needs_textworld", lambda: None)
    monkeypatch.setattr(recordings, "GameHandler", played)
    yield folder


def test_a_game_that_cannot_be_played_is_named_and_counted(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.jsonl.gz"
    for _ in range(2):  # the second time it is read from the file
        record(RecordOptions(games=games, out=out, json_result=True))
        said = capsys.readouterr()
        assert "broken cannot be played: the story file is damaged" in said.err
        assert "1 games" in said.err
        figures = json.loads(said.out)
        assert (figures["games"], figures["unplayable"]) == (1, 1)
    assert [game.game for game in read_recording(out).games] == ["good"]
    assert not list(tmp_path.glob("*.part"))


def test_no_playable_game_is_an_error(games: Path, tmp_path: Path) -> None:
    for file in games.glob("good.*"):
        file.unlink()
    with pytest.raises(InputError, match="no game can be played: the story file is damaged"):
        record(RecordOptions(games=games, out=tmp_path / "r.jsonl"))
    assert not (tmp_path / "r.jsonl").exists()


def test_a_full_disk_is_one_message_and_what_was_recorded_is_kept(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, found = tmp_path / "r.jsonl", find_games(str(games))
    written_beside = recordings.written_beside

    @contextmanager
    def full(path: Path) -> Iterator[Path]:
        with written_beside(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        yield path

    monkeypatch.setattr(recordings, "written_beside", full)
    with pytest.raises(InputError, match="space"):
        record_games(found, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games", "r.jsonl.part"]
    monkeypatch.setattr(recordings, "written_beside", written_beside)
    # What was recorded is not played again.
    monkeypatch.setattr(recordings, "GameHandler", lambda path, pool: _Broken())
    assert [game.game for game in record_games(found, out).games] == ["good"]


def test_a_place_that_cannot_be_written_is_one_message(games: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such recording"):
        read_recording(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        record(RecordOptions(games=games, out=tmp_path / "file" / "r.jsonl"))
