"""Finds the games of a run: a folder, a file, or a public set in its published layout."""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from random import Random

from pydantic import BaseModel, ConfigDict

from naisei.core import InputError
from naisei.files import cache_root
from naisei.lang import say
from naisei.textgame.engine.others import other_endings

# Layouts of the public game sets.
#
# TWC (IBM, commonsense-rl): `{easy,medium,hard}/{train,valid,test}/*.ulx` with a `.json` beside
# each. FTWP (Microsoft): `{train,valid,test}/*.z8` or `.ulx` with `.json`; also as the published
# zip.

LEVELS = ("easy", "medium", "hard")
_SPLITS = ("train", "valid", "test")
#: File names accepted from an archive.
_GAME_FILE = re.compile(r"[\w+@=-][\w.+@= -]{0,180}\.(z8|json)", re.A)
#: Bytes; real games are well under 1 MB.
_LARGEST = 32 * 2**20


def layout_files(
    kind: str, root: Path, *, split: str, level: str, cache: Path | None = None
) -> list[Path]:
    """The game files of a split (default `test`) and, for TWC, of a level (default all).

    Raises:
        InputError: no such folder, or another layout.
    """
    split = split or "test"
    _known(split, _SPLITS, "--split")
    if level:
        _known(level, LEVELS, "--level")
    if root.suffix == ".zip":
        root = _unpacked(root, split, cache or cache_root() / "textgame")
    if not root.is_dir():
        raise InputError(
            say("フォルダーがありません", "there is no such folder"),
            place=str(root),
            remedy=say("データ集のフォルダーを指定してください", "name the set's folder"),
        )
    if kind == "twc":
        folders = [root / name / split for name in ([level] if level else LEVELS)]
    else:
        folders = [root / split if (root / split).is_dir() else root / "games" / split]
    missing = [folder for folder in folders if not folder.is_dir()]
    if missing:
        raise InputError(
            say(
                f"{kind.upper()} のフォルダーの構成ではありません: {missing[0]} がありません",
                f"this is not the layout of {kind.upper()}: there is no {missing[0]}",
            ),
            place=str(root),
            remedy=say(
                ("easy、medium、hard" if kind == "twc" else "train、valid、test")
                + " の入ったフォルダーを指定してください",
                "name the folder that holds "
                + ("easy, medium and hard" if kind == "twc" else "train, valid and test"),
            ),
        )
    return [file for folder in folders for file in _games(folder)]


def _games(folder: Path) -> list[Path]:
    """Playable files: a `.z8`, else a `.json` to compile."""
    # Not `with_suffix`: names contain dots.
    found = {file.name: file for file in sorted(folder.iterdir())}
    compiled = [file for name, file in found.items() if name.endswith(".z8")]
    others = [
        file
        for name, file in found.items()
        if name.endswith(".json") and f"{name.removesuffix('.json')}.z8" not in found
    ]
    return sorted(compiled + others)


def _known(name: str, names: tuple[str, ...], option: str) -> None:
    if name not in names:
        raise InputError(
            say(f"'{name}' という選択肢はありません", f"unknown: {name}"),
            place=option,
            remedy=say("使えるもの: ", "use ") + ", ".join(names),
        )


