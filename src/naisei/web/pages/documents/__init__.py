"""The documents page: answers from documents, and asks back about vague requests first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.clarify.person import Person
from naisei.core import Event
from naisei.files import make_folder
from naisei.http import cleaned
from naisei.intent.feedback import Sign, read_feedback, standing, write_feedback
from naisei.intent.remembering import listed
from naisei.intent.rules import Profile, Role, Rules, Setting
from naisei.intent.serve.state import find_passage
from naisei.lang import language, say
from naisei.web.conversations.kind import PageConversation, Panel
from naisei.web.conversations.routes import conversation_of, model_field, page_routes
from naisei.web.html import Refused, form_fields, fragment, page_response
from naisei.web.pages import Page
from naisei.web.pages.assistant import PERSON
from naisei.web.pages.documents.conversation import (
    KIND,
    AskConfig,
    Shelf,
    contacts_of,
    cuts_of,
    documents_in,
    feedback_path,
    index_path,
    memory_of,
    rebuild,
    shared_index,
)
from naisei.web.pages.documents.uploads import KINDS, store
from naisei.web.state import ServerState, server_of

__all__ = ["PAGE"]


#: Maximum number of files per upload, and per visitor.
_AT_ONCE, _MOST = 20, 500
_SIGNS = get_args(Sign)
_ROLES: frozenset[Role] = frozenset(get_args(Role))


def _own(server: ServerState, request: Request) -> Path:
    return server.folder(request.state.visitor)


async def _start(request: Request) -> dict[str, Any]:
    server = server_of(request)
    folder = _own(server, request)

    def kept() -> dict[str, Any]:
        found = documents_in(folder).glob("*")
        return {
            "uploaded": sorted(path.name for path in found if path.is_file()),
            "remembers": memory_of(folder).allowed,
            "notes": listed(memory_of(folder)),
        }

    return {
        "index": (server.options.index or server.options.documents) is not None,
        "uploads": server.options.uploads,
        "kinds": KINDS,
        **await asyncio.to_thread(kept),
    }


async def _begin(request: Request, fields: Mapping[str, str]) -> tuple[AskConfig, str]:
    server = server_of(request)
    folder = _own(server, request)
    shelf = _shelf(fields.get("shelf", ""))
    if shelf == "own" and not any(documents_in(folder).glob("*")):
        raise Refused(422, "先にファイルを追加してください", "add files first")
    await rebuild(shelf, folder, server.options)
    async with shared_index(index_path(shelf, folder, server.options)):
        pass  # open it now, so that errors appear before the conversation
    model = model_field(request, fields)
    setting = Setting(
        rules=Rules(language=language(), roles=_ROLES if model else frozenset()),
        profile=_profile(fields),
        contacts=contacts_of(shelf),
    )
    names = {
        "server": say("このサーバーの資料", "the server's documents"),
        "handbook": say("見本の手引き", "the sample handbook"),
        "own": say("自分の資料", "my documents"),
    }
    remembers = bool(fields.get("remember"))
    if remembers:
        await asyncio.to_thread(memory_of(folder).begin)
    config = AskConfig(shelf=shelf, setting=setting, model=model, remembers=remembers)
    return config, names[shelf]


def _shelf(given: str) -> Shelf:
    if given not in get_args(Shelf):
        raise Refused(422, "その資料はありません", "no such documents")
    return cast(Shelf, given)


def _profile(fields: Mapping[str, str]) -> Profile:
    given = {name: fields.get(name, "")[:200] for name in ("department", "office", "employment")}
    try:
        return Profile.model_validate(given)
    except ValidationError as error:
        raise Refused(422, "プロフィールが使えません", "the profile is unusable") from error


async def _upload(request: Request) -> Response:
    """Store files in the visitor's folder; names the rejected ones."""
    server = server_of(request)
    if not server.options.uploads:
        raise Refused(404, "アップロードは無効です", "uploading is switched off")
    folder = make_folder(documents_in(_own(server, request)))
    told: list[str] = []
    async with request.form(max_files=_AT_ONCE, max_fields=5) as form:
        for given in form.getlist("file"):
            if not isinstance(given, UploadFile) or not given.filename:
                continue
            if sum(1 for _ in folder.iterdir()) >= _MOST:
                raise Refused(413, f"{_MOST} 件までです", f"at most {_MOST} files")
            data = await given.read(server.options.max_upload + 1)
            if len(data) > server.options.max_upload:
                told.append(f"{given.filename}: {say('大きすぎます', 'too large')}")
                continue
            try:
                await asyncio.to_thread(store, folder, given.filename, data)
            except HTTPException as refused:
                told.append(f"{given.filename}: {refused.detail}")
    if told:
        raise HTTPException(422, say("、", "; ").join(told))
    return Response(status_code=204, headers={"HX-Redirect": "/documents"})


