"""The addresses of the assistant's page."""

from __future__ import annotations

import asyncio
from functools import lru_cache

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei import plugins
from naisei.clarify.agent import GROUP, calls_model, is_model_free
from naisei.clarify.config import Rules
from naisei.clarify.data import load
from naisei.clarify.person import Person
from naisei.clarify.schemas import Language, Scene, UserInfo
from naisei.lang import language, say
from naisei.lengths import FIELD, too_long
from naisei.web.house import house_of
from naisei.web.html import page_response
from naisei.web.pages.assistant.config import SittingConfig
from naisei.web.pages.assistant.kind import KIND, PERSON, actions_in
from naisei.web.pages.assistant.picture import Picture

__all__ = ["routes"]

#: How many situations of the data are offered.
_OFFERED = 12
#: Longest field of a situation of one's own.
#: How it goes about a request. Where a wrong action costs nothing but a try, the best that an
#: agent can do is to act at once; with one try it asks while that pays.
_MANNERS = {"careful": Rules(trials=1, quota=3), "quick": Rules(trials=3, quota=2)}


@lru_cache(maxsize=2)
def _scenes(spoken: Language) -> dict[str, Scene]:
    """Some situations of the bundled data, spread over it; by id."""
    source = "ambigact40-open-en" if spoken == "en" else "ambigact40-open"
    found = {i.scene_id or i.id: i.scene for i in load(source, split="dev").instances}
    step = max(1, len(found) // _OFFERED)
    return {scene.id: scene for scene in list(found.values())[::step][:_OFFERED]}


def _agents(model: str | None) -> list[str]:
    """Those that can be had: without a model, the ones that need none; the best comes first."""
    names = plugins.names(GROUP)
    free = sorted(
        (n for n in names if is_model_free(n)), key=lambda n: (n != "bayes", n == "random", n)
    )
    return [*free, *(n for n in names if model and calls_model(n))]


async def _start(request: Request) -> Response:
    from naisei.web.pages.assistant import page

    house, spoken = house_of(request), language()
    return page_response(
        request,
        "assistant/start.html",
        page=page,
        scenes=list((await asyncio.to_thread(_scenes, spoken)).values()),
        agents=_agents(house.options.model),
        model=house.options.model,
        talks=await house.sittings.entries(request.state.visitor, KIND.name),
    )


async def _begin(request: Request) -> Response:
    house, spoken = house_of(request), language()
    async with request.form(max_files=0, max_fields=20) as form:
        fields = {name: str(value).strip() for name, value in form.items()}
    agent = fields.get("agent", "bayes")
    model = house.options.model
    if agent not in _agents(model):
        raise HTTPException(422, say("その助手は使えません", "this agent is not to be had"))
    scene = await _scene(fields, spoken)
    person = await asyncio.to_thread(Person.load, PERSON, house.folder(request.state.visitor))
    needs = calls_model(agent)
    config = SittingConfig(
        agent=agent,
        scene=scene.model_copy(update={"utterance": "", "language": spoken}),
        person=person,
        rules=_MANNERS.get(fields.get("manner", ""), _MANNERS["careful"]),
        model=model if needs else None,
        memory="tur" if needs else "none",
        language=spoken,
    )
    title = scene.user.place or say("自分の状況", "my own situation")
    sitting = await house.sittings.begin(
        request.state.visitor, KIND, config, title=f"{title} · {agent}"
    )
    return Response(status_code=204, headers={"HX-Redirect": f"/assistant/{sitting.id}"})


async def _scene(fields: dict[str, str], spoken: Language) -> Scene:
    if fields.get("scene", "own") != "own":
        found = (await asyncio.to_thread(_scenes, spoken)).get(fields["scene"])
        if found is None:
            raise HTTPException(422, say("その状況はありません", "there is no such situation"))
        return found
    place, around, holding = (fields.get(n, "") for n in ("place", "around", "holding"))
    for given in (place, around, holding):
        if told := too_long(given, FIELD):
            raise HTTPException(413, told)
    seen = _things(around)
    return Scene(
        id="own",
        utterance="",
        user=UserInfo(place=place, holding=_things(holding)),
        surroundings={say("まわり", "around"): seen} if seen else {},
        language=spoken,
    )


def _things(text: str) -> tuple[str, ...]:
    parts = text.replace("，", "、").replace(",", "、").replace("\n", "、").split("、")
    return tuple(part.strip() for part in parts if part.strip())


async def _show(request: Request) -> Response:
    from naisei.web.pages.assistant import page

    sitting = await house_of(request).sittings.find(
        request.state.visitor, request.path_params["id"], KIND
    )
    events = list(sitting.events)
    config = sitting.config
    assert isinstance(config, SittingConfig)
    return page_response(
        request,
        "assistant/talk.html",
        page=page,
        sitting=sitting,
        events=events,
        config=config,
        picture=Picture.of(config, events),
        actions=actions_in(config.language),
    )


def routes() -> list[Route]:
    return [
        Route("/assistant", _start),
        Route("/assistant/new", _begin, methods=["POST"]),
        Route("/assistant/{id}", _show),
    ]
