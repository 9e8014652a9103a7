"""A conversation as a file, or pasted: first how it was read, then how the two stand by how they
talk. Nothing that is sent is kept.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import PurePath
from typing import Any

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.lang import say
from naisei.lengths import PASTED
from naisei.relationship.dialogues import dialogue_of
from naisei.relationship.rating import Rating, rate_by_speech
from naisei.relationship.rating_output import reasons, to_agent_json
from naisei.relationship.schemas import WAYS
from naisei.relationship.vector import DIMENSIONS, NAMES_JA
from naisei.runs.charts import Point, line_chart
from naisei.text_files import text_of
from naisei.transcripts import Transcript, parse_transcripts, preview
from naisei.web.html import page_response
from naisei.web.state import server_of

_PATH = "/relationship/file"
#: Files that are read at a time, and utterances of the preview.
_READING, _SHOWN = asyncio.Semaphore(2), 6


async def _file(request: Request) -> Response:
    """Fields: file or text, name, and from the preview dialogue, a, b, and step: `rate` or
    `download`."""
    most = min(server_of(request).options.max_upload, PASTED)
    async with request.form(max_files=1, max_fields=20) as form:
        fields = {key: value for key, value in form.items() if isinstance(value, str)}
        upload = form.get("file")
        if isinstance(upload, UploadFile) and upload.filename:
            data, name = await upload.read(most + 1), PurePath(upload.filename).name
        else:
            data, name = fields.get("text", "").encode(), fields.get("name") or "pasted.txt"
    if len(data) > 2 * most or (len(data) > most and "name" not in fields):
        kilo = most // 1000
        raise HTTPException(413, say(f"{kilo} KB までです", f"at most {kilo} KB"))
    async with _READING:
        text = text_of(data, name).replace("\r\n", "\n")
        shown = await asyncio.to_thread(_read, text, name, fields)
        rating: Rating | None = shown["rating"]
        if rating is not None and fields.get("step") == "download":
            held = json.dumps(to_agent_json(rating), ensure_ascii=False, indent=2)
            headers = {"content-disposition": 'attachment; filename="agent_a.json"'}
            return Response(held, media_type="application/json", headers=headers)
        return await asyncio.to_thread(
            page_response, request, "relationship/_file.html", back="/relationship", **shown
        )


def _read(text: str, name: str, fields: dict[str, str]) -> dict[str, Any]:
    """What the answer shows: the preview, and once two are chosen, their rating."""
    several = {one.name: one for one in parse_transcripts(text, name)}
    first = next(iter(several), "")
    found: Transcript = several.get(fields.get("dialogue", ""), several[first])
    two = [fields[key] for key in ("a", "b") if key in fields]
    if not set(two) <= set(found.speakers):  # of another conversation of the file
        two = []
    rating = None
    if len(two) == 2 and two[0] == two[1]:
        raise HTTPException(422, say("ちがう二人を選んでください", "choose two different speakers"))
    if two and fields.get("step") in ("rate", "download"):
        rating = rate_by_speech(dialogue_of(found, name, two))
    elif len(found.speakers) < 3:
        dialogue_of(found, name)  # refused where it is none of two
    return {
        "text": text,
        "name": name,
        "several": list(several),
        "found": found,
        "preview": preview(found)[0],
        "rows": found.turns[:_SHOWN],
        "two": two or list(found.speakers[:2]),
        "rating": rating,
        "charts": _charts(rating) if rating else [],
        "reasons": reasons(rating) if rating else [],
    }


def _charts(rating: Rating) -> list[tuple[str, str]]:
    """A chart a direction: its title and the drawing."""
    out = []
    for way in WAYS:
        src, dst = rating.name(way)
        lines = {
            say(NAMES_JA[name], name): [
                Point(n, turn.marks[way][name].value, title=turn.line.text[:40])
                for n, turn in enumerate(rating.turns, 1)
            ]
            for name in DIMENSIONS
        }
        title = f"{src} → {dst}"
        svg = line_chart(lines, title=title, x=say("発話", "utterance"), y=say("値", "value"))
        out.append((title, svg))
    return out


ROUTES = [Route(_PATH, _file, methods=["POST"])]
