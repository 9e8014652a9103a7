"""Starting, resuming and stopping runs on the pages. A run is frozen as by its command, and then
executed by `naisei runs resume`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from naisei.addresses import is_loopback
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen, default_path
from naisei.runs.lock import locked
from naisei.system.config import Config, Flag, flags_of
from naisei.system.declare import Experiment
from naisei.system.registry import declared, find_system, system_names
from naisei.web.conversations.routes import configured, model_field
from naisei.web.html import Refused, form_fields, page_response
from naisei.web.pages.runs.commands import commands_of
from naisei.web.pages.runs.example import EXAMPLES
from naisei.web.pages.runs.lists import RunAddress, place_of
from naisei.web.state import ServerState, server_of

#: Minutes after which a run stops; it can be resumed.
_MINUTES = 60
#: Default number of instances, for a first result within a minute.
_FIRST_LOOK: dict[str, Any] = {"limit": 20}


def offered() -> dict[str, Experiment[Any]]:
    """Return the runs that a form may start, by system."""
    systems = (find_system(name) for name in system_names())
    return {s.name: e for s in systems for e in s.experiments if e.offered}


def why_not(server: ServerState) -> str:
    """Return why this server starts no runs; empty if it does."""
    options = server.options
    alone = is_loopback(options.host) and not options.token and not options.hosts
    if not (alone if options.start_runs is None else options.start_runs):
        return say(
            "このサーバーでは実行を始められません。naisei serve --start-runs で許可できます。",
            "Runs cannot be started on this server; naisei serve --start-runs allows it.",
        )
    if options.workers > 1:
        return say(
            "プロセスが 2 つ以上のサーバーでは実行を始められません。コマンドで始めてください。",
            "A server of several processes starts no runs: start them by command.",
        )
    root = next(p for p in (options.runs, *options.runs.absolute().parents) if p.exists())
    if not (root.is_dir() and os.access(root, os.W_OK)):
        return say(
            "実行記録のフォルダーに書き込めないので、実行を始められません。",
            "Runs cannot be started: their folder cannot be written to.",
        )
    return ""


async def form(request: Request) -> Response:
    """`GET /runs/new[?system=…|?like=<run>]`: the form that starts a run of a system, with bundled
    data or the settings of another run."""
    server, all_ = server_of(request), offered()
    name, given = request.query_params.get("system", next(iter(all_))), dict(_FIRST_LOOK)
    if like := request.query_params.get("like"):
        frozen = Frozen.read(place_of(request, like).path / "config.json")
        name = frozen.system if frozen.system in all_ else name
        found = (*flags_of(all_[name].config),) if frozen.system == name else ()
        given = {flag.key: flag.of(frozen.config) for flag in found}
    if (experiment := all_.get(name)) is None:
        raise Refused(404, "そのようなシステムはありません", "no such system")
    first, more = _flags(experiment)
    problem = why_not(server)
    needs_model = bool(experiment.needed(experiment.config()))
    if not problem and needs_model and not server.options.models:
        problem = say(
            "この実行には言語モデルが要ります。naisei serve --model で始めたサーバーで使えます。",
            "This run needs a language model: start the server by naisei serve --model.",
        )
    return page_response(
        request,
        "runs/new.html",
        systems={s: p.title for s in all_ for p in server.pages if EXAMPLES.get(p.name) == s},
        name=name,
        experiment=experiment,
        first=first,
        more=more,
        given=given,
        problem=problem,
        needs_model=needs_model,
        models=server.options.models,
    )


def _flags(experiment: Experiment[Any]) -> tuple[list[Flag], list[Flag]]:
    """Return the main and the additional flags of the form."""
    inputs = [] if experiment.inputs is None else [*flags_of(experiment.inputs)]
    all_ = {f.key: f for f in [*flags_of(experiment.config), *inputs] if f.in_forms}
    more = [f for key, f in all_.items() if key not in experiment.offered and not _common(f)]
    return [all_[key] for key in experiment.offered], more


def _common(flag: Flag) -> bool:
    """Whether every configuration has this flag; false for the seed."""
    return flag.path[0] in Config.model_fields and flag.path != ("seed",)


async def begin(request: Request) -> Response:
    """`POST /runs/new`, fields `system`, `model` and keys of flags: starts the run that the command
    would make from them."""
    server, given = server_of(request), await form_fields(request)
    if problem := why_not(server):
        raise HTTPException(403, problem)
    if (experiment := offered().get(given.pop("system", ""))) is None:
        raise Refused(404, "そのようなシステムはありません", "no such system")
    first, more = _flags(experiment)
    model = model_field(request, given) if given.get("model") else None
    flags = [flag for flag in (*first, *more) if _said(flag, given)]
    path = await asyncio.to_thread(_frozen, server, experiment, flags, given, model)
    return await _under_way(server, RunAddress(path.name, path))


def _said(flag: Flag, given: Mapping[str, str]) -> bool:
    """Whether the form sets a value other than the default; the command decides unset values."""
    if flag.kind is bool:
        return bool(given.get(flag.key)) is not bool(flag.default)
    default = flag.default[0] if flag.many and flag.default else flag.default
    return given.get(flag.key, "") not in ("", str(default)) or bool(flag.told.get("shown"))


def _frozen(
    server: ServerState,
    experiment: Experiment[Any],
    flags: list[Flag],
    given: Mapping[str, str],
    model: str | None,
) -> Path:
    """Return the directory of the run, creating it if needed. Raises `InputError` like the
    command."""
    task = experiment.load(configured(experiment, flags, given, model))
    path = server.options.runs / default_path(task).name
    if not locked(path):
        RunDirectory.of(task, path).close()
    return path


async def go_on(request: Request) -> Response:
    """`POST /runs/resume/<run>`: resumes a stopped run."""
    server, place = server_of(request), place_of(request)
    if problem := why_not(server):
        raise HTTPException(403, problem)
    if not may_go_on(server, place, Frozen.read(place.path / "config.json")):
        raise Refused(404, "この実行はここでは続けられません", "this run cannot be resumed here")
    return await _under_way(server, place)


def may_go_on(server: ServerState, place: RunAddress, frozen: Frozen) -> bool:
    """Whether a form could have started it: a run of such a kind, with the server's models."""
    experiment = declared(frozen.system, frozen.config)
    models = frozen.config.get("models")
    named = set(models.values()) if isinstance(models, dict) else set()
    known = experiment is not None and bool(experiment.offered)
    elsewhere = place.own or place.example
    return known and not elsewhere and named <= set(server.options.models) and not why_not(server)


async def _under_way(server: ServerState, place: RunAddress) -> Response:
    words = ["resume", str(place.path), f"--max-minutes={_MINUTES}"]
    await commands_of(server).carry_out(words, place.path, wait=0.0)
    return Response(status_code=204, headers={"HX-Redirect": place.url("show")})


async def stop(request: Request) -> Response:
    """`POST /runs/stop/<run>`: stops a run executed by the server; its progress is kept."""
    place = place_of(request)
    if not commands_of(server_of(request)).stop(place.path):
        raise Refused(
            409, "ここで始めた実行ではありません", "it was not started here, or has ended"
        )
    return Response(status_code=204, headers={"HX-Redirect": place.url("show")})