def _unpacked(path: Path, split: str, cache: Path) -> Path:
    """The split's files from a published zip, extracted to the cache."""
    if not path.is_file():
        raise InputError(
            say("ファイルがありません", "there is no such file"),
            place=str(path),
            remedy=say("データ集の zip を指定してください", "name the set's zip"),
        )
    stat = path.stat()
    key = sha256(f"{path.resolve()}/{stat.st_size}/{stat.st_mtime_ns}".encode()).hexdigest()[:16]
    target = cache / f"{path.stem}-{key}"
    (target / split).mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                _unpack(archive, member, split, target / split)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(
            say(f"zip として読めません: {error}", f"this zip cannot be read: {error}"),
            place=str(path),
            remedy=say("取得し直してください", "fetch it again"),
        ) from error
    return target


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, split: str, folder: Path) -> None:
    """Extract a member if it is a game file of the split."""
    inner = PurePosixPath(member.filename)
    if split not in inner.parent.parts or not _GAME_FILE.fullmatch(inner.name):
        return
    if member.file_size > _LARGEST:
        raise InputError(
            say(
                f"{member.filename} は {member.file_size} バイトで、ゲームにしては大きすぎます",
                f"{member.filename} is {member.file_size} bytes: no game is so large",
            ),
            place=str(archive.filename),
            remedy=say("取得し直してください", "fetch it again"),
        )
    # Only the name: paths in the archive are not trusted.
    out = folder / inner.name
    if not out.is_file():
        scratch = out.with_name(f"{out.name}.{os.getpid()}.part")
        scratch.write_bytes(archive.read(member))
        scratch.replace(out)


class Game(BaseModel):
    """One game file. family: by name `cleanup` (tidying, as TWC) or `cooking` (as FTWP, and all
    others); for another engine the file ending."""

    model_config = ConfigDict(frozen=True)

    id: str
    path: Path
    family: str

    @property
    def default_steps(self) -> int:
        """Default number of commands per game (thesis §§3.1, 5.3.2)."""
        return 20 if self.family == "cleanup" else 100


def find_games(
    games: str, *, split: str = "", level: str = "", limit: int | None = None
) -> tuple[Game, ...]:
    """The games at `games`, sorted by id; at most `limit`, always the same ones.

    games: a file, a folder (searched recursively), `twc:DIR` or `ftwp:DIR`.

    Raises:
        InputError: nothing there, or an unknown split or level.
    """
    kind, _, rest = games.partition(":")
    if kind in ("twc", "ftwp"):
        files, root = layout_files(kind, Path(rest), split=split, level=level), Path(rest)
        if root.is_file() and files:
            root = files[0].parent.parent  # the folder with the extracted zip
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
        found = sorted(Random(0).sample(found, limit), key=lambda g: g.id)
    return tuple(found)


def _within(folder: Path) -> list[Path]:
    """One file per stem; skips hidden folders."""
    best: dict[Path, Path] = {}
    # Prefer files that need no compilation.
    endings = (".z8", *other_endings(), ".json", ".ulx")
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if hidden or not file.is_file() or file.suffix not in endings:
            continue
        stem = file.with_suffix("")
        if stem not in best or endings.index(file.suffix) < endings.index(best[stem].suffix):
            best[stem] = file
    return list(best.values())


def _game(path: Path, root: Path) -> Game:
    name = path.relative_to(root) if path != root else Path(path.name)
    family = "cleanup" if "cleanup" in path.name else "cooking"
    if path.suffix in other_endings():
        family = path.suffix[1:]
    return Game(id=name.with_suffix("").as_posix(), path=path, family=family)


def games_hash(games: tuple[Game, ...]) -> str:
    """Digest of the game files in order."""
    digest = sha256()
    for game in games:
        digest.update(game.id.encode() + b"\0" + sha256(game.path.read_bytes()).digest())
    return digest.hexdigest()


# Lengths of the games' own solutions, for comparison only: players never see them.
#
# textworld writes them into the `.json` beside the game (`metadata.walkthrough`).


def walkthrough(path: Path) -> tuple[str, ...] | None:
    """The commands of a game's own solution; `None` if missing or unreadable."""
    try:
        world = json.loads(path.with_suffix(".json").read_bytes())
        commands = world["metadata"]["walkthrough"]
    except (OSError, ValueError, KeyError, TypeError):
        # Loading the game reports broken files.
        return None
    if not isinstance(commands, list) or not commands:
        return None
    return tuple(str(command) for command in commands)


def walkthrough_lengths(games: Iterable[Game]) -> Mapping[str, int]:
    """Game → number of commands of its own solution, for games that have one."""
    found = {game.id: walkthrough(game.path) for game in games}
    return {game: len(commands) for game, commands in found.items() if commands}
