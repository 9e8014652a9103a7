"""Pages of the web app, and their registry.

    PAGE = Page(
        name="assistant",
        title=("聞き返す助手", "Assistant"),
        about=("あいまいな頼みごとに…", "Asks back before it acts."),
        icon="M4 6h16M4 12h10",               # the path of a line drawing on 24 × 24
        order=10,                             # position in the navigation
        routes=[Route("/assistant", …), …],   # all under /<name>
        kinds=(KIND,),                        # kinds of its conversations, if any
        ready=_load,                          # preloads data for the first visitor
    )

`System.page` names the page of a system: `module:attribute` of a `Page` or of a function that
returns one. This also applies to external systems (entry point group `naisei.systems`). A page that
is a conversation needs only a `ConversationKind` (naisei.web.conversations.kind) and

    routes=page_routes(KIND, experiment=RUN, fields=("agent", "quota"))

of naisei.web.conversations.routes: no template. examples/triage.py has one.

The templates of a page are named `<name>/<file>` and extend `base.html`. Ours are in
`naisei/web/templates`; those of an external page are in the folder `templates` of the package named
by `templates`. Style and script of our pages are `naisei/web/static/<name>.css` and `.js`, loaded
only there. The content security policy forbids inline scripts and `style=`. Every text for people
is `{{ say("…", "…") }}`. Text from a person, a document or a model is autoescaped; `| safe` is only
for text cleaned by `naisei.http` or nh3.

A page has no state of its own: a visitor's data is in conversations or under
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

#: Pages without a system.
_COMMON = tuple(f"naisei.web.pages.{name}:PAGE" for name in ("agent", "runs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One entry of the navigation.

    name: the first part of its URL paths. title, about: Japanese and English. kinds: kinds of its
    conversations. templates: package with its own folder `templates`. ready: called in a thread,
    once per language, at server start, to preload data for the first visitor.
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
    """Return all pages in navigation order.

    Raises:
        InputError: an external system cannot be loaded, or names no page.
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
