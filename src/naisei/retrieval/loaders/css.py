"""Which declarations of a page's style sheets win for each element: the cascade of CSS.

Parsed by tinycss2, matched by the parser of the page. Layers, `!important`, specificity, nesting,
`@media` for a desktop screen of 1280 × 800 in light colours, `@supports`, keyframes. Sheets of
other files (`@import`, `<link>`) are not followed.
Source: CSS Cascading and Inheritance Level 5, W3C.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import tinycss2  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.css_values import LONGHANDS, RELEVANT, VALID, expanded
from naisei.retrieval.loaders.media import media_holds, supported

#: What is noted of an element with a box of the style sheet's own that has a ground.
BOXED = "-boxed"
_RULES, _SHEET, _DEPTH = 4_000, 300_000, 8
#: Elements that rules may be compared with, those above them included: some seconds.
_STEPS = 40_000_000
#: Declarations that are kept for one element.
_KEPT = 300


#: Attribute of what is in a shadow tree: its number.
SCOPE = "data-shadow-tree"


class TooIntricate(ValueError):
    """A page that is meant to be read is not nested so deep, nor has so much style."""


class _Rule(NamedTuple):
    selector: str
    declared: list[tuple[str, str, bool]]
    layer: int


#: Importance and layer, specificity, order.
_Rank = tuple[int, int, tuple[int, int, int], int]


class Cascade:
    """`of(node)`: property → value, of those that decide what is seen; `var()` is still in it.
    frames: name of an animation → (what its first frame declares, what its last does).
    custom: what variables hold by themselves."""

    def __init__(self, tree: LexborHTMLParser, depth: int) -> None:
        """depth: how deep the elements nest.

        Raises:
            TooIntricate: very many rules for the elements there are.
        """
        self.frames: dict[str, tuple[dict[str, str], dict[str, str]]] = {}
        self.custom: dict[str, str] = {}
        self._layers: dict[str, int] = {}
        self._won: dict[int, dict[str, tuple[_Rank, str]]] = {}
        self._order = 0
        self._match(tree, self._rules(tree), depth)

    def of(self, node: LexborNode) -> dict[str, str]:
        won = self._won.get(node.mem_id, {})
        if style := node.attributes.get("style"):
            won = dict(won)
            rank: _Rank = (0, 1 << 20, (1 << 20, 0, 0), 0)
            for name, value, important in _declared(
                tinycss2.parse_blocks_contents(style[:_SHEET], True, True)
            ):
                _put(won, name, value, (2, *rank[1:]) if important else rank)
        return {name: value for name, (_, value) in won.items()}

    def _rules(self, tree: LexborHTMLParser) -> list[_Rule]:
        found: list[_Rule] = []
        left = _SHEET
        for sheet in tree.css("style, link[rel=stylesheet i][href]"):
            kind = (sheet.attributes.get("type") or "text/css").strip().lower()
            if kind != "text/css" or not media_holds(sheet.attributes.get("media") or "all"):
                continue
            text = _in_address(sheet.attributes.get("href") or "") or sheet.text()
            text = _IMPORT.sub(lambda found: _in_address(found[1]), text)[:left]
            left -= len(text)
            parsed = tinycss2.parse_stylesheet(text, True, True)
            scope = sheet.attributes.get(SCOPE) or ""
            self._collect(parsed, f"[{SCOPE}={scope}]" * bool(scope), 1 << 20, found, 0)
        return found

    def _collect(
        self, nodes: Iterable[Any], parent: str, layer: int, found: list[_Rule], depth: int
    ) -> None:
        """parent: the selector that the nodes are nested in. layer: its rank."""
        if depth > _DEPTH or len(found) > _RULES:
            raise TooIntricate("style rules")
        own = list(nodes)
        if parent and (declared := list(_declared(own))):
            found.append(_Rule(parent, declared, layer))
        for node in own:
            if node.type == "qualified-rule":
                inner = tinycss2.parse_blocks_contents(node.content, True, True)
                selector = _nested(tinycss2.serialize(node.prelude).strip(), parent)
                self._collect(inner, selector, layer, found, depth + 1)
            elif node.type == "at-rule":
                self._at_rule(node, parent, layer, found, depth)

    def _at_rule(self, node: Any, parent: str, layer: int, found: list[_Rule], depth: int) -> None:
        name, prelude = node.lower_at_keyword, tinycss2.serialize(node.prelude).strip()
        if name == "layer":
            names = [each.strip() for each in prelude.split(",")]
            ranks = [self._layers.setdefault(each, len(self._layers)) for each in names]
            layer = ranks[0]
        if node.content is None:
            return
        if name.endswith("keyframes"):
            self._keyframes(prelude.strip("\"'"), node.content)
        elif (
            name == "layer"
            or (name == "media" and media_holds(prelude))
            or (name == "container" and media_holds("(" + prelude.partition("(")[2]))
            or (name == "supports" and supported(prelude.lower()))
        ):
            self._collect(
                tinycss2.parse_blocks_contents(node.content, True, True)
                if parent
                else tinycss2.parse_rule_list(node.content, True, True),
                parent,
                layer,
                found,
                depth + 1,
            )
        elif name == "property":
            said = {
                d.lower_name: d
                for d in tinycss2.parse_blocks_contents(node.content, True, True)
                if d.type == "declaration"
            }
            if "initial-value" in said:
                self.custom[prelude] = tinycss2.serialize(said["initial-value"].value).strip()
        elif name == "scope":
            rules = tinycss2.parse_rule_list(node.content, True, True)
            within = prelude.partition(")")[0].strip("( ") or ":root"
            self._collect(rules, f":is({within})", layer, found, depth + 1)

    def _behind(self, tree: LexborHTMLParser, selector: str, rule: _Rule) -> None:
        """Where such a box has a ground, that of the element's text is not known."""
        if any(name.startswith("background") for name, _, _ in rule.declared):
            for node in _selected(tree, _BOX.sub("", selector)):
                self._won.setdefault(node.mem_id, {})[BOXED] = ((0, 0, (0, 0, 0), 0), "yes")

    def _keyframes(self, name: str, content: Sequence[Any]) -> None:
        first: dict[str, str] = {}
        last: dict[str, str] = {}
        for rule in tinycss2.parse_rule_list(content, True, True):
            if rule.type != "qualified-rule":
                continue
            at = {part.strip().lower() for part in tinycss2.serialize(rule.prelude).split(",")}
            inner = tinycss2.parse_blocks_contents(rule.content, True, True)
            declared = {key: value for key, value, _ in _declared(inner)}
            if at & {"from", "0%"}:
                first |= declared
            if at & {"to", "100%"}:
                last |= declared
        self.frames[name] = (first, last)

    def _match(self, tree: LexborHTMLParser, rules: list[_Rule], depth: int) -> None:
        if not rules:
            return
        elements = tree.css("*")
        names = {name for node in elements for name in (node.attributes.get("class") or "").split()}
        names = {name.lower() for name in names}
        steps = 0
        for rule in rules:
            for selector in _parts(rule.selector):
                if any(name.lower() not in names for name in _last_classes(selector)):
                    continue
                if _BOX.search(selector):
                    self._behind(tree, selector, rule)
                    continue
                steps += len(elements) * (1 + depth * bool(re.search(r"[\s>]", selector)))
                if steps > _STEPS:
                    raise TooIntricate(f"{len(rules)} style rules")
                self._order += 1
                weight = _specificity(selector)
                for node in _selected(tree, selector):
                    own = self._won.setdefault(node.mem_id, {})
                    for name, value, important in rule.declared:
                        layer = -rule.layer if important else rule.layer
                        _put(own, name, value, (2 * important, layer, weight, self._order))


