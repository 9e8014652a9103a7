"""Pages of the web app, and their registry.

    PAGE = Page(
        name="assistant",
        title=("聞き返す助手", "Assistant"),
        about=("あいまいな頼みごとに…", "Asks back before it acts."),
        icon="M4 6h16M4 12h10",               # the path of a line drawing on 24 × 24
        order=10,                             # of the navigation
        routes=[Route("/assistant", …), …],   # all under /<name>
        kinds=(KIND,),                        # of its conversations, if it holds any
        ready=_load,                          # what the first visitor would wait for
    )

The page of a system is named by `System.page`: `module:attribute` of a `Page`, or of a function
that makes it; also that of a system from an entry point of the group `naisei.systems`. A page
that is a conversation needs no more than a `ConversationKind` (naisei.web.conversations.kind) and

    routes=page_routes(KIND, experiment=RUN, fields=("agent", "quota"))

of naisei.web.conversations.routes: no template. examples/triage.py has one.

The templates of a page are named `<name>/<file>` and extend `base.html`; ours are in
`naisei/web/templates`, those of a page from outside in the folder `templates` of the package that
`templates` names. Style and script of our pages are `naisei/web/static/<name>.css` and `.js`,
loaded there alone. There is no inline script and no `style=` anywhere: the policy that keeps
foreign script out would stop it too. Every text for people is `{{ say("…", "…") }}`. What a
person, a document or a model wrote goes through autoescape; `| safe` is for what
`naisei.http` or nh3 has cleaned.

A page keeps no state of its own: what belongs to a visitor is a conversation, or stands under
`ServerState.folder(visitor)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from starlette.routing import BaseRoute

from naisei.core import InputError
from naisei.entries import load_entry
from naisei.lang import say
from naisei.system.registry import find_system, system_names
from naisei.web.conversations.kind import ConversationKind

__all__ = ["Page", "pages"]

#: Pages that belong to no system.
_COMMON = tuple(f"naisei.web.pages.{name}:PAGE" for name in ("agent", "runs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One entry of the navigation.

    name: the first part of its addresses. title, about: Japanese and English. kinds: of its
    conversations. templates: package with its own folder `templates`. ready: called in a thread, in
    each language, when the server begins: loads what its first visitor would otherwise wait for.
    """

    name: str
    title: tuple[str, str]
    about: tuple[str, str]
    routes: Sequence[BaseRoute]
    icon: str = "M4 5h16v11H9l-5 4z"
    order: int = 70
    kinds: Sequence[ConversationKind[Any]] = ()
    templates: str = ""
    ready: Callable[[], object] = lambda: None

    @property
    def path(self) -> str:
        return "/" if self.name == "agent" else f"/{self.name}"


@cache
def pages() -> tuple[Page, ...]:
    """All pages, in the order of the navigation.

    Raises:
        InputError: a system from outside cannot be loaded, or names no page.
    """
    named = [(name, find_system(name).page) for name in system_names()]
    found = [_load(place) for place in _COMMON]
    for system, place in named:
        if place:
            found.append(_load(place, system))
    return tuple(sorted(found, key=lambda page: page.order))


def _load(place: str, system: str = "naisei") -> Page:
    try:
        found = load_entry(place)
        page = found() if callable(found) else found
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            say(
                f"{system} のページを読み込めません: {error}",
                f"cannot load the page of {system}: {error}",
            ),
            place=f"{system}: page={place!r}",
            remedy=say("MODULE:ATTRIBUTE の形で指定してください", "give MODULE:ATTRIBUTE"),
        ) from error
    if not isinstance(page, Page):
        raise InputError(
            say(f"{system} の page はページではありません", f"the page of {system} is no page"),
            place=f"{system}: page={place!r}",
            remedy=say("naisei.web.pages.Page を指定してください", "name a naisei.web.pages.Page"),
        )
    return page
