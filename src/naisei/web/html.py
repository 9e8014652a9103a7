"""Templates: whole pages, and fragments of them. Everything is escaped unless it says not."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from naisei import lengths
from naisei.lang import language, say
from naisei.runs.report import bar
from naisei.runs.tables import number
from naisei.web.tongue import THEME_COOKIE, chosen

if TYPE_CHECKING:
    from naisei.web.pages import Page

__all__ = ["STATIC", "fragment", "page_response"]

STATIC = Path(__file__).parent / "static"


def fragment(template: str, **context: Any) -> str:
    """A template as text, in the language that `say` speaks now."""
    return _environment().get_template(template).render(language=language(), **context)


def page_response(
    request: Request, template: str, *, page: Page | None = None, status: int = 200, **context: Any
) -> HTMLResponse:
    """A template that extends `base.html`, as the answer to a request.

    The template has, besides `context`: page, pages, csrf, theme, language, say.
    """
    from naisei.web.pages import pages

    text = fragment(
        template,
        page=page,
        pages=pages(),
        csrf=request.state.visitor.csrf,
        theme=chosen(request.headers, THEME_COOKIE),
        here=request.url.path,
        **context,
    )
    return HTMLResponse(text, status)


@cache
def _environment() -> Environment:
    from naisei.web.pages import pages

    own = PrefixLoader(
        {p.name: PackageLoader(f"naisei.web.pages.{p.name}", "templates") for p in pages()}
    )
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("naisei.web", "templates"), own]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"say": say, "static": static, "has_static": _has_static}
    environment.filters["number"] = number
    environment.filters["lines"] = _lines
    environment.filters["pretty"] = _pretty
    environment.globals["bar"] = bar
    environment.globals["lengths"] = lengths
    return environment


@cache
def static(name: str) -> str:
    """The address of a static file, with a mark of its contents, so that it can be kept."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


@cache
def _has_static(name: str) -> bool:
    return (STATIC / name).is_file()


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _lines(text: str) -> Markup:
    """Text with its line breaks kept."""
    return Markup("<br>").join(text.split("\n"))