_IMPORT = re.compile(r"@import\s+(?:url\()?\s*[\"']?(data:[^\"'()]*)[\"']?\s*\)?[^;]*;", re.I)


def _in_address(address: str) -> str:
    """The style sheet that stands in an address (`data:`); empty for one elsewhere."""
    kind, _, body = address.strip().partition(",")
    if not kind.lower().startswith("data:text/css"):
        return ""
    body = unquote(body)
    if not kind.lower().endswith(";base64"):
        return body
    try:
        return base64.b64decode(body).decode("utf-8", "replace")
    except ValueError:
        return ""


#: Boxes that a style sheet puts into an element.
_BOX = re.compile(r"::?(?:before|after)\s*$", re.I)


def _put(own: dict[str, tuple[_Rank, str]], name: str, value: str, rank: _Rank) -> None:
    for longhand, said in expanded(name, value):
        before = own.get(longhand)
        if (before is None and len(own) < _KEPT) or (before is not None and rank >= before[0]):
            own[longhand] = (rank, said)


_FALLBACK = re.compile(r"env\([\w\s-]+,([^()]*)\)")


def _declared(nodes: Iterable[Any]) -> Iterator[tuple[str, str, bool]]:
    """(name, value, important) of those that matter and that a browser takes."""
    for node in nodes:
        if node.type != "declaration":
            continue
        name = node.name if node.name.startswith("--") else node.lower_name
        if name not in RELEVANT and name not in LONGHANDS and not name.startswith("--"):
            continue
        value = tinycss2.serialize([t for t in node.value if t.type != "comment"]).strip()
        if not name.startswith("--"):
            value = _FALLBACK.sub(r"\1", value.lower())
        if name not in VALID or "var(" in value or VALID[name](value):
            yield name, value[:2_000], node.important


