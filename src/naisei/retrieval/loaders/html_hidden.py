"""Which parts of a page a reader does not see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["TooIntricate", "drop_hidden"]

#: Never shown, or no part of what the page says.
_NEVER = (
    "script, style, template, noscript, iframe, object, embed, svg, canvas, audio, video, "
    "select, datalist, dialog:not([open]), input, nav, [hidden]"
)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ZERO = r"0*(?:\.0+)?(?:px|pt|em|rem|%)?"
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    rf"|opacity\s*:\s*{_ZERO}\s*(?:;|!|$)|font-size\s*:\s*{_ZERO}\s*(?:;|!|$)"
    r"|color\s*:\s*transparent|content-visibility\s*:\s*hidden"
    r"|(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*(?:0|1px)|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|transform\s*:\s*scale\(\s*0(?:\.0+)?\s*[,)])",
    re.IGNORECASE,
)
_NO_SIZE = re.compile(rf"(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*{_ZERO}\s*(?:;|!|$)", re.I)
_CUT_OFF = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)", re.I)
_WHITE = (
    r"(?:#fff(?:f(?:ff)?(?:ff)?)?\b|#f[c-f]f[c-f]f[c-f]\b|white\b|snow\b|"
    r"rgba?\(\s*25[2-5]\s*,?\s*25[2-5]\s*,?\s*25[2-5]|hsla?\([^,)]*,[^,)]*,\s*100%)"
)
_WHITE_TEXT = re.compile(rf"(?:^|;)\s*color\s*:\s*{_WHITE}", re.IGNORECASE)
_GROUND = re.compile(r"(?:^|;)\s*background(?:-color|-image)?\s*:\s*([^;]+)", re.IGNORECASE)
_LIGHT = re.compile(rf"^\s*(?:{_WHITE}|transparent|none|inherit|initial)", re.IGNORECASE)
_RULES, _SHEET = 2000, 300_000
#: Of one rule: declarations that are looked at, and the length of each.
_KEPT, _DECLARED = 20, 200
#: Steps from an element outwards that rules may take: some seconds.
_STEPS = 20_000_000


class TooIntricate(ValueError):
    """A page that is meant to be read is not nested so deep, nor has so much style."""


def drop_hidden(tree: LexborHTMLParser, depth: int) -> None:
    """Takes out what is not shown: by element, attribute, style attribute or style sheet in the
    page; white text that has no dark ground of its own or round it; comments are no text anyway.

    depth: how deep its elements nest.

    Raises:
        TooIntricate: very many style rules for the elements there are.
    """
    _mark_by_sheet(tree, depth)
    for node in tree.css(_NEVER):
        node.decompose()
    grounds: dict[int, bool] = {}
    for node in tree.css("[style], font[color]"):
        if node.parent is not None and _hides(node, grounds):
            node.decompose()


def _mark_by_sheet(tree: LexborHTMLParser, depth: int) -> None:
    """Writes the page's style rules that could hide something into style attributes."""
    found: dict[int, tuple[LexborNode, list[str]]] = {}
    rules = dict.fromkeys(_rules(tree))
    parts = sum(1 + selector.count(",") for selector, _ in rules)
    if parts and parts * len(tree.css("*")) * (10 + depth) > _STEPS:
        raise TooIntricate(f"{len(rules)} style rules")
    for selector, declared in rules:
        for node in _selected(tree, selector):
            found.setdefault(node.mem_id, (node, []))[1].append(declared)
    for node, said in found.values():
        own = node.attributes.get("style") or ""
        node.attrs["style"] = ";".join([*reversed(said), own])


def _rules(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """(selector, declarations) of those that could hide something."""
    number = 0
    for sheet in tree.css("style"):
        for rule in _CSS_COMMENT.sub("", sheet.text()[:_SHEET]).split("}"):
            selector, _, declared = rule.rpartition("{")
            number += 1
            if number > _RULES:
                return
            # Only what matters: it is written out again for every element.
            kept = [one[:_DECLARED] for one in declared.split(";") if _matters(one)]
            if kept and any(not _CUT_OFF.search(one) for one in kept):
                # What stands before the selector is an @media that it is within.
                yield selector.rpartition("{")[2].strip(), ";".join(kept[-_KEPT:])


def _matters(declared: str) -> bool:
    looked_for = (_HIDING, _NO_SIZE, _CUT_OFF, _WHITE_TEXT, _GROUND)
    return any(pattern.search(declared) for pattern in looked_for)


def _selected(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    if not selector or ":" in selector:
        return []  # hover, print and the like: not what a reader sees at first
    try:
        return tree.css(selector)
    except Exception as error:  # the parser's own class for a selector it does not know
        if "select" in f"{type(error).__name__} {error}".lower():
            return []
        raise


def _hides(node: LexborNode, grounds: dict[int, bool]) -> bool:
    style = node.attributes.get("style") or ""
    if _HIDING.search(style) or (_NO_SIZE.search(style) and _CUT_OFF.search(style)):
        return True
    color = node.attributes.get("color") or ""
    if color:
        style = f"{style};color:{color}"
    return bool(_WHITE_TEXT.search(style)) and not _on_dark(node, grounds)


def _on_dark(node: LexborNode, grounds: dict[int, bool]) -> bool:
    """Whether the nearest ground that is set, here or round it, is not white. grounds: what is
    known of other elements, by identity; what is found out is added."""
    at: LexborNode | None = node
    inside: list[int] = []
    dark = False
    while at is not None and at.tag != "-document":
        if at.mem_id in grounds:
            dark = grounds[at.mem_id]
            break
        inside.append(at.mem_id)
        style = at.attributes.get("style") or ""
        ground: str | None = at.attributes.get("bgcolor")
        if found := _GROUND.findall(style):
            ground = found[-1]
        if ground:
            dark = _LIGHT.match(ground) is None
            break
        at = at.parent
    grounds.update(dict.fromkeys(inside, dark))
    return dark