async def _remove(request: Request) -> Response:
    folder = documents_in(_own(server_of(request), request))
    name = (await form_fields(request)).get("name", "")
    # Only listed files can be removed, so no name can leave the folder.
    found = {path.name: path for path in folder.glob("*")}.get(name)
    if found is None:
        raise Refused(404, "そのようなファイルはありません", "there is no such file")
    found.unlink()
    return Response(status_code=204, headers={"HX-Redirect": "/documents"})


async def _forget(request: Request) -> Response:
    """Delete one note; without a note id, delete all notes and the permission to store them."""
    folder = _own(server_of(request), request)
    kept = memory_of(folder)
    note = (await form_fields(request)).get("note", "")
    if not note:
        await asyncio.to_thread(kept.end)
        await asyncio.to_thread(_without_memo, folder)
    elif not await asyncio.to_thread(kept.forget, note):
        raise Refused(404, "そのようなメモはありません", "there is no such note")
    return Response(status_code=204, headers={"HX-Refresh": "true"})


def _without_memo(folder: Path) -> None:
    if Person.load(PERSON, folder).memo:
        Person.update(PERSON, folder, lambda person: person.remember(""))


def _beside(request: Request, conversation: PageConversation) -> Sequence[Panel]:
    folder, config = _own(server_of(request), request), conversation.config
    told = say("出典の題を押すと、その箇所が出ます。", "Click a source to read the passage.")
    given = {"conversation": conversation, "feedback": _feedback_summary(folder, config)}
    return (
        Panel("passage", say("出典", "Source"), f'<p class="dim">{told}</p>'),
        Panel("feedback", say("評価", "Feedback"), fragment("documents/_feedback.html", **given)),
    )


async def _passage(request: Request) -> Response:
    """Return the passage behind a citation of a conversation, as a fragment."""
    server = server_of(request)
    conversation = await conversation_of(request, KIND)
    config: AskConfig = conversation.config
    chunk = request.query_params.get("chunk", "")
    async with shared_index(
        index_path(config.shelf, _own(server, request), server.options)
    ) as index:
        found = await asyncio.to_thread(find_passage, index, chunk)
    if found is None:
        raise Refused(404, "その箇所はもうありません", "this passage is gone")
    shown = cleaned(found)
    back = f"/documents/{conversation.id}"
    return page_response(request, "documents/_passage.html", passage=shown, back=back)


async def _feedback(request: Request) -> Response:
    server = server_of(request)
    folder = _own(server, request)
    conversation = await conversation_of(request, KIND)
    sign = (await form_fields(request)).get("sign", "")
    if sign not in _SIGNS:
        raise Refused(422, "その評価はありません", "there is no such feedback")
    replies = [e for e in conversation.events if e.kind == "say"]
    if not replies:
        raise Refused(409, "まだ会話がありません", "there is no turn yet")
    said = [str(e.result) for e in conversation.events if e.kind == "ask"]
    asked = sum(_asks(event) for event in replies)
    path = feedback_path(folder)
    await asyncio.to_thread(
        write_feedback, path, cast(Sign, sign), about=said[-1] if said else "", asked=asked
    )
    config: AskConfig = conversation.config
    return page_response(
        request,
        "documents/_feedback.html",
        conversation=conversation,
        feedback=_feedback_summary(folder, config),
        back=f"/documents/{conversation.id}",
    )


def _asks(event: Event) -> bool:
    request: dict[str, dict[str, dict[str, object]]] = event.request  # type: ignore[assignment]
    return request["meta"]["reply"]["route"] == "ask"


def _feedback_summary(folder: Path, config: AskConfig) -> dict[str, object]:
    """Return the page's summary of the feedback: number of lines and the resulting thresholds."""
    base = config.setting.rules.thresholds
    now = cuts_of(folder, base)
    moved = {
        name: (getattr(base, name), getattr(now, name))
        for name in ("clarity", "is_question", "is_consultation")
        if getattr(base, name) != getattr(now, name)
    }
    return {"count": len(standing(read_feedback(feedback_path(folder)))), "moved": moved}


PAGE = Page(
    name="documents",
    title=("資料の案内役", "Documents"),
    about=(
        "資料に尋ねます。あいまいな問いには、探す前に聞き返します。",
        "Answers from documents, and asks back before it searches for something vague.",
    ),
    icon="M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
    order=40,
    routes=[
        Route("/documents/files", _upload, methods=["POST"]),
        Route("/documents/files/remove", _remove, methods=["POST"]),
        Route("/documents/memory/forget", _forget, methods=["POST"]),
        *page_routes(KIND, start=_start, begin=_begin, beside=_beside),
        Route("/documents/{id}/passage", _passage),
        Route("/documents/{id}/feedback", _feedback, methods=["POST"]),
    ],
    kinds=(KIND,),
)
