"""Renders pages, fragments and errors from templates. All values are escaped."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import nh3
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response

from naisei import lengths
from naisei.core import EffectFailed, InputError
from naisei.http import status_of
from naisei.lang import language, say
from naisei.runs.frozen import model_name
from naisei.runs.report import bar
from naisei.runs.tables import number, short
from naisei.runs.words import metric_name, worded
from naisei.web.visitors import without_script

STATIC = Path(__file__).parent / "static"
THEME_COOKIE = "naisei_theme"
#: Maximum number of fields in a form.
_FIELDS = 100


def fragment(*templates: str, **context: Any) -> str:
    """Render the first template that exists, in the current language of `say`."""
    return _environment().select_template(templates).render(language=language(), **context)


def prepare() -> None:
    """Compile all templates, up to 50 ms each."""
    for name in _environment().list_templates():
        _environment().get_template(name)


def page_response(
    request: Request, template: str, *, otherwise: str = "", back: str = "", **context: Any
) -> HTMLResponse:
    """Return a response from a template that extends `base.html`.

    Besides `context`, the template receives page, pages, csrf, theme, here, language, say.

    Args:
        template: `<page>/<file>`, or a shared template.
        otherwise: fallback if the page has no such template.
        back: URL of the page, if the template is a part of a page. A browser without JavaScript
            gets the part as a separate page.
    """
    pages = request.app.state.server.pages
    around = _around(request)
    around["page"] = next((p for p in pages if p.name == template.partition("/")[0]), None)
    text = fragment(*(name for name in (template, otherwise) if name), **around, **context)
    if back and "hx-request" not in request.headers:
        text = fragment("part.html", body=text, back=back, **around)
    return HTMLResponse(text)


def _around(request: Request) -> dict[str, Any]:
    """Return the context of `base.html`; empty for an unknown visitor."""
    visitor = getattr(request.state, "visitor", None)
    return _OUTSIDE | {
        "pages": request.app.state.server.pages,
        "csrf": visitor.csrf if visitor else "",
        "theme": request.cookies.get(THEME_COOKIE, ""),
        "here": request.url.path,
    }


#: Context of `base.html` for visitors who may not enter.
_OUTSIDE: dict[str, Any] = {"page": None, "pages": (), "csrf": "", "theme": "", "here": ""}


@cache
def _environment() -> Environment:
    from naisei.web.pages import pages
    from naisei.web.pages.runs.example import example_of

    packages = ("naisei.web", *(page.templates for page in pages() if page.templates))
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"say": say, "static": static, "has_static": _has_static}
    environment.filters |= {"number": number, "short": short, "worded": _worded}
    environment.filters["lines"] = _lines
    environment.filters["called"] = metric_name
    environment.filters["model_name"] = model_name
    environment.filters["markdown"] = _markdown
    environment.filters["pretty"] = pretty
    environment.globals |= {"bar": bar, "example_of": example_of}
    environment.globals["lengths"] = lengths
    return environment


async def form_fields(request: Request) -> dict[str, str]:
    """Return the fields of a form without files; the last one wins if a name is repeated.

    Raises:
        HTTPException: it is not a form, or has too many fields.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", "application/x-www-form-urlencoded", "multipart/form-data"):
        raise HTTPException(415, say("フォームの形で送ってください", "send it as a form"))
    async with request.form(max_files=0, max_fields=_FIELDS) as form:
        texts = {name: value for name, value in form.items() if isinstance(value, str)}
    # Form text has \r\n line ends.
    return {name: text.replace("\r\n", "\n") for name, text in texts.items()}


def _worded(heading: str) -> str:
    """Like `worded`, and without underscores in English."""
    return worded(heading).replace("_", " ")


@cache
def static(name: str) -> str:
    """Return the URL of a static file with a content hash for caching."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


@cache
def _has_static(name: str) -> bool:
    return (STATIC / name).is_file()


def pretty(value: Any) -> str:
    """Format as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2)


