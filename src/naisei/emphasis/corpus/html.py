"""HTML reader that maps every character of the running text to its source offsets."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

from naisei.emphasis.corpus.documents import BlockBuilder, ParsedText
from naisei.retrieval.loaders.blocks import BLOCK_ELEMENTS


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


RAW = _set("script style textarea noscript template svg math xmp")
#: Not running text: code, tables, headings and navigation.
LEFT_OUT = _set(
    """pre table h1 h2 h3 h4 h5 h6 nav select button iframe object title head dt header footer
    figcaption"""
)
BLOCKS = BLOCK_ELEMENTS | {"br"}
_FIXED = _set("code kbd samp tt var a ruby")
_BOLD = _set("strong b em")
#: Ruby readings.
_HIDDEN = _set("rt rp")
#: Elements within a paragraph that are tracked; others are ignored.
INLINE = _FIXED | _BOLD | _HIDDEN | _set("span font i u")
_HEAVY = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.I)


def role(tag: str, rest: str) -> str:
    """`bold`, `fixed` (cannot be emphasised), `hidden` (no text) or "".

    rest: the tag's attributes.
    """
    if tag in _HIDDEN:
        return "hidden"
    if tag in _FIXED:
        # A named anchor is not a link.
        return "fixed" if tag != "a" or "href" in rest.lower() else ""
    return "bold" if tag in _BOLD or _HEAVY.search(rest) else ""


# Maps every character of the running text to its source offsets.
#
# This is a custom scanner, since parsers repair a page and lose its offsets. Broken pages are
# read leniently: an end tag without a start is ignored, and emphasis ends with its block.

_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?(?:php\b|=).*?(?:\?>|\Z)|<[!?][^>]*(?:>|\Z)"
    r"|(?P<template>\{\{.{0,300}?\}\}|\{%.{0,300}?%\}|<%.{0,300}?%>)"
    r"|<(?P<end>/?)(?P<tag>[a-zA-Z][^\s/>]*)(?P<rest>(?:\"[^\"]*\"|'[^']*'|[^>])*+)(?:>|\Z)"
    r"|&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});",
    re.DOTALL,
)
_HEADING = re.compile(r"h[1-6]")
_NOT_IN_HEADING = frozenset({"p", "ul", "ol", "dl", "blockquote", "section", "article"})
#: Most nested elements within a paragraph; outer ones beyond it are dropped.
_DEEPEST = 100
#: Characters searched for a page's `<head>`.
_HEAD = 100_000


@dataclass(slots=True)
class _State:
    builder: BlockBuilder = field(default_factory=BlockBuilder)
    left_out: list[str] = field(default_factory=list)
    inline: list[tuple[str, str]] = field(default_factory=list)
    bold: bool = False
    fixed: bool = False
    hidden: bool = False

    def weigh(self) -> None:
        roles = {role for _, role in self.inline}
        self.bold, self.fixed, self.hidden = (r in roles for r in ("bold", "fixed", "hidden"))

    def add(self, text: str, start: int, end: int, *, fixed: bool = False) -> None:
        """Add text from a source range, one character to one unless the lengths differ."""
        if self.left_out or self.hidden:
            return
        single = len(text) == end - start
        for place, character in enumerate(text, start):
            first, last = (place, place + 1) if single else (start, end)
            self.builder.add(character, first, last, self.bold, fixed or self.fixed)


def read_html(text: str) -> ParsedText:
    """Read an HTML page. Source offsets refer to `text`."""
    state, at = _State(), 0
    while at < len(text):
        piece = _PIECE.search(text, at)
        stop = piece.start() if piece else len(text)
        state.add(text[at:stop], at, stop)
        if piece is None:
            break
        at = piece.end()
        if piece["tag"]:
            at = _tag(state, piece, text)
        elif piece["template"]:
            state.add(piece[0], piece.start(), at, fixed=True)
        elif piece[0].startswith("&"):
            state.add(html.unescape(piece[0]), piece.start(), at)
    state.builder.close()
    return ParsedText(
        html_title(text),
        state.builder.finished(),
        writer=_meta(text, "author"),
        domain=_meta(text, "article:section"),
    )


def _meta(text: str, name: str) -> str:
    """A meta value from a page's `<head>`, or ""."""
    for tag in re.findall(r"<meta\b[^>]{0,2000}>", text[:_HEAD], re.I):
        named = re.search(r"\b(?:name|property)\s*=\s*[\"']?([^\"'\s>]+)", tag, re.I)
        said = re.search(r"\bcontent\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", tag, re.I)
        if named and said and named[1].lower() == name:
            return _plain(said[1] or said[2] or "")
    return ""


def _tag(state: _State, piece: re.Match[str], text: str) -> int:
    """Process a tag; returns the position to continue from."""
    tag, end = piece["tag"].lower(), bool(piece["end"])
    if tag in RAW and not end:
        close = re.compile(rf"</{tag}\b", re.I).search(text, piece.end())
        return close.start() if close else len(text)
    if tag in BLOCKS or tag in LEFT_OUT:
        state.builder.close()
        if tag != "br":
            state.inline.clear()
    _end_implied(state.left_out, tag, end)
    if tag in LEFT_OUT:
        if not end:
            state.left_out.append(tag)
        elif tag in state.left_out:
            del state.left_out[len(state.left_out) - 1 - state.left_out[::-1].index(tag) :]
    elif tag == "body":
        state.left_out.clear()
    elif tag in INLINE:
        if not end:
            state.inline.append((tag, role(tag, piece["rest"])))
            del state.inline[:-_DEEPEST]
        else:
            for index in range(len(state.inline) - 1, -1, -1):
                if state.inline[index][0] == tag:
                    del state.inline[index]
                    break
    state.weigh()
    return piece.end()


def _end_implied(left_out: list[str], tag: str, end: bool) -> None:
    """Close skipped elements whose end tag may be, or often is, missing."""
    while left_out:
        inner = left_out[-1]
        if inner == "dt":
            over = tag in ("dd", "dl") or (tag == "dt" and not end)
        elif inner in ("head", "title"):
            over = (tag in BLOCKS or bool(_HEADING.fullmatch(tag))) and not end
        else:
            # A heading cannot contain a paragraph, so its end tag is missing.
            over = bool(_HEADING.fullmatch(inner)) and tag in _NOT_IN_HEADING and not end
        if not over:
            return
        left_out.pop()


def html_title(text: str) -> str:
    """The only `<h1>`, else `<title>`, else the first heading, else ""."""
    heads = re.findall(r"<h1\b[^>]{0,300}>(.{0,200}?)</h1", text, re.I | re.DOTALL)
    for pattern in (
        r"<title\b[^>]{0,300}>(.{0,200}?)</title",
        r"<h[1-6]\b[^>]{0,300}>(.{0,200}?)</h[1-6]",
    ):
        if len(heads) == 1 and (title := _plain(heads[0])):
            return title
        heads = re.findall(pattern, text, re.I | re.DOTALL)[:1]
    return _plain(heads[0]) if heads else ""


def _plain(marked: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", marked)).replace("¶", "").split())
