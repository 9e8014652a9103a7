"""Profiles that visitors write: samples to begin from, and what is wrong told as they write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import PROFILE, too_long
from naisei.web.html import form_fields, page_response


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """Of one page. samples: id → name of those that ship. text: the TOML of a sample. read: what
    a profile is, in a line; raises `InputError` for one that cannot be used."""

    page: str
    samples: Callable[[], Mapping[str, str]]
    text: Callable[[str], str]
    read: Callable[[str], str]

    def routes(self) -> list[Route]:
        """`GET /<page>/profile?sample=ID`: a sample in its field. `POST`, field `profile`: what
        it is, or what is wrong; with `sample`, that in its place, unless something else of the
        visitor's stands there."""
        return [
            Route(f"/{self.page}/profile", self._sample),
            Route(f"/{self.page}/profile", self._written, methods=["POST"]),
        ]

    async def _sample(self, request: Request) -> Response:
        return await self._shown(request, self._text(request.query_params.get("sample", "")))

    async def _written(self, request: Request) -> Response:
        form = await form_fields(request)
        sample, profile = form.get("sample", ""), form.get("profile", "")
        if not sample:
            told = await asyncio.to_thread(self.told, profile)
            return page_response(request, "_profile_read.html", back=f"/{self.page}", **told)
        known = {"", *(self.text(name).strip() for name in self.samples())}
        if profile.strip() not in known:
            raise HTTPException(
                409,
                say(
                    "書きかけのプロフィールがあるので、見本は入れませんでした。"
                    "欄を空にしてから選んでください",
                    "what you wrote stays: empty the field first, then choose a sample",
                ),
            )
        return await self._shown(request, self._text(sample))

    def _text(self, sample: str) -> str:
        if sample not in self.samples():
            raise HTTPException(404, say("その見本はありません", "there is no such sample"))
        return self.text(sample)

    async def _shown(self, request: Request, profile: str) -> Response:
        return page_response(
            request,
            "_profile_field.html",
            back=f"/{self.page}",
            address=f"/{self.page}/profile",
            profile=profile,
            **await asyncio.to_thread(self.told, profile),
        )

    def told(self, profile: str) -> dict[str, str]:
        """`read` of a text, or `fault` and `remedy`; all empty where nothing is written."""
        empty = {"read": "", "fault": "", "remedy": ""}
        if not profile.strip():
            return empty
        if long := too_long(profile, PROFILE):
            return empty | {"fault": long}
        try:
            return empty | {"read": self.read(profile)}
        except InputError as error:
            return empty | {"fault": error.message, "remedy": error.remedy}


def profile_field(fields: Mapping[str, str], *, used: bool) -> str:
    """The profile of a form. used: whether something of the form asks for it.

    Raises:
        HTTPException: it is too long, asked for and empty, or written and used by nothing.
    """
    text = fields.get("profile", "")
    if told := too_long(text, PROFILE):
        raise HTTPException(413, told)
    if text and not used:
        raise HTTPException(
            422,
            say(
                "書いたプロフィールが選ばれていません。「自分で書いた」ものを選ぶか、欄を空にしてください",
                "the profile that you wrote is not chosen: choose your own, or empty its field",
            ),
        )
    if used and not text.strip():  # the field is folded: say where it is
        raise HTTPException(
            422,
            say(
                "自分のプロフィールが空です。「設定」を開いて書くか、見本から始めてください",
                "your own profile is empty: open “Settings” and write it, or begin from a sample",
            ),
        )
    return text
