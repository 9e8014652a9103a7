"""The addresses of the relationship page."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import PROFILE, too_long
from naisei.models.embedders.registry import resolve
from naisei.relationship.pairs import shipped
from naisei.relationship.rules import Rules
from naisei.relationship.schemas import AgentId
from naisei.web.house import house_of
from naisei.web.html import page_response
from naisei.web.pages.relationship.config import PairConfig, pair_of
from naisei.web.pages.relationship.kind import KIND, speaker_of
from naisei.web.pages.relationship.picture import Picture

__all__ = ["routes"]

#: Most sessions and turns of one, and characters of a pair's TOML.
_SESSIONS, _TURNS = 5, 40
_PLAYED: dict[str, tuple[AgentId, ...]] = {"a": ("a",), "b": ("b",), "both": ("a", "b")}


async def _start(request: Request) -> Response:
    from naisei.web.pages.relationship import page

    house = house_of(request)
    return page_response(
        request,
        "relationship/start.html",
        page=page,
        pairs=list(shipped().values()),
        model=house.options.model,
        most=(_SESSIONS, _TURNS),
        talks=await house.sittings.entries(request.state.visitor, KIND.name),
    )


async def _begin(request: Request) -> Response:
    house = house_of(request)
    async with request.form(max_files=0, max_fields=20) as form:
        fields = {name: str(value).strip() for name, value in form.items()}
    model = house.options.model
    given = fields.get("pair", "")
    if given == "own":
        given = fields.get("profile", "")
        if told := too_long(given, PROFILE):
            raise HTTPException(413, told)
    elif given not in shipped():
        raise HTTPException(422, say("その組はありません", "there is no such pair"))
    pair = pair_of(given)
    played = _PLAYED.get(fields.get("played", "none"), ()) if model else _PLAYED["both"]
    config = PairConfig(
        pair=given,
        played=played,
        rules=Rules(
            sessions=_number(fields, "sessions", _SESSIONS, say("日数", "sessions")),
            turns=_number(fields, "turns", _TURNS, say("発話の数", "utterances")),
            reflection="turn" if model else "off",
            summary=model is not None,
        ),
        model=model,
        embedder=resolve("auto") if model else "ngram",
    )
    sitting = await house.sittings.begin(request.state.visitor, KIND, config, title=pair.title)
    return Response(status_code=204, headers={"HX-Redirect": f"/relationship/{sitting.id}"})


def _number(fields: dict[str, str], name: str, most: int, what: str) -> int:
    given = fields.get(name, "")
    if not given.isdecimal() or not 1 <= int(given[:4]) <= most:
        raise InputError(say(f"1 から {most} までです", f"must be 1 to {most}"), place=what)
    return int(given)


async def _show(request: Request) -> Response:
    from naisei.web.pages.relationship import page

    sitting = await house_of(request).sittings.find(
        request.state.visitor, request.path_params["id"], KIND
    )
    config = sitting.config
    assert isinstance(config, PairConfig)
    events = list(sitting.events)
    return page_response(
        request,
        "relationship/talk.html",
        page=page,
        sitting=sitting,
        speaker=speaker_of(sitting),
        events=events,
        config=config,
        pair=pair_of(config.pair),
        picture=Picture.of(config, events),
    )


def routes() -> list[Route]:
    return [
        Route("/relationship", _start),
        Route("/relationship/new", _begin, methods=["POST"]),
        Route("/relationship/{id}", _show),
    ]
