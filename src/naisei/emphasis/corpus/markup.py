"""What an element of HTML means for the words in it, in a page and within Markdown."""

from __future__ import annotations

import re

__all__ = ["BLOCKS", "INLINE", "LEFT_OUT", "RAW", "is_title", "role"]


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


RAW = _set("script style textarea noscript template svg math xmp")
#: No running text: code, tables, headings and what leads round a site.
LEFT_OUT = _set(
    """pre table h1 h2 h3 h4 h5 h6 nav select button iframe object title head dt header footer"""
)
BLOCKS = _set(
    """address article aside blockquote body caption center dd details div dl dt fieldset
    figcaption figure form hr html legend li main ol p section summary ul br"""
)
_FIXED = _set("code kbd samp tt var a ruby")
_BOLD = _set("strong b em")
#: Readings beside the words.
_HIDDEN = _set("rt rp")
#: Elements within a paragraph that are followed; others change nothing.
INLINE = _FIXED | _BOLD | _HIDDEN | _set("span font i u")
#: DocBook sets commands and the like in bold by what they are, not for weight.
_COMMANDS = _set(
    """command userinput replaceable parameter option application filename varname guimenu
    guibutton guilabel package structname envar literal prompt keycap program"""
)
_HEAVY = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.I)
_TITLES = re.compile(r"(?:\w+-)?(?:title|caption|heading)")
_CLASS = re.compile(r"\bclass\s*=\s*[\"']?([^\"'>]*)", re.I)


def role(tag: str, rest: str) -> str:
    """`bold`, `fixed` (cannot be emphasised), `hidden` (no text) or nothing.

    rest: what stands in the tag after its name.
    """
    if tag in _HIDDEN:
        return "hidden"
    named = _CLASS.search(rest)
    if named and _COMMANDS & set(named[1].split()):
        return "fixed"
    if tag in _FIXED:
        # A named anchor is no link.
        return "fixed" if tag != "a" or "href" in rest.lower() else ""
    return "bold" if tag in _BOLD or _HEAVY.search(rest) else ""


def is_title(tag: str, rest: str) -> bool:
    """Whether a paragraph is a title or caption by its class (`title`, `table-title`, …)."""
    if tag not in ("p", "div", "figcaption", "caption"):
        return False
    named = _CLASS.search(rest)
    return named is not None and any(_TITLES.fullmatch(name) for name in named[1].split())