def _nested(selector: str, parent: str) -> str:
    if not parent:
        return selector
    # The order of a nested selector list is kept by `:is`.
    parts = []
    for part in _parts(selector):
        inside = part.strip()
        joined = inside.replace("&", f":is({parent})")
        parts.append(joined if "&" in inside else f":is({parent}) {inside}")
    return ", ".join(parts)


def _parts(selector: str) -> list[str]:
    """At its commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for found in re.finditer(r"\\.|[()\[\],]|\"[^\"]*\"|'[^']*'", selector):
        if found[0] in "([":
            depth += 1
        elif found[0] in ")]":
            depth -= 1
        elif found[0] == "," and depth == 0:
            parts.append(selector[start : found.start()])
            start = found.end()
    return [part.strip() for part in [*parts, selector[start:]] if part.strip()]


_PLAIN_END = re.compile(r"((?:\.[A-Za-z_][\w-]*)+)$")


def _last_classes(selector: str) -> list[str]:
    """Classes that an element must have to be selected; none where that takes more to tell."""
    if "(" in selector or "\\" in selector:
        return []
    found = _PLAIN_END.search(selector)
    return found[1][1:].split(".") if found else []


#: What is not so when a page is just opened.
_NOT_YET = re.compile(
    r":(?:hover|focus(?:-within|-visible)?|active|target(?:-within)?|visited|popover-open|modal|"
    r"fullscreen|user-(?:in)?valid|autofill)(?![\w-])",
    re.I,
)
_PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-line|first-letter)(?![\w-])", re.I)


_LANG = re.compile(r":lang\(\s*[\"']?([\w-]+)[\"']?\s*\)", re.I)
_DIR = re.compile(r":dir\(\s*(ltr|rtl)\s*\)", re.I)
_RTL = ":is([dir=rtl], [dir=rtl] *)"


def _selected(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    if not selector or _PSEUDO_ELEMENT.search(selector):
        return []
    selector = _NOT_YET.sub(":not(*)", selector)
    if ":lang(" in selector or ":dir(" in selector or ":defined" in selector:
        selector = _LANG.sub(r":is([lang|='\1'], [lang|='\1'] *)", selector)
        selector = _DIR.sub(
            lambda m: _RTL if m[1].lower() == "rtl" else f":not({_RTL})", selector
        ).replace(":defined", ":is(*)")
    try:
        return tree.css(selector)
    except Exception as error:  # the parser's own class for a selector it does not know
        if "select" in f"{type(error).__name__} {error}".lower():
            return []
        raise


_SIMPLE = re.compile(
    r"\\.|(?P<id>\#)|(?P<class>\.(?!\d))|(?P<attr>\[[^\]]*\])|::?(?P<pseudo>[\w-]+)(?P<call>\()?"
    r"|(?P<tag>(?<![\w\\.\#:-])[A-Za-z][\w-]*)"
)


def _specificity(selector: str) -> tuple[int, int, int]:
    """Identifiers, classes, tags. Source: Selectors Level 4, 17."""
    ids = classes = tags = at = 0
    while found := _SIMPLE.search(selector, at):
        at = found.end()
        if found["id"]:
            ids += 1
        elif found["class"] or found["attr"]:
            classes += 1
        elif name := found["pseudo"]:
            inside = ""
            if found["call"]:
                end = _closing(selector, at)
                inside, at = selector[at:end], end + 1
            if name in ("is", "not", "has", "matches", "-webkit-any"):
                best = max(map(_specificity, _parts(inside)), default=(0, 0, 0))
                ids, classes, tags = ids + best[0], classes + best[1], tags + best[2]
            elif name != "where":
                classes += 1
        elif found["tag"]:
            tags += 1
    return ids, classes, tags


def _closing(text: str, at: int) -> int:
    depth = 1
    for found in re.finditer(r"[()]", text[at:]):
        depth += 1 if found[0] == "(" else -1
        if not depth:
            return at + found.start()
    return len(text)
