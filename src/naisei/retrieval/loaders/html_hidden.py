"""Which parts of a page a reader does not see."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["drop_hidden"]

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


def drop_hidden(tree: LexborHTMLParser) -> None:
    """Takes out what is not shown: by element, attribute, style attribute or style sheet in the
    page; white text that has no dark ground of its own or round it; comments are no text anyway.
    """
    _mark_by_sheet(tree)
    for node in tree.css(_NEVER):
        node.decompose()
    for node in tree.css("[style], font[color]"):
        if node.parent is not None and _hides(node):
            node.decompose()


def _mark_by_sheet(tree: LexborHTMLParser) -> None:
    """Writes the page's style rules that could hide something into style attributes."""
    rules = 0
    for sheet in tree.css("style"):
        for rule in _CSS_COMMENT.sub("", sheet.text()[:_SHEET]).split("}"):
            selector, _, declared = rule.rpartition("{")
            selector = selector.rpartition("{")[2]  # within @media
            rules += 1
            if rules > _RULES:
                return
            if not (
                _HIDING.search(declared)
                or _NO_SIZE.search(declared)
                or _WHITE_TEXT.search(declared)
                or _GROUND.search(declared)
            ):
                continue
            for node in _selected(tree, selector.strip()):
                own = node.attributes.get("style") or ""
                node.attrs["style"] = f"{declared.strip().rstrip(';')};{own}"


def _selected(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    if not selector or ":" in selector:
        return []  # hover, print and the like: not what a reader sees at first
    try:
        return tree.css(selector)
    except Exception as error:  # the parser's own class for a selector it does not know
        if "select" in f"{type(error).__name__} {error}".lower():
            return []
        raise


def _hides(node: LexborNode) -> bool:
    style = node.attributes.get("style") or ""
    if _HIDING.search(style) or (_NO_SIZE.search(style) and _CUT_OFF.search(style)):
        return True
    color = node.attributes.get("color") or ""
    if color:
        style = f"{style};color:{color}"
    return bool(_WHITE_TEXT.search(style)) and not _on_dark(node)


def _on_dark(node: LexborNode) -> bool:
    """Whether the nearest ground that is set, here or round it, is not white."""
    at: LexborNode | None = node
    while at is not None and at.tag != "-document":
        style = at.attributes.get("style") or ""
        ground: str | None = at.attributes.get("bgcolor")
        if found := _GROUND.findall(style):
            ground = found[-1]
        if ground:
            return _LIGHT.match(ground) is None
        at = at.parent
    return False
