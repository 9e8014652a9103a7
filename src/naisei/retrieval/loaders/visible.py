"""Finds text that a page's own styles hide.

Checks `hidden`, display, visibility, opacity 0, font size 0 and struck-out text, in the `style`
attribute and in rules for an element, a class or an id. When in doubt, text counts as visible.
Does not check colours, or positions and sizes of boxes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import tinycss2  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.blocks import TooIntricate, leave_out
from naisei.retrieval.types import Hidden

DEEPEST = 2_000
#: Element of a shadow tree with its own styles.
SHADOW = "x-shadow-tree"
#: Most characters of style sheets and nesting of rules.
_SHEET, _DEPTH = 300_000, 8
#: Elements that are never content.
_NEVER = (
    "script, style, template, noscript, noframes, noembed, iframe, object[data], embed, canvas, "
    "audio, video, select, datalist, input, nav, progress, meter, rp, annotation, annotation-xml, "
    "svg title, svg desc, svg metadata, svg mask, svg pattern, svg marker, svg clipPath, mphantom, "
    "rt, rtc"
)
_DEFINITIONS = ", svg defs, svg symbol"
_ZERO = r"(?:0+(?:\.0*)?|\.0+)"
#: Property → values that hide.
_HIDING = {
    "display": re.compile("none"),
    "visibility": re.compile("hidden|collapse"),
    "opacity": re.compile(f"{_ZERO}%?"),
    "font-size": re.compile(f"{_ZERO}(?:%|[a-z]+)?"),
    "text-decoration": re.compile("line-through.*"),
}
_UNSET = ("", "inherit", "unset")
#: Inherited properties that inner elements may override.
_INHERITED = ("visibility", "font-size")
#: Properties that may set others.
_ALSO = {
    "all": tuple(_HIDING),
    "animation": tuple(_HIDING),
    "animation-name": tuple(_HIDING),
    "font": ("font-size",),
}
#: A simple selector: an element, a class or an id, or an element with one of these.
_SIMPLE = re.compile(r"[\w-]+|[\w-]*[.#][\w-]+|\*")
#: At-rules whose rules may or may not apply.
_CONDITIONS = frozenset({"supports", "container", "scope", "layer", "media"})
_SCREENS = ("", "all", "screen", "only screen")
#: Weight of the `style` attribute, and the highest precedence.
_STYLE, _FIRST = 8, (True, 9, 0)
_PARTS = re.compile(r"[.#]?[\w-]+")
_ASIDE = re.compile(r"\[[^\]]*\]|::?[\w-]+(?:\([^()]*\))?")

#: (important, weight, order), and the hiding declaration; "" if visible.
_Declared = tuple[tuple[bool, int, int], str]
#: Selector → property → winning declaration.
_Rules = dict[str, dict[str, _Declared]]


def drop_hidden(tree: LexborHTMLParser) -> list[Hidden]:
    """Remove hidden text. Returns it with the style that hid it.

    Raises:
        TooIntricate: elements nest too deeply.
    """
    hidden: list[Hidden] = []
    rules = _rules_of(tree)
    for node in tree.css(_NEVER + ("" if tree.css_first("use") else _DEFINITIONS)):
        node.decompose()
    texts = list(_texts(tree, rules))
    for why, group in groupby(texts, key=itemgetter(1)):
        nodes = [node for node, _ in group] if why else []
        leave_out(hidden, why, " ".join(node.text(deep=False) or "" for node in nodes[:50]))
        for node in nodes:
            node.decompose()
    return hidden


def walk(
    root: LexborNode | None, closed: frozenset[str] = frozenset()
) -> Iterator[tuple[LexborNode, bool]]:
    """Yield (node, entering) in reading order, skipping `closed` elements. Not recursive, so any
    depth works."""
    at = root
    while root is not None and at is not None:
        yield at, True
        if at.child is not None and at.tag not in closed:
            at = at.child
            continue
        while at is not None:
            yield at, False
            if at.mem_id == root.mem_id:
                return
            if at.next is not None:
                at = at.next
                break
            at = at.parent


def _texts(tree: LexborHTMLParser, rules: _Rules) -> Iterator[tuple[LexborNode, str]]:
    """Yield non-blank texts with the declaration hiding each."""
    stack: list[dict[str, str]] = [{}]
    for node, entering in walk(tree.root):
        if node.tag != "-text" and entering:
            if len(stack) > DEEPEST:
                raise TooIntricate(f"{len(stack)} levels")
            stack.append(_inside(node, stack[-1], rules))
        elif node.tag != "-text":
            stack.pop()
        elif entering and (node.text(deep=False) or "").strip():
            yield node, next(iter(stack[-1].values()), "")


def _inside(node: LexborNode, outer: dict[str, str], rules: _Rules) -> dict[str, str]:
    """Map properties to an element's hiding declarations, given its parent's."""
    tag, attributes = node.tag or "", node.attributes
    names = [f".{name}" for name in (attributes.get("class") or "").split()]
    names += [f"#{attributes['id']}"] if attributes.get("id") else []
    won: dict[str, _Declared] = {}
    closed = "popover" in attributes or (tag == "dialog" and "open" not in attributes)
    if closed or "hidden" in attributes:
        won["display"] = (False, -1, 0), "hidden"
    if tag in ("del", "s", "strike"):
        won["text-decoration"] = (False, -1, 0), "struck out"
    for selector in ("*", tag, *names, *(tag + name for name in names)):
        _keep(won, rules.get(selector, {}).items())
    if style := attributes.get("style"):
        content = tinycss2.parse_blocks_contents(style[:_SHEET], True, True)
        _keep(won, _declared(content, _STYLE, 0))
    found = {name: why for name, why in outer.items() if name not in _INHERITED or name not in won}
    return found | {name: why for name, (_, why) in won.items() if why}


def _keep(won: dict[str, _Declared], declared: Iterable[tuple[str, _Declared]]) -> None:
    for name, one in declared:
        if name not in won or one[0] >= won[name][0]:
            won[name] = one


def _rules_of(tree: LexborHTMLParser) -> _Rules:
    """Rules by their last element, class or id. Conditional rules (some `@media`, `@supports`,
    ancestors) may show text but never hide it."""
    rules: _Rules = {}
    for order, (selector, content, holds) in enumerate(_selectors(tree)):
        ends = _PARTS.findall(re.split(r"[\s>~+]", selector)[-1])
        simple = holds and _SIMPLE.fullmatch(selector) is not None
        key = selector if simple else ends[-1] if ends else "*"
        weight = 4 * ("#" in key) + 2 * ("." in key) + (key[0] not in "#.*")
        declared = _declared(content, weight, order)
        if not simple:
            declared = [(name, (_FIRST, "")) for name, (_, why) in declared if not why]
        _keep(rules.setdefault(key, {}), declared)
    return rules


def _selectors(tree: LexborHTMLParser) -> Iterator[tuple[str, Any, bool]]:
    left = _SHEET
    for sheet in tree.css(f"style:not({SHADOW} *)"):
        kind = (sheet.attributes.get("type") or "text/css").strip().lower()
        media = (sheet.attributes.get("media") or "all").strip().lower()
        if kind == "text/css" and media != "print":
            text = sheet.text()[:left]
            left -= len(text)
            yield from _flat(tinycss2.parse_stylesheet(text, True, True), media in _SCREENS)


def _flat(nodes: Iterable[Any], holds: bool, depth: int = 0) -> Iterator[tuple[str, Any, bool]]:
    """Yield (selector, declarations, whether they apply to any screen), in order."""
    for node in nodes if depth < _DEPTH else ():
        if node.type not in ("qualified-rule", "at-rule") or not node.content:
            continue
        prelude = tinycss2.serialize(node.prelude).strip()
        content = tinycss2.parse_blocks_contents(node.content, True, True)
        if node.type == "qualified-rule":
            for selector in _ASIDE.sub("?", prelude).split(","):
                yield selector.strip(), content, holds
            yield from _flat(content, False, depth + 1)
        elif node.lower_at_keyword in _CONDITIONS and prelude.lower() != "print":
            known = node.lower_at_keyword == "media" and prelude.lower() in _SCREENS
            yield from _flat(content, holds and known, depth + 1)


def _declared(nodes: Iterable[Any], weight: int, order: int) -> list[tuple[str, _Declared]]:
    found: list[tuple[str, _Declared]] = []
    for node in nodes:
        if node.type == "declaration":
            value = tinycss2.serialize([t for t in node.value if t.type != "comment"])
            value = value.strip().lower()
            for name in _ALSO.get(node.lower_name, (node.lower_name,)):
                hiding = _HIDING.get(name)
                if hiding is not None and value not in _UNSET:
                    hides = node.lower_name == name and hiding.fullmatch(value)
                    why = f"{name}: {value}" if hides else ""
                    found.append((name, ((node.important, weight, order), why)))
    return found
