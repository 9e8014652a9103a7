"""The words of a Markdown paragraph, each character at its place in the paragraph.

markdown-it-py says what is emphasis, code and link; its rules are wrapped to tell also where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from naisei.emphasis.corpus.markup import INLINE, role

__all__ = ["Lost", "Place", "inline", "parser"]

_PLACED = ("newline", "escape", "backticks", "link", "image", "autolink", "html_inline", "entity")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)(.*?)(/?)>", re.DOTALL)
#: What is no CommonMark and still no words: addresses, formulas, footnotes, check boxes,
#: templates, wiki links, ~~, containers (:::), emoji names.
_FIXED = re.compile(
    r"https?://[\x21-\x7e]+|\$\$.+?\$\$|(?<![A-Za-z0-9\\$])\$(?![\s$])[^$\n]{1,300}(?<![\s\\])\$(?!\d)"
    r"|\[\^[^\]\s]{1,99}\]:?|\A\[[ xX]\](?=\s)|\{\{.{0,300}?\}\}|\{%.{0,300}?%\}"
    r"|\[\[[^\]\n]{1,300}\]\]|~~+|^[ \t]*:{3,}[^\n]*$|(?<![\w:]):[a-z0-9_+-]{2,40}:(?![\w:])"
    r"|\A\[![A-Za-z]{1,20}\]|\{[#.:][^}\n]{1,99}\}",
    re.DOTALL | re.MULTILINE,
)


class Lost(Exception):
    """What markdown-it-py made of a paragraph is not found in it again."""


class Place(NamedTuple):
    """start, end: offsets in the paragraph; `&amp;` is one character and five of the source."""

    character: str
    start: int
    end: int
    bold: bool
    fixed: bool


def parser() -> MarkdownIt:
    """CommonMark with tables; its tokens know where they begin and end."""
    markdown = MarkdownIt("commonmark").enable("table")
    rules = markdown.inline.ruler
    known = dict(zip(rules.get_active_rules(), rules.getRules(""), strict=True))
    for name in _PLACED:
        rules.at(name, _placing(known[name]))
    # Paragraphs are read one by one, by `inline`.
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return markdown


def _placing(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def placed(state: StateInline, silent: bool) -> bool:
        start, before = state.pos, len(state.tokens)
        done = rule(state, silent)
        if done and not silent and len(state.tokens) > before:
            at = (start, state.pos)
            state.tokens[-1].meta["at"] = at
            first = next((t for t in state.tokens[before:] if t.type == "link_open"), None)
            if first is not None:
                first.meta["at"] = at
        return done

    return placed


def inline(text: str, markdown: MarkdownIt, env: Any) -> list[Place]:
    """markdown: of `parser`. env: what its `parse` filled, for links by reference.

    Raises:
        Lost: never seen; the paragraph is then better left alone.
    """
    tokens: list[Token] = []
    markdown.inline.parse(text, markdown, env, tokens)
    fixed = [match.span() for match in _FIXED.finditer(text)]
    out: list[Place] = []
    which = 0
    for place in _walk(text, tokens):
        while which < len(fixed) and fixed[which][1] <= place.start:
            which += 1
        if which < len(fixed) and fixed[which][0] < place.end:
            place = place._replace(fixed=True)
        out.append(place)
    return out


def _walk(text: str, tokens: list[Token]) -> Iterator[Place]:
    at, strong, links = 0, 0, 0
    open_tags: list[tuple[str, str]] = []
    automatic = False
    for token in tokens:
        start, end = token.meta.get("at", (at, at))
        if start > at and token.type != "link_close":
            # Spaces before a line break are in no token.
            if text[at:start].strip(" "):
                raise Lost(text[at:start])
            at = start
        roles = {name for _, name in open_tags}
        bold, fixed = strong > 0 or "bold" in roles, links > 0 or "fixed" in roles
        if "hidden" in roles and token.type == "text":
            at += len(token.content)
            continue
        match token.type:
            case "text" if automatic:
                pass
            case "text":
                if not text.startswith(token.content, at):
                    raise Lost(token.content)
                for n, character in enumerate(token.content, at):
                    yield Place(character, n, n + 1, bold, fixed)
                at += len(token.content)
            case "text_special":
                # A backslash before a letter is itself.
                literal = token.content == text[start:end]
                for n, character in enumerate(token.content, start):
                    first, last = (n, n + 1) if literal else (start, end)
                    yield Place(character, first, last, bold, fixed)
                at = end
            case "softbreak" | "hardbreak":
                yield Place("\n", start, end, bold, fixed)
                at = end
            case "code_inline":
                ticks = len(token.markup)
                for n in range(start + ticks, end - ticks):
                    yield Place(text[n], n, n + 1, bold, True)
                at = end
            case "strong_open" | "em_open" | "strong_close" | "em_close":
                if not text.startswith(token.markup, at):
                    raise Lost(token.markup)
                at += len(token.markup)
                strong += token.nesting * (token.tag == "strong")
            case "link_open":
                links += 1
                automatic = token.markup == "autolink"
                at = start + 1
                if automatic:
                    for n in range(start + 1, end - 1):
                        yield Place(text[n], n, n + 1, bold, True)
            case "link_close":
                links, automatic, at = links - 1, False, end
            case "html_inline":
                _follow(token.content, open_tags)
                at = end
            case "image":
                at = end
            case other:
                raise Lost(other)
    if text[at:].strip():
        raise Lost(text[at:])


def _follow(tag: str, open_tags: list[tuple[str, str]]) -> None:
    found = _TAG.fullmatch(tag)
    if found is None or (name := found[2].lower()) not in INLINE or found[4]:
        return
    if not found[1]:
        open_tags.append((name, role(name, found[3])))
        del open_tags[:-100]
        return
    for index in range(len(open_tags) - 1, -1, -1):
        if open_tags[index][0] == name:
            del open_tags[index]
            break
