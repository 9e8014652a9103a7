"""OpenDocument texts and sheets, converted to HTML with styles as CSS."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from html import escape
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from naisei.retrieval.loaders.blocks import Read
from naisei.retrieval.loaders.html import read_html
from naisei.retrieval.loaders.packages import unpacked
from naisei.retrieval.types import LoadLimits

_NAMED = {
    "p": "p",
    "list": "ul",
    "list-item": "li",
    "list-header": "li",
    "span": "span",
    "a": "span",
}
_NAMED |= {"table": "table", "table-row": "tr", "table-cell": "td", "table-header-rows": "thead"}
_DROPPED = frozenset(
    {"tracked-changes", "annotation", "annotation-end", "ruby-text", "covered-table-cell", "forms"}
    | {"sequence-decls", "variable-decls", "note-citation", "table-source", "desc", "title"}
)
_SHOWN = re.compile("color|background-color|font-size|display|text-line-through-style")


def read_odt(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Raises:
    Unreadable: protected by a password, larger than `limits.inflated` unpacked.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    with zipfile.ZipFile(unpacked(name, data, limits.inflated)) as archive:
        root = etree.fromstring(archive.read("content.xml"), parser)
    styles = {n.get(_key(n, "name")): _css(n) for n in root.iter("{*}style")}
    body = root.find("{*}body")
    page = "".join(_html(body, styles)) if body is not None else ""
    return read_html(page, limits.characters)


def _key(node: Any, name: str) -> str:
    return next((key for key in node.attrib if etree.QName(key).localname == name), name)


def _css(style: Any) -> str:
    """`text:display="none"` and similar, as CSS declarations."""
    found: list[str] = []
    for properties in style.iterchildren("{*}text-properties"):
        for key, value in properties.items():
            name = etree.QName(key).localname
            if name == "text-line-through-style" and value != "none":
                found.append("text-decoration:line-through")
            elif _SHOWN.fullmatch(name):
                found.append(f"{name}:{value}")
    return ";".join(found)


def _html(node: Any, styles: dict[str | None, str]) -> Iterator[str]:
    if not isinstance(node.tag, str) or (tag := etree.QName(node).localname) in _DROPPED:
        return
    if tag == "note":
        yield f"（注：{escape(' '.join(''.join(node.itertext()).split()))}）"
        return
    if tag in ("s", "tab", "line-break"):
        yield "<br>" if tag == "line-break" else " "
    name = _NAMED.get(tag, "")
    if tag == "h":
        name = f"h{min(6, int(node.get(_key(node, 'outline-level'), '1')))}"
    if name:
        given = (
            [f'style="{escape(css)}"']
            if (css := styles.get(node.get(_key(node, "style-name"))))
            else []
        )
        for span, html in (
            ("number-rows-spanned", "rowspan"),
            ("number-columns-spanned", "colspan"),
        ):
            if (many := node.get(_key(node, span))) is not None:
                given.append(f'{html}="{escape(many)}"')
        yield f"<{' '.join([name, *given])}>"
    yield escape(node.text or "")
    for child in node.iterchildren():
        yield from _html(child, styles)
        yield escape(child.tail or "")
    if name:
        yield f"</{name}>"
