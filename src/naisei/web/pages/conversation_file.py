"""An uploaded or pasted conversation: its parsed form, then the relationship, rated by speech or by
the server's model. Uploads are not stored."""

from __future__ import annotations

import asyncio
from pathlib import PurePath
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.core import InputError, arun
from naisei.http import ThreadHandler
from naisei.lang import say
from naisei.lengths import PASTED
from naisei.memory.stream import StreamHandler
from naisei.models.embedders import EmbedHandler, open_embedder, resolve
from naisei.relationship.config import RatingConfig
from naisei.relationship.curves import direction_chart
from naisei.relationship.dialogues import Dialogue, dialogue_of
from naisei.relationship.rating import Rating, config_fields, from_conversations, rate_by_speech
from naisei.relationship.rating_output import reasons
from naisei.relationship.rating_task import rating_flow
from naisei.relationship.recorder import Recorder, recorded, streams_of
from naisei.relationship.schemas import WAYS
from naisei.relationship.standing import on_demand
from naisei.relationship.vector import DIMENSIONS
from naisei.text_files import text_of
from naisei.transcripts import Transcript, parse_transcripts, preview
from naisei.web.conversations.routes import model_field
from naisei.web.html import Refused, page_response
from naisei.web.state import server_of

_PATH = "/relationship/file"
#: Maximum number of files read at a time, of conversations rated at a time, of utterances in the
#: preview, and of utterances that a model rates while the page waits.
_READING, _RATING, _SHOWN, _RATED = asyncio.Semaphore(2), asyncio.Semaphore(2), 6, 60
#: The rating role; a malformed reply is a failed rating, as on the command line.
_ROLES = ("questioner", "reflector")


async def _file(request: Request) -> Response:
    """Form fields: file or text, and name; then dialogue, a, b and rater (`model`, or by
    speech)."""
    server = server_of(request)
    most = min(server.options.max_upload, PASTED)
    async with request.form(max_files=1, max_fields=20) as form:
        fields = {key: value for key, value in form.items() if isinstance(value, str)}
        upload = form.get("file")
        if isinstance(upload, UploadFile) and upload.filename:
            data, name = await upload.read(most + 1), PurePath(upload.filename).name
        else:
            data, name = fields.get("text", "").encode(), fields.get("name") or "pasted.txt"
    if len(data) > 2 * most or (len(data) > most and "name" not in fields):
        kilo = most // 1000
        raise Refused(413, f"{kilo} KB までです", f"at most {kilo} KB")
    async with _READING:
        text = text_of(data, name).replace("\r\n", "\n")
        dialogue, shown = await asyncio.to_thread(_read, text, name, fields)
        rating = None
        if dialogue is not None and fields.get("rater") != "model":
            rating = await asyncio.to_thread(rate_by_speech, dialogue)
    if dialogue is not None and rating is None:
        rating = await _rated_by_model(request, dialogue, fields)
    async with _READING:
        return await asyncio.to_thread(
            page_response,
            request,
            "relationship/_file.html",
            back="/relationship",
            model=server.options.model,
            models=server.options.models,
            rater=fields.get("rater"),
            rating=rating,
            charts=_charts(rating) if rating else (),
            lines=on_demand(reasons(rating)) if rating else (),
            **shown,
        )


async def _rated_by_model(request: Request, dialogue: Dialogue, fields: dict[str, str]) -> Rating:
    """Rate with one of the server's models, one call per direction and utterance.

    Raises:
        HTTPException: the server has no such model.
        InputError: the conversation is too long to wait for, or the model cannot be reached.
    """
    model = model_field(request, fields)
    if model is None:
        raise Refused(422, "モデルがありません", "this server has no model")
    if len(dialogue.lines) > _RATED:
        raise InputError(
            say(
                f"モデルが読むのは {_RATED} 発話までです ({len(dialogue.lines)} 発話)",
                f"a model rates at most {_RATED} utterances here, of {len(dialogue.lines)}",
            ),
            place=dialogue.name,
            remedy="naisei relationship rate FILE --model MODEL",
        )
    embedder = resolve("auto")
    config = RatingConfig(**config_fields(dialogue), procedure="lite", embedder=embedder)
    base = await server_of(request).world(
        dict.fromkeys(_ROLES, model), embedder=embedder, resends_of=dict.fromkeys(_ROLES, 0)
    )
    record = Recorder(config.pair)
    streams = StreamHandler(streams_of(config.rules), EmbedHandler(open_embedder(embedder)))
    world = recorded(base, record, ThreadHandler(streams))
    async with _RATING:
        talk = await arun(rating_flow(config, record), world)
    return from_conversations(dialogue, model, [talk])


def _read(text: str, name: str, fields: dict[str, str]) -> tuple[Dialogue | None, dict[str, Any]]:
    """Return the dialogue to rate, `None` until two of several speakers are chosen, and the context
    of the response."""
    several = {one.name: one for one in parse_transcripts(text, name)}
    first = next(iter(several), "")
    found: Transcript = several.get(fields.get("dialogue", ""), several[first])
    two = [fields[key] for key in ("a", "b") if key in fields]
    if not set(two) <= set(found.speakers):  # from another conversation in the file
        two = []
    dialogue = None
    if len(two) == 2 and two[0] == two[1]:
        raise Refused(422, "ちがう二人を選んでください", "choose two different speakers")
    if two:
        dialogue = dialogue_of(found, name, two)
    elif len(found.speakers) < 3:
        dialogue = dialogue_of(found, name)
    return dialogue, {
        "text": text,
        "name": name,
        "several": list(several),
        "found": found,
        "preview": preview(found)[0],
        "rows": found.turns[:_SHOWN],
        "two": two or list(found.speakers[:2]),
    }


def _charts(rating: Rating) -> list[tuple[str, str]]:
    """Return title and chart of each direction that could be rated."""
    drawn = []
    for way in WAYS:
        course = [{n: turn.marks[way][n].value for n in DIMENSIONS} for turn in rating.turns]
        title = " → ".join(rating.name(way))
        drawn.append((title, direction_chart(title, course).svg(small=True)))
    return [(title, svg) for title, svg in drawn if svg]


ROUTES = [Route(_PATH, _file, methods=["POST"])]
