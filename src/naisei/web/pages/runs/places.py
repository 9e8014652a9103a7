"""From what stands in an address to a run directory, and back. Nothing else is ever opened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request

from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.web.house import House, house_of

__all__ = ["Place", "looking", "place_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A run by its name in addresses. own: a conversation of the visitor's."""

    name: str
    path: Path
    own: bool = False

    def url(self, verb: str, **query: object) -> str:
        """The address of something of this run."""
        given = "&".join(f"{k}={quote(str(v), safe='')}" for k, v in query.items() if v != "")
        return f"/runs/{verb}/{quote(self.name)}{'?' if given else ''}{given}"

    @staticmethod
    def under(root: Path, path: Path) -> Place:
        return Place(path.relative_to(root).as_posix(), path)


def place_of(request: Request, name: str | None = None) -> Place:
    """The run that an address names.

    Raises:
        HTTPException: there is none of this name, or it is not the visitor's.
    """
    house = house_of(request)
    name = request.path_params["run"] if name is None else name
    if name.startswith("@"):
        return Place(name, house.sittings.path(request.state.visitor, name[1:]), own=True)
    return Place(name, _within(house, name))


def _within(house: House, name: str) -> Path:
    parts = name.split("/")
    tame = len(parts) in (1, 2) and all(
        part not in ("", ".", "..") and not set(part) & set("\\\0:") for part in parts
    )
    root = house.options.runs
    path = root.joinpath(*parts) if tame else root
    try:
        # A link inside the folder must not lead out of it.
        good = tame and (path / "config.json").resolve().is_relative_to(root.resolve())
        good = good and (path / "config.json").is_file()
    except OSError:
        good = False
    if not good:
        raise HTTPException(404, say("そのような実行はありません", "there is no such run"))
    return path


async def looking(place: Place, look: Callable[[RunDirectory], T]) -> T:
    """What `look` makes of the run, in a thread: a long log must not hold up other pages."""

    def work() -> T:
        with RunDirectory.look(place.path) as directory:
            return look(directory)

    return await asyncio.to_thread(work)
