"""Games of TextWorldExpress: named by files, in TextWorld's words, played where there is Java."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

import pytest

from commandline import Naisei
from naisei.core import InputError, play
from naisei.textgame.engine import ProcessPool, playable
from naisei.textgame.engine.others import other_engine
from naisei.textgame.games import find_games
from naisei.textgame.player import PlayerContext, player_kind
from naisei.textgame.schemas import View
from naisei_textgame_express.engine import ExpressEngine, named_games, read_game
from naisei_textgame_express.grammar import grammar

ROOM = """You are in the kitchen. There is also an oven. You also see a barbeque.
To the North you see a closed wood door. Through an open wood door, to the East you see the hall."""
SEEN = View(
    description=ROOM,
    inventory="Inventory (maximum capacity is 5 items): \n  a knife\n  a raw egg\n",
    candidates=(
        *("look around", "move north", "move east", "open door to north", "open door to east"),
        *("close door to north", "cook egg in barbeque", "dice egg", "put egg in counter"),
        *("read cookbook", "take leek"),
    ),
)


def test_another_engine_is_read_in_the_players_words() -> None:
    told, given = grammar().view(SEEN)
    assert told.candidates == (
        *("look", "go east", "open door to north", "cook egg with BBQ", "dice egg with knife"),
        *("put egg on counter", "read cookbook", "take leek"),
    )
    assert told.description.startswith("-= kitchen =-") and "BBQ" in told.description
    assert "There is a closed door to North leading North." in told.description
    assert grammar().command("go east", given) == "move east"
    assert grammar().command("drop egg", given) == "put egg in counter"
    assert grammar().command("take leek from shelf", given) == "take leek"
    assert grammar().command("eat meal", given) == "eat meal"


@pytest.mark.parametrize("text", ["", "[]", '{"game": "doom", "seed": 1}', '{"game": "coin"}'])
def test_a_file_that_names_no_game_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.twx").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.twx"):
        read_game(tmp_path / "x.twx")


def test_games_of_another_engine_are_chosen(tmp_path: Path, naisei: Naisei) -> None:
    asked = ["textworld-express", "make", "--game", "coin", "--n", "3", "--out", tmp_path]
    assert naisei(*asked).code == 0
    games = [json.loads(file.read_text("utf-8")) for file in sorted(tmp_path.glob("*.twx"))]
    assert [game["fold"] for game in games] == ["test"] * 3
    assert all(20_000 <= game["seed"] < 21_000 for game in games)
    assert naisei(*asked, "--params", "doors").code == 2


def test_a_file_is_a_game_by_its_ending(tmp_path: Path) -> None:
    file = tmp_path / "cleanup.twx"
    (named,) = named_games("coin", "valid", n=1, params="", draw=Random(1))
    file.write_text(named.model_dump_json(), encoding="utf-8")
    (game,) = find_games(str(tmp_path))
    assert (game.path, game.family, game.default_steps) == (file, "twx", 100)
    assert other_engine(file) is ExpressEngine and other_engine(Path("a.z8")) is None


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["planner", "quest"])
def test_the_players_win_games_of_another_engine(tmp_path: Path, agent: str) -> None:
    pytest.importorskip("textworld_express", reason="textworld-express is not installed")
    if not shutil.which("java"):
        pytest.skip("there is no Java")
    pool = ProcessPool()
    process = pool.borrow()
    for game in ("cookingworld",) if agent == "planner" else ("cookingworld", "coin", "mapreader"):
        file = tmp_path / f"{game}.twx"
        text = json.dumps({"game": game, "fold": "dev", "seed": 10_001})
        file.write_text(text, encoding="utf-8")
        view = process.open(playable(file, pool))
        player = player_kind(agent).new(PlayerContext(game=game))
        for _ in range(100):
            if view.done:
                break
            view = process.step(play(player.decide(view), []).result.action)
        assert view.won and view.score == view.max_score == 100, game
    process.close()