#: A table row in documents and answers; a last row followed by its sources; the rule under a
#: header.
_ROW = re.compile(r"\s*\|(?:[^|]*\|){2,}\s*")
_CITED = re.compile(r"^(\s*\|.*?)\s*\|\s*((?:\[\d+\])+)\s*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")


def _lines(text: str) -> Markup:
    """Render text with its line breaks; as Markdown if it has tables."""
    lines = text.split("\n")
    return _markdown(text) if any(map(_ROW.fullmatch, lines)) else Markup("<br>").join(lines)


def _with_tables(text: str) -> str:
    """Separate quoted table rows from the surrounding text and give them a header."""
    parts, told = [], _CITED.sub(r"\1 \2 |\n", text)
    for is_row, lines in groupby(told.split("\n"), lambda line: bool(_ROW.fullmatch(line))):
        rows = list(lines)
        if is_row and not any(map(_RULE.fullmatch, rows)):
            rows.insert(1, "|" + " --- |" * (len(re.findall(r"(?<!\\)\|", rows[0])) - 1))
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


@cache
def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    # Quoted documents: no links, images or headings.
    return renderer.disable(
        ["image", "link", "autolink", "reference", "code", "heading", "lheading"]
    )


def _markdown(text: str) -> Markup:
    """Render Markdown lists, tables, emphasis and line breaks, without HTML and links."""
    made = _renderer().render(_with_tables(text))
    clean = nh3.clean(made, tags=_MARKS, attributes={"ol": {"start"}}, link_rel=None)
    # Horizontally scrollable elements can be focused by keyboard.
    return Markup(clean.replace("<table>", '<table tabindex="0">'))


_MARKS = {
    "p",
    "br",
    "ul",
    "ol",
    "li",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "strong",
    "em",
    "code",
    "pre",
    "blockquote",
    "hr",
}
#: Makes HTMX put only the notice of an error page into the notice area.
_PLACED = {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML", "HX-Reselect": ".notice"}
#: Hidden fields.
_HIDDEN = ("step", "e", "token")
_LOG = logging.getLogger("naisei.web")


class Refused(HTTPException):
    """An error answered with an error page: status, and the message in both languages."""

    def __init__(self, status: int, ja: str, en: str) -> None:
        super().__init__(status, say(ja, en))


def check_length(text: str, most: int) -> None:
    """Raises `HTTPException` (413) for a text of more than `most` characters."""
    if problem := lengths.too_long(text, most):
        raise HTTPException(413, problem)


def refusal(
    status: int,
    message: str,
    given: Mapping[str, str] = {},
    around: Mapping[str, Any] = _OUTSIDE,
) -> HTMLResponse:
    """Return an error page; for HTMX only the message. given: the submitted texts, shown again.
    around: see `page_response`."""
    text = fragment("refused.html", status=status, message=message, given=given, **around)
    return HTMLResponse(text, status, headers=_PLACED)


async def _written(request: Request) -> dict[str, str]:
    """Return the submitted texts, for pages without JavaScript."""
    if request.method != "POST" or not without_script(request.headers):
        return {}
    try:
        form = await request.form()
    except (HTTPException, ClientDisconnect, RuntimeError):
        return {}  # not a form, or incomplete
    texts = {name: text for name, text in form.items() if isinstance(text, str)}
    return {name: text for name, text in texts.items() if text and name not in _HIDDEN}


async def _failed(request: Request, error: Exception) -> Response:
    status, message = status_of(error)
    if isinstance(error, InputError | EffectFailed):
        # The path goes only to the log; the visitor gets the message.
        _LOG.warning("%s", error)
    if isinstance(error, InputError) and status != 409:
        status, message = 422, error.message
    if status == 500:
        message = say(
            "思わぬ誤りで続けられません。読み込み直しても同じなら、サーバーの管理者に知らせてください",
            "unexpected error: reload the page; if it persists, tell the operator",
        )
    return refusal(status, message, await _written(request), _around(request))


#: For `Starlette(exception_handlers=…)`.
handlers: dict[Any, Any] = dict.fromkeys(
    (HTTPException, InputError, EffectFailed, Exception), _failed
)
