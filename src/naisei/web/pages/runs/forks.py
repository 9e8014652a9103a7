"""Forks of conversations and runs, shown beside their parents."""

from __future__ import annotations

import glob
from pathlib import Path
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from naisei.core import InputError
from naisei.runs.fork import fork_of
from naisei.web.html import form_fields
from naisei.web.pages.runs.forked_runs import fork_of_run
from naisei.web.pages.runs.lists import RunAddress, opened, place_of
from naisei.web.pages.runs.loaded import Loaded
from naisei.web.state import server_of


async def fork(request: Request) -> Response:
    """`POST /runs/fork/…`, fields `e` and `step`. Forks a conversation at the step, to be continued
    at its page. Forks a run with `answer`, `prompt` and `model`, like `naisei runs fork`."""
    place = place_of(request)
    given, server = await form_fields(request), server_of(request)
    if place.own:
        where = (given.get("e", ""), given.get("step", ""))
        made = await server.conversations.fork(request.state.visitor, place.name[1:], *where)
        address = f"/{made.kind.page}/{made.id}"
    else:
        address = await fork_of_run(server, place, given)
    return Response(status_code=204, headers={"HX-Redirect": address})


def forks_of(root: Path, place: RunAddress, name: str) -> list[tuple[str, str]]:
    """Return (step, URL beside the parent) of each fork of an episode in the default location of
    `naisei runs fork` under `root`, sorted by name."""
    found = []
    for path in sorted(root.glob(f"{glob.escape(place.path.name)}-fork-*")):
        try:
            with opened(path) as directory:
                made = fork_of(directory.log)
        except InputError:
            continue  # the list of runs reports it
        if made and made.episode == name and Path(made.parent) == place.path.resolve():
            query = urlencode([("run", place.name), ("run", path.name), ("e", name)])
            found.append((made.step, f"/runs/aligned?{query}"))
    return found


def parent_of(loaded: Loaded, place: RunAddress) -> tuple[str, str]:
    """Return the URLs of the fork beside its parent, and of the parent at the step; empty if the
    parent is not among the shown runs."""
    if not loaded.fork:
        return "", ""
    parent, step = str(loaded.fork["parent"]), str(loaded.fork["step"])
    if not parent.startswith("@"):
        root = place.path.parents[place.name.count("/")].resolve()
        if not Path(parent).is_relative_to(root):
            return "", ""
        parent = Path(parent).relative_to(root).as_posix()
    name = str(loaded.fork["episode"])
    query = urlencode([("run", parent), ("run", place.name), ("e", name)])
    return f"/runs/aligned?{query}", RunAddress(parent, place.path).url(
        "episode", e=name, step=step
    )
