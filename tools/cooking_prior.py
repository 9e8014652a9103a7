"""Learn the planner's prior from own play on training games.

    python tools/cooking_prior.py GAMES_DIR

plays every game of a folder (made with `naisei textgame make cooking --split train`) with a
planner that has no prior, and counts what its maps show: no walkthrough, no entity list and no
fact of the engine is read. Writes `src/naisei/data/cooking_prior/prior.json`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from naisei.core import Act, World, run
from naisei.textgame.engine import GameHandler, ProcessPool, playable
from naisei.textgame.flow import play_game
from naisei.textgame.games import find_games
from naisei.textgame.planner.explore import Prior
from naisei.textgame.planner.kind import CookingPlanner

OUT = Path(__file__).resolve().parents[1] / "src/naisei/data/cooking_prior/prior.json"


def learn(folder: str) -> tuple[Prior, int, int]:
    """The prior, the games played and the games won."""
    prior, games, won = Prior(), find_games(folder), 0
    pool = ProcessPool()
    for game in games:
        player = CookingPlanner(Prior())
        handler = GameHandler(playable(game.path), pool)
        try:
            result = run(
                play_game(game.id, player, max_steps=game.default_steps), World({Act: handler})
            )
        finally:
            handler.close()
        won += result.won
        prior.add(player.known.world, player.known.openings)
    pool.close()
    return prior, len(games), won


if __name__ == "__main__":
    prior, games, won = learn(sys.argv[1])
    OUT.parent.mkdir(parents=True, exist_ok=True)
    table = {name: dict(sorted(rows.items())) for name, rows in sorted(prior.beyond.items())}
    lies = {name: dict(sorted(rows.items())) for name, rows in sorted(prior.lies.items())}
    opened = dict(sorted(prior.opened.items()))
    made = Prior(beyond=table, lies=lies, opened=opened)
    OUT.write_text(made.model_dump_json(indent=1) + "\n", encoding="utf-8")
    print(f"{games} games, {won} won; {OUT}")
