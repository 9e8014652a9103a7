"""Finding the games of a run: a folder, one file, or a public set in its own layout."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.layouts import layout_files

__all__ = ["Game", "find_games", "games_hash"]

#: By preference: what the interpreter loads, then what is compiled first.
_ENDINGS = (".z8", ".json", ".ulx")


class Game(BaseModel):
    """One game file. family: `cleanup` (tidying up, as TWC) or `cooking` (as FTWP), by name."""

    model_config = ConfigDict(frozen=True)

    id: str
    path: Path
    family: Literal["cleanup", "cooking"]

    @property
    def default_steps(self) -> int:
        """Commands a game lasts unless said otherwise (thesis §§3.1, 5.3.2)."""
        return 20 if self.family == "cleanup" else 100


def find_games(
    games: str, *, split: str = "", level: str = "", limit: int | None = None, seed: int = 0
) -> tuple[Game, ...]:
    """The games that `games` names, sorted by id; `limit` of them, drawn by the seed.

    games: a file, a folder (searched whole), `twc:DIR` or `ftwp:DIR`.

    Raises:
        InputError: nothing there, or an unknown split or level.
    """
    kind, _, rest = games.partition(":")
    if kind in ("twc", "ftwp"):
        files, root = layout_files(kind, Path(rest), split=split, level=level), Path(rest)
        if root.is_file() and files:
            root = files[0].parent.parent  # where the zip was unpacked
    else:
        root = Path(games)
        files = [root] if root.is_file() else _within(root)
        if split or level:
            raise InputError(
                say(
                    "分割と難易度を選べるのは twc: と ftwp: だけです",
                    "a split or a level is chosen for twc: and ftwp: only",
                ),
                place="--split" if split else "--level",
                remedy=say(
                    "使いたいゲームの入ったフォルダーを指定してください",
                    "name the folder that holds the games wanted",
                ),
            )
    if not files:
        raise InputError(
            say("ここにゲームがありません", "there are no games here"),
            place=games,
            remedy=say(
                ".z8 か .json のゲーム、またはそのフォルダーを指定してください。"
                "naisei textgame make cooking --out DIR で作れます",
                "give a .z8 or .json game, or a folder of them; naisei textgame make cooking "
                "--out DIR makes some",
            ),
        )
    found = sorted((_game(file, root) for file in files), key=lambda g: g.id)
    if limit is not None and limit < len(found):
        found = sorted(Random(seed).sample(found, limit), key=lambda g: g.id)
    return tuple(found)


def _within(folder: Path) -> list[Path]:
    """One file for each stem, hidden folders left out."""
    best: dict[Path, Path] = {}
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if hidden or not file.is_file() or file.suffix not in _ENDINGS:
            continue
        stem = file.with_suffix("")
        if stem not in best or _ENDINGS.index(file.suffix) < _ENDINGS.index(best[stem].suffix):
            best[stem] = file
    return list(best.values())


def _game(path: Path, root: Path) -> Game:
    name = path.relative_to(root) if path != root else Path(path.name)
    family: Literal["cleanup", "cooking"] = "cleanup" if "cleanup" in path.name else "cooking"
    return Game(id=name.with_suffix("").as_posix(), path=path, family=family)


def games_hash(games: tuple[Game, ...]) -> str:
    """Digest of the games' files, in order."""
    digest = sha256()
    for game in games:
        digest.update(game.id.encode() + b"\0" + sha256(game.path.read_bytes()).digest())
    return digest.hexdigest()
