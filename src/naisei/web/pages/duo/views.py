"""The addresses of the duo page."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.core import InputError
from naisei.director.character import parse_character, shipped, shipped_profile
from naisei.director.profile import Character
from naisei.director.rules import TalkRules
from naisei.lang import language, say
from naisei.lengths import FIELD, PROFILE, too_long
from naisei.web.house import house_of
from naisei.web.html import page_response
from naisei.web.pages.duo.config import LONGEST, DuoConfig
from naisei.web.pages.duo.kind import KIND

__all__ = ["routes"]

#: Longest topic and place, and longest profile, in characters.


async def _start(request: Request) -> Response:
    from naisei.web.pages.duo import page

    house = house_of(request)
    return page_response(
        request,
        "duo/start.html",
        page=page,
        characters=shipped(),
        model=house.options.model,
        longest=LONGEST,
        talks=await house.sittings.entries(request.state.visitor, KIND.name),
    )


async def _begin(request: Request) -> Response:
    house = house_of(request)
    async with request.form(max_files=0, max_fields=20) as form:
        fields = {name: str(value).strip() for name, value in form.items()}
    model = house.options.model
    profiles = _profile(fields, "first"), _profile(fields, "second")
    cast = tuple(parse_character(text, place=say("プロフィール", "profile")) for text in profiles)
    if cast[0].id == cast[1].id:
        raise HTTPException(422, say("別のふたりを選んでください", "please choose two characters"))
    topic, scene = fields.get("topic", ""), fields.get("place", "")
    for given in (topic, scene):
        if told := too_long(given, FIELD):
            raise HTTPException(413, told)
    config = DuoConfig(
        profiles=profiles,
        played=_played(fields.get("played", "none"), cast, model),
        topic=topic,
        scene=scene,
        turns=_turns(fields.get("turns", "8")),
        rules=TalkRules(judge=bool(model and fields.get("judge")), language=language()),
        model=model,
    )
    names = say("と", " and ").join(character.name for character in cast)
    sitting = await house.sittings.begin(
        request.state.visitor, KIND, config, title=f"{names} · {topic}" if topic else names
    )
    return Response(status_code=204, headers={"HX-Redirect": f"/duo/{sitting.id}"})


def _profile(fields: dict[str, str], place: str) -> str:
    """The text of a shipped profile, or the one that was given; never a file of this machine."""
    name = fields.get(place, "")
    if name == "own":
        text = fields.get("profile", "")
        if told := too_long(text, PROFILE):
            raise HTTPException(413, told)
        return text
    if name not in {character.id for character in shipped()}:
        raise HTTPException(422, say("そのキャラクターはいません", "there is no such character"))
    return shipped_profile(name)


def _played(given: str, cast: tuple[Character, ...], model: str | None) -> tuple[str, ...]:
    everyone = tuple(character.id for character in cast)
    if model is None:
        return everyone
    return {"first": everyone[:1], "second": everyone[1:], "both": everyone}.get(given, ())


def _turns(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given[:4]) <= LONGEST:
        raise InputError(
            say(f"1 から {LONGEST} までです", f"must be 1 to {LONGEST}"),
            place=say("行数", "lines"),
        )
    return int(given)


async def _show(request: Request) -> Response:
    from naisei.web.pages.duo import page

    sitting = await house_of(request).sittings.find(
        request.state.visitor, request.path_params["id"], KIND
    )
    return page_response(
        request,
        "duo/talk.html",
        page=page,
        sitting=sitting,
        events=list(sitting.events),
        config=sitting.config,
    )


def routes() -> list[Route]:
    return [
        Route("/duo", _start),
        Route("/duo/new", _begin, methods=["POST"]),
        Route("/duo/{id}", _show),
    ]
