"""Which declarations of a page's own style sheets win for each element: the cascade of CSS.

tinycss2 parses, the parser of the page matches. `!important`, specificity and nesting are followed,
and `@media` for any screen. Under any other condition (`@supports`, `@layer`, other media), and
for elements that the parser cannot tell, the declared properties have the value `UNKNOWN`. Sheets
of other files are not followed.
Source: CSS Cascading and Inheritance Level 5, W3C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import tinycss2  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from naisei.retrieval.loaders.blocks import TooIntricate

#: The value of a property that may have any.
UNKNOWN = "?"
#: Element that holds a shadow tree, which has sheets of its own.
SHADOW = "x-shadow-tree"
_RULES, _SHEET, _DEPTH = 4_000, 300_000, 8
#: Elements that rules may be compared with, those above them included: some seconds.
_STEPS = 40_000_000

_SIDES = ("top", "right", "bottom", "left")
_PROPERTIES = frozenset(
    re.findall(
        r"[\w-]+",
        """animation animation-name background-clip background-color background-image box-shadow
        color color-scheme content-visibility display filter flex flex-grow float font-size
        grid-area grid-column grid-row height max-height max-width min-height min-width
        mix-blend-mode opacity overflow-x overflow-y position text-decoration
        text-indent text-shadow transform
        visibility width -webkit-background-clip -webkit-text-fill-color -webkit-text-stroke""",
    )
) | {*_SIDES, *(f"{name}-{side}" for name in ("margin", "padding") for side in _SIDES)}
_SHORTHANDS = frozenset({"all", "background", "font", "inset", "margin", "overflow", "padding"})
#: Conditions under which rules may hold or not.
_CONDITIONS = frozenset({"supports", "container", "scope", "layer", "media"})
_SCREENS = frozenset({"", "all", "screen", "only screen"})


class _Rule(NamedTuple):
    selector: str
    declared: list[tuple[str, str, bool]]


#: Importance, whether it is the attribute `style`, specificity, order.
_Rank = tuple[bool, bool, tuple[int, int, int], int]


class Cascade:
    """`of(node)`: property → value, of those that decide what is seen; shorthands are expanded."""

    def __init__(self, tree: LexborHTMLParser, depth: int) -> None:
        """depth: how deep the elements nest.

        Raises:
            TooIntricate: very many rules for the elements there are.
        """
        self._won: dict[int, dict[str, tuple[_Rank, str]]] = {}
        elements = tree.css("*")
        classes = " ".join(node.attributes.get("class") or "" for node in elements).lower().split()
        names = frozenset(classes)
        steps = 0
        for order, rule in enumerate(_sheets(tree)):
            for selector in _parts(rule.selector):
                simple = not re.search(r"[(\[\\]", selector)
                if simple and not names.issuperset(_CLASS.findall(selector.lower())):
                    continue
                steps += len(elements) * (1 + depth * bool(re.search(r"[\s>~+]", selector)))
                if steps > _STEPS or order > _RULES:
                    raise TooIntricate(f"{order} style rules")
                nodes, known = _selected(tree, selector)
                weight = _specificity(selector)
                for node in nodes:
                    own = self._won.setdefault(node.mem_id, {})
                    for name, value, important in rule.declared:
                        _put(
                            own,
                            name,
                            value if known else UNKNOWN,
                            (important, False, weight, order),
                        )

    def of(self, node: LexborNode) -> dict[str, str]:
        won = self._won.get(node.mem_id, {})
        if style := node.attributes.get("style"):
            won = dict(won)
            for name, value, important in declarations(style):
                _put(won, name, value, (important, True, (0, 0, 0), 0))
        return {name: value for name, (_, value) in won.items()}


def _put(own: dict[str, tuple[_Rank, str]], name: str, value: str, rank: _Rank) -> None:
    before = own.get(name)
    if before is None or rank >= before[0]:
        own[name] = (rank, value)


def _sheets(tree: LexborHTMLParser) -> Iterator[_Rule]:
    left = _SHEET
    for sheet in tree.css(f"style:not({SHADOW} *)"):
        kind = (sheet.attributes.get("type") or "text/css").strip().lower()
        media = (sheet.attributes.get("media") or "all").strip().lower()
        if kind == "text/css" and media != "print":
            text = sheet.text()[:left]
            left -= len(text)
            yield from _rules(tinycss2.parse_stylesheet(text, True, True), "", media in _SCREENS)


def _rules(nodes: Iterable[Any], parent: str, known: bool, depth: int = 0) -> Iterator[_Rule]:
    """parent: the selector that the nodes are nested in. known: whether what is around them
    holds."""
    if depth > _DEPTH:
        raise TooIntricate("nested style rules")
    nodes = list(nodes)
    if parent and (found := list(_declared(nodes))):
        unknown = [(name, UNKNOWN, important) for name, _, important in found]
        yield _Rule(parent, found if known else unknown)
    for node in nodes:
        inside, holds = parent, known
        if node.type == "qualified-rule":
            inside = _nested(tinycss2.serialize(node.prelude).strip(), parent)
        elif node.type == "at-rule" and node.lower_at_keyword in _CONDITIONS and node.content:
            condition = tinycss2.serialize(node.prelude).strip().lower()
            if condition == "print":
                continue
            holds = known and node.lower_at_keyword == "media" and condition in _SCREENS
        else:
            continue
        content = tinycss2.parse_blocks_contents(node.content or [], True, True)
        yield from _rules(content, inside, holds, depth + 1)


def _nested(selector: str, parent: str) -> str:
    if not parent:
        return selector
    around = f":is({parent})"
    parts = _parts(selector)
    return ",".join(p.replace("&", around) if "&" in p else f"{around} {p}" for p in parts)


def _parts(selector: str) -> list[str]:
    """Parted at the commas that are in no bracket."""
    parts: list[str] = [""]
    for token in tinycss2.parse_component_value_list(selector, True):
        if token == ",":
            parts.append("")
        else:
            parts[-1] += token.serialize()
    return [part.strip() for part in parts if part.strip()]


_CLASS = re.compile(r"\.([\w-]+)")
#: Parts and boxes that are no elements.
_PART = re.compile(r"::|:(?:before|after|first-line|first-letter)(?![\w-])", re.I)
_PSEUDO_CLASS = re.compile(r":[\w-]+(?:\((?:[^()]|\([^()]*\))*\))?")


def _selected(tree: LexborHTMLParser, selector: str) -> tuple[list[LexborNode], bool]:
    """(elements, whether just these). Of what the parser does not know, all that may be meant."""
    wider = _PSEUDO_CLASS.sub("", selector).strip() or "*"
    for tried in (selector, wider) if not _PART.search(selector) else ():
        try:
            return tree.css(tried), tried == selector
        except SelectolaxError:
            continue
    return [], True


_WEIGHTLESS = re.compile(r":where\([^()]*\)|:(?:is|not|has)\b|\\.")
_IDS, _CLASSES = re.compile(r"#[\w-]+"), re.compile(r"\.[\w-]+|\[[^\]]*\]|:[\w-]+")


def _specificity(selector: str) -> tuple[int, int, int]:
    """Identifiers, classes, tags; of alternatives in brackets all, not the greatest. Source:
    Selectors Level 4, 17."""
    rest, ids = _IDS.subn(" ", _WEIGHTLESS.sub("", selector))
    rest, classes = _CLASSES.subn(" ", rest)
    return ids, classes, len(re.findall(r"[\w-]+", rest))


def declarations(style: str) -> Iterator[tuple[str, str, bool]]:
    """(property, value, important) of what an attribute `style` says."""
    return _declared(tinycss2.parse_blocks_contents(style[:_SHEET], True, True))


def _declared(nodes: Iterable[Any]) -> Iterator[tuple[str, str, bool]]:
    for node in nodes:
        if node.type == "declaration" and node.lower_name in _PROPERTIES | _SHORTHANDS:
            value = tinycss2.serialize([t for t in node.value if t.type != "comment"])
            for name, part in _longhands(node.lower_name, value.strip().lower()):
                yield name, part, node.important


_FONT_SIZE = re.compile(r"(?<![\w.])((?:\d*\.)?\d+(?:px|pt|r?em|%|vw)|0)(?![\w.%])")


def _longhands(name: str, value: str) -> Iterable[tuple[str, str]]:
    parts = value.split() if value and "(" not in value else [UNKNOWN]
    match name:
        case "all":
            return [(each, value) for each in _PROPERTIES]
        case "font":
            size = _FONT_SIZE.search(value)
            return [("font-size", size[1] if size else UNKNOWN)]
        case "background":
            image = re.search(r"url\(|gradient\(|image", value)
            clip = "text" if "text" in value.split() else "border-box"
            color = "transparent" if value == "none" else value
            return [
                ("background-image", value if image else "none"),
                ("background-clip", clip),
                ("background-color", color),
            ]
        case "overflow":
            return [("overflow-x", parts[0]), ("overflow-y", parts[-1])]
        case "inset" | "margin" | "padding":
            four = {1: parts * 4, 2: parts * 2, 3: [*parts, *parts[1:2]]}.get(len(parts), parts)
            prefix = "" if name == "inset" else f"{name}-"
            return [(prefix + side, part) for side, part in zip(_SIDES, four, strict=False)]
    return [(name, value)]
