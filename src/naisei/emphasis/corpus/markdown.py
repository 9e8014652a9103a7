"""Markdown reader with source offsets: paragraphs, inline marks, front matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from pydantic import JsonValue

from naisei.emphasis.corpus.documents import BlockBuilder, ParsedText
from naisei.emphasis.corpus.html import INLINE, html_title, role
from naisei.retrieval.loaders.front_matter import split_front_matter

# The text of a Markdown paragraph, each character with its offset in the paragraph.
#
# markdown-it-py finds emphasis, code and links; its rules are wrapped to record offsets too.

_PLACED = ("newline", "escape", "backticks", "link", "image", "autolink", "html_inline", "entity")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)(.*?)(/?)>", re.DOTALL)
#: Text that is neither CommonMark nor words: URLs, formulas, footnotes, check boxes,
#: templates, wiki links, ~~, containers (:::), emoji names.
_FIXED = re.compile(
    r"https?://[\x21-\x7e]+|\$\$.+?\$\$|(?<![A-Za-z0-9\\$])\$(?![\s$])[^$\n]{1,300}(?<![\s\\])\$(?!\d)"
    r"|\[\^[^\]\s]{1,99}\]:?|\A\[[ xX]\](?=\s)|\{\{.{0,300}?\}\}|\{%.{0,300}?%\}"
    r"|\[\[[^\]\n]{1,300}\]\]|~~+|^[ \t]*:{3,}[^\n]*$|(?<![\w:]):[a-z0-9_+-]{2,40}:(?![\w:])"
    r"|\A\[![A-Za-z]{1,20}\]|\{[#.:][^}\n]{1,99}\}",
    re.DOTALL | re.MULTILINE,
)


class TextMismatch(Exception):
    """markdown-it-py's output could not be aligned with the paragraph."""


class SourceSpan(NamedTuple):
    """start, end: offsets in the paragraph; `&amp;` is one character and five of the source."""

    character: str
    start: int
    end: int
    bold: bool
    fixed: bool


def parser() -> MarkdownIt:
    """CommonMark with tables; its tokens record where they begin and end."""
    markdown = MarkdownIt("commonmark").enable("table")
    rules = markdown.inline.ruler
    known = dict(zip(rules.get_active_rules(), rules.getRules(""), strict=True))
    for name in _PLACED:
        rules.at(name, _placing(known[name]))
    # `inline` reads paragraphs one by one.
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


def inline(text: str, markdown: MarkdownIt, env: Any) -> list[SourceSpan]:
    """markdown: result of `parser`. env: from its `parse`, for reference links.

    Raises:
        TextMismatch: never observed; the paragraph should then be skipped.
    """
    tokens: list[Token] = []
    markdown.inline.parse(text, markdown, env, tokens)
    fixed = [match.span() for match in _FIXED.finditer(text)]
    out: list[SourceSpan] = []
    which = 0
    for place in _walk(text, tokens):
        while which < len(fixed) and fixed[which][1] <= place.start:
            which += 1
        if which < len(fixed) and fixed[which][0] < place.end:
            place = place._replace(fixed=True)
        out.append(place)
    return out


def _walk(text: str, tokens: list[Token]) -> Iterator[SourceSpan]:
    at, strong, links = 0, 0, 0
    open_tags: list[tuple[str, str]] = []
    automatic = False
    for token in tokens:
        start, end = token.meta.get("at", (at, at))
        if start > at and token.type != "link_close":
            # No token contains the spaces before a line break.
            if text[at:start].strip(" "):
                raise TextMismatch(text[at:start])
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
                    raise TextMismatch(token.content)
                for n, character in enumerate(token.content, at):
                    yield SourceSpan(character, n, n + 1, bold, fixed)
                at += len(token.content)
            case "text_special":
                # A backslash before a letter is literal.
                literal = token.content == text[start:end]
                for n, character in enumerate(token.content, start):
                    first, last = (n, n + 1) if literal else (start, end)
                    yield SourceSpan(character, first, last, bold, fixed)
                at = end
            case "softbreak" | "hardbreak":
                yield SourceSpan("\n", start, end, bold, fixed)
                at = end
            case "code_inline":
                ticks = len(token.markup)
                for n in range(start + ticks, end - ticks):
                    yield SourceSpan(text[n], n, n + 1, bold, True)
                at = end
            case "strong_open" | "em_open" | "strong_close" | "em_close":
                if not text.startswith(token.markup, at):
                    raise TextMismatch(token.markup)
                at += len(token.markup)
                strong += token.nesting * (token.tag == "strong")
            case "link_open":
                links += 1
                automatic = token.markup == "autolink"
                at = start + 1
                if automatic:
                    for n in range(start + 1, end - 1):
                        yield SourceSpan(text[n], n, n + 1, bold, True)
            case "link_close":
                links, automatic, at = links - 1, False, end
            case "html_inline":
                _follow(token.content, open_tags)
                at = end
            case "image":
                at = end
            case other:
                raise TextMismatch(other)
    if text[at:].strip():
        raise TextMismatch(text[at:])


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


_LINE = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """content: without quote and list markers. places: offset in the text of each character of
    the content. level: heading level, else 0. read: `inline` of the content."""

    content: str
    places: tuple[int, ...]
    level: int
    read: tuple[SourceSpan, ...]
    _env: dict[str, Any]

    def reread(self, content: str) -> list[SourceSpan]:
        """`inline` for other content at the same position. Raises `TextMismatch`."""
        return inline(content, _parser(), self._env)


