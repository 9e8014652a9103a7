"""Which declarations of a page's own style sheets win for each element: the cascade of CSS.

tinycss2 parses, the parser of the page matches. `!important`, layers, specificity and nesting are
followed, and `@media` for any screen. Where only a browser could decide (`@supports`,
`@container`, other media, selectors that the parser does not know), the declared properties have
the value `UNKNOWN`. Sheets of other files are not followed.
Source: CSS Cascading and Inheritance Level 5, W3C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import tinycss2  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

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


class TooIntricate(ValueError):
    """A page that is meant to be read is not nested so deep, nor has so much style."""


class _Rule(NamedTuple):
    selector: str
    layer: int
    declared: list[tuple[str, str, bool]]


#: Importance, layer, specificity, order.
_Rank = tuple[int, int, tuple[int, ...], int]
#: Above all layers: what is in none, then the attribute `style`.
_NO_LAYER, _STYLE = 1 << 20, 1 << 21


class Cascade:
    """`of(node)`: property → value, of those that decide what is seen; shorthands are expanded."""

    def __init__(self, tree: LexborHTMLParser, depth: int) -> None:
        """depth: how deep the elements nest.

        Raises:
            TooIntricate: very many rules for the elements there are.
        """
        self._won: dict[int, dict[str, tuple[_Rank, str]]] = {}
        self._layers: dict[str, int] = {}
        elements = tree.css("*")
        classes = " ".join(node.attributes.get("class") or "" for node in elements).lower().split()
        names = frozenset(classes)
        steps = 0
        for order, rule in enumerate(self._sheets(tree)):
            for tokens in _parts(tinycss2.parse_component_value_list(rule.selector, True)):
                selector = tinycss2.serialize(tokens).strip()
                simple = not re.search(r"[(\[\\]", selector)
                if simple and not names.issuperset(_CLASS.findall(selector.lower())):
                    continue
                steps += len(elements) * (1 + depth * bool(re.search(r"[\s>~+]", selector)))
                if steps > _STEPS or order > _RULES:
                    raise TooIntricate(f"{order} style rules")
                nodes, known = _selected(tree, selector)
                weight = _specificity(tokens)
                for node in nodes:
                    own = self._won.setdefault(node.mem_id, {})
                    for name, value, important in rule.declared:
                        layer = -rule.layer if important else rule.layer
                        rank = (2 * important, layer, weight, order)
                        _put(own, name, value if known else UNKNOWN, rank)

    def of(self, node: LexborNode, *, shadow: bool = False) -> dict[str, str]:
        """shadow: it stands in a shadow tree, which the page's sheets do not reach."""
        won = {} if shadow else self._won.get(node.mem_id, {})
        if style := node.attributes.get("style"):
            won = dict(won)
            parsed = tinycss2.parse_blocks_contents(style[:_SHEET], True, True)
            for name, value, important in _declared(parsed):
                _put(won, name, value, (2 * important, _STYLE, (), 0))
        return {name: value for name, (_, value) in won.items()}

    def _sheets(self, tree: LexborHTMLParser) -> Iterator[_Rule]:
        left = _SHEET
        for sheet in tree.css(f"style:not({SHADOW} *)"):
            kind = (sheet.attributes.get("type") or "text/css").strip().lower()
            holds = _media(sheet.attributes.get("media") or "all")
            if kind == "text/css" and holds is not False:
                text = sheet.text()[:left]
                left -= len(text)
                nodes = tinycss2.parse_stylesheet(text, True, True)
                yield from self._rules(nodes, "", _NO_LAYER, holds is True, 0)

    def _rules(
        self, nodes: Iterable[Any], parent: str, layer: int, known: bool, depth: int
    ) -> Iterator[_Rule]:
        """parent: the selector that the nodes are nested in. known: whether what is around them
        holds."""
        if depth > _DEPTH:
            raise TooIntricate("nested style rules")
        nodes = list(nodes)
        if parent and (found := list(_declared(nodes))):
            unknown = [(name, UNKNOWN, important) for name, _, important in found]
            yield _Rule(parent, layer, found if known else unknown)
        for node in nodes:
            inside, within, holds = parent, layer, known
            if node.type == "qualified-rule":
                inside = _nested(node.prelude, parent)
            elif node.type != "at-rule" or (node.content is None and node.at_keyword != "layer"):
                continue
            elif node.lower_at_keyword == "layer":
                named = tinycss2.serialize(node.prelude).split(",")
                ranks = [self._layers.setdefault(n.strip(), len(self._layers)) for n in named]
                within = ranks[0]
            elif node.lower_at_keyword == "media":
                media = _media(tinycss2.serialize(node.prelude))
                if media is False:
                    continue
                holds = known and media is True
            elif node.lower_at_keyword in ("supports", "container", "scope"):
                holds = False
            else:
                continue
            content = tinycss2.parse_blocks_contents(node.content or [], True, True)
            yield from self._rules(content, inside, within, holds, depth + 1)


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


def _put(own: dict[str, tuple[_Rank, str]], name: str, value: str, rank: _Rank) -> None:
    before = own.get(name)
    if before is None or rank >= before[0]:
        own[name] = (rank, value)


def _declared(nodes: Iterable[Any]) -> Iterator[tuple[str, str, bool]]:
    """(property, value, important) of those that matter."""
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


def _nested(prelude: Sequence[Any], parent: str) -> str:
    selector: str = tinycss2.serialize(prelude).strip()
    if not parent:
        return selector
    parts = (tinycss2.serialize(part).strip() for part in _parts(prelude))
    around = f":is({parent})"
    return ",".join(p.replace("&", around) if "&" in p else f"{around} {p}" for p in parts)


def _parts(selector: Iterable[Any]) -> list[list[Any]]:
    """Its tokens, parted at the commas that are in no bracket."""
    parts: list[list[Any]] = [[]]
    for token in selector:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _specificity(tokens: Iterable[Any]) -> tuple[int, ...]:
    """Identifiers, classes, tags. Source: Selectors Level 4, 17."""
    ids = classes = tags = 0
    before: Any = None
    for token in tokens:
        inner: tuple[int, ...] = (0, 0, 0)
        if token.type == "function" and token.lower_name in ("is", "not", "has"):
            inner = max(map(_specificity, _parts(token.arguments)), default=inner)
        elif token.type in ("[] block", "function"):
            classes += token.type == "[] block" or token.lower_name != "where"
        elif token.type == "ident":
            inner = (0, 1, 0) if before in (".", ":") else (0, 0, 1)
        ids += inner[0] + (token.type == "hash")
        classes, tags = classes + inner[1], tags + inner[2]
        before = token if token.type == "literal" else None
    return ids, classes, tags


def _media(query: str) -> bool | None:
    """Whether a media query holds for a screen; `None` where that is not known."""
    known = {"": True, "all": True, "screen": True, "only screen": True, "print": False}
    return known.get(query.strip().lower())
