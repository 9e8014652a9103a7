"""Pages: what a page is, and which there are.

A page is a package `naisei/web/pages/<name>/` whose `__init__.py` has a `page`:

    page = Page(
        name="assistant",
        title=("聞き返す助手", "Assistant"),
        about=("あいまいな頼みごとに…", "Asks back before it acts."),
        icon="M4 6h16M4 12h10",               # the path of a line drawing on 24 × 24
        order=10,                             # of the navigation
        routes=lambda: [Route("/assistant", ...), ...],   # all under /<name>
        kinds=(kind,),                        # of its conversations, if it holds any
    )

Its templates are in `templates/` beside it and are named `<name>/<file>`; they extend
`base.html`. Its style and script, if any, are `naisei/web/static/<name>.css` and `.js`; they are
loaded on its pages alone. There is no inline script and no `style=` anywhere: the policy that
keeps foreign script out would stop it too. Every text for people is `{{ say("…", "…") }}`.
What a person, a document or a model wrote goes through autoescape; `| safe` is for what
`naisei.http.clean` or nh3 has cleaned.

A page keeps no state of its own: what belongs to a visitor is a conversation
(`naisei.web.sittings`), or stands under `house.folder(visitor)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from starlette.routing import BaseRoute

from naisei.web.sittings.kind import Kind

__all__ = ["Page", "pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One entry of the navigation. title, about: Japanese and English."""

    name: str
    title: tuple[str, str]
    about: tuple[str, str]
    icon: str
    order: int
    routes: Callable[[], Sequence[BaseRoute]]
    kinds: tuple[Kind[Any], ...] = ()

    @property
    def path(self) -> str:
        return "/" if self.name == "home" else f"/{self.name}"


@cache
def pages() -> tuple[Page, ...]:
    """All pages, in the order of the navigation."""
    found: list[Page] = [
        import_module(f"{__name__}.{module.name}").page for module in iter_modules(__path__)
    ]
    return tuple(sorted(found, key=lambda page: page.order))