@cache
def _parser() -> MarkdownIt:
    return parser()


@dataclass(frozen=True, slots=True)
class Front:
    """Metadata of a document: title (from the front matter or an `<h1>`), writer,
    domain; "" if missing."""

    title: str = ""
    writer: str = ""
    domain: str = ""


#: Keys used by Zenn, Qiita, Hugo, Jekyll, MkDocs and their themes.
_WRITERS = ("author", "authors", "writer")
_DOMAINS = ("domain", "category", "categories", "section", "topics", "tags")


def _first_value(meta: Mapping[str, JsonValue], keys: Sequence[str]) -> str:
    """The value of the first key that has one; for a list, its first item."""
    for key in keys:
        value = meta.get(key)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str) and value:
            return value
    return ""


def markdown_paragraphs(text: str) -> tuple[Front, Iterator[Paragraph]]:
    """Metadata and paragraphs of a document, in order.

    Tables, and paragraphs that cannot be aligned, are left out.
    """
    ends = [(m.start(), m.end()) for m in _LINE.finditer(text)]
    starts = [0, *(after for _, after in ends)]
    lines = list(zip(starts, [*(before for before, _ in ends), len(text)], strict=True))
    plain = _LINE.sub("\n", text)
    meta, rest = split_front_matter(plain)
    front = len(plain) - len(rest)
    # Line numbers must not change.
    body = "\n" * plain.count("\n", 0, front) + _admonitions(plain[front:])
    env: dict[str, Any] = {}
    tokens = _parser().parse(body, env)
    # Many READMEs have their first heading in HTML, to centre it.
    pages = (html_title(t.content) for t in tokens if t.type == "html_block" and "<h1" in t.content)
    title = _first_value(meta, ["title"]) or next(pages, "")
    own = Front(title, _first_value(meta, _WRITERS), _first_value(meta, _DOMAINS))
    return own, _paragraphs(tokens, lines, text, env)


_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?) [a-z][\w-]*(?: .*)?")


def _admonitions(body: str) -> str:
    """Unindent MkDocs blocks below `!!! warning`, which CommonMark reads as code. Preserves line
    numbers."""
    if "!!! " not in body and "??? " not in body and "???+ " not in body:
        return body
    out: list[str] = []
    inside = False
    for line in body.split("\n"):
        if _ADMONITION.fullmatch(line.rstrip()):
            inside = True
            line = ""
        elif inside and line.strip():
            inside = line.startswith(("    ", "\t"))
            line = line.removeprefix("    ") if inside else line
        out.append(line.removeprefix("\t") if inside else line)
    return "\n".join(out)


def _paragraphs(
    tokens: list[Token], lines: list[tuple[int, int]], text: str, env: dict[str, Any]
) -> Iterator[Paragraph]:
    tables = 0
    for opened, token in pairwise(tokens):
        tables += (opened.type == "table_open") - (opened.type == "table_close")
        heading = opened.type == "heading_open"
        if token.type != "inline" or tables or not (heading or opened.type == "paragraph_open"):
            continue
        places = _line_offsets(token, lines, text)
        try:
            read = inline(token.content, _parser(), env)
        except TextMismatch:
            continue
        level = int(opened.tag[1]) if heading else 0
        if heading or places is not None:
            yield Paragraph(token.content, tuple(places or ()), level, tuple(read), env)


def _line_offsets(token: Token, lines: list[tuple[int, int]], text: str) -> list[int] | None:
    """Offsets of lines after removing quote marks, indents and trailing space."""
    first, last = token.map or [0, 0]
    out: list[int] = []
    written = token.content.split("\n")
    if len(written) > last - first:
        return None
    for line, (start, end) in zip(written, lines[first:last], strict=False):
        bare = line.rstrip()
        source = text[start:end].rstrip()
        lead = len(bare) - len(bare.lstrip(" \t"))
        if not source.endswith(bare[lead:]):
            return None
        base = start + len(source) - len(bare) + lead
        # Spaces may replace a tab; all of them get the offset where the words begin.
        out += [max(start, base - 1)] * lead
        out += range(base, base + len(line) - lead)
        out.append(end)
    return out


def read_markdown(text: str) -> ParsedText:
    """Read Markdown. Offsets refer to `text`, with any line ends; only strong emphasis is bold."""
    return read_paragraphs(text)[0]


def read_paragraphs(text: str) -> tuple[ParsedText, tuple[Paragraph, ...]]:
    """Like `read_markdown`, with the paragraph of each block."""
    builder, headings, kept = BlockBuilder(), list[tuple[int, str]](), list[Paragraph]()
    front, found = markdown_paragraphs(text)
    for paragraph in found:
        if paragraph.level:
            name = " ".join("".join(p.character for p in paragraph.read).split())
            headings.append((paragraph.level, name))
            continue
        places = paragraph.places
        for character, start, end, bold, fixed in paragraph.read:
            builder.add(character, places[start], places[end - 1] + 1, bold, fixed)
        builder.close()
        if len(builder.blocks) > len(kept):
            kept.append(paragraph)
    title = front.title or first_heading(headings)
    parsed = ParsedText(title, builder.finished(), front.writer, front.domain)
    return parsed, tuple(kept)


def first_heading(headings: Sequence[tuple[int, str]]) -> str:
    """The first heading of level 1, else the first. headings: levels and texts."""
    names = [text for level, text in headings if level == 1] or [text for _, text in headings]
    return names[0] if names else ""
