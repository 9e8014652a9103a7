"""Links that leave a language's tree: to the other language, and to files of the repository.

In Markdown they are plain relative paths, so that they work where the files are read as they
are. Here they become links to the other build, and to pages that show the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from markdown_it import MarkdownIt
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.logging import getLogger

_ROOT = Path(__file__).resolve().parents[3]
_DOCS = _ROOT / "docs"
_LINK = re.compile(r"(?<=\]\()((?:\.{1,2}/)*[\w./\-]+)(#[^)\s]*)?(?=\))")
#: What stands before the path of a picture.
_PICTURE = re.compile(r"!\[[^\]]*\]\($")
_LEXERS = {".py": "python", ".toml": "toml", ".json": "json", ".jsonl": "json"}
_log = getLogger(__name__)


def _rewrite(app: Sphinx, docname: str, source: list[str]) -> None:
    here = Path(app.env.doc2path(docname)).parent

    def aim(found: re.Match[str]) -> str:
        path, anchor = found[1], found[2] or ""
        if _PICTURE.search(source[0], max(0, found.start() - 200), found.start()):
            return found[0]  # shown, not linked to
        target = Path(os.path.normpath(here / path))
        if target.is_relative_to(app.srcdir) and target.relative_to(app.srcdir).parts[0] != "ja":
            return found[0]
        if not target.exists():
            _log.warning("no such file: %s", path, location=docname)
            return found[0]
        if target.is_relative_to(_DOCS / "ja") and target.suffix == ".md":
            return f"naisei-page:ja/{target.relative_to(_DOCS / 'ja').with_suffix('')}{anchor}"
        if target.is_relative_to(_DOCS) and target.suffix == ".md":
            return f"naisei-page:en/{target.relative_to(_DOCS).with_suffix('')}{anchor}"
        return f"naisei-source:{target.relative_to(_ROOT)}"

    source[0] = _LINK.sub(aim, source[0])


class _Resolve(SphinxTransform):
    default_priority = 500

    def apply(self, **_: Any) -> None:
        docname = self.env.docname
        up = "../" * docname.count("/")
        shown: set[str] = self.env.__dict__.setdefault("naisei_shown", set())
        for node in self.document.findall(nodes.reference):
            scheme, _, aim = node.get("refuri", "").partition(":")
            if scheme == "naisei-page":
                path, _, anchor = aim.partition("#")
                node["refuri"] = f"{up}../{path}.html{_place(path, anchor)}"
            elif scheme == "naisei-source":
                shown.add(aim)
                node["refuri"] = f"{up}source/{aim}.html"
            else:
                continue
            node["internal"] = True
            node["classes"] = [c for c in node["classes"] if c != "external"]


def _place(path: str, anchor: str) -> str:
    """`#…` as the other build names the heading that Markdown readers call `anchor`."""
    if not anchor:
        return ""
    language, _, name = path.partition("/")
    tree = _DOCS if language == "en" else _DOCS / "ja"
    for head in re.findall(r"^#+ (.+)$", (tree / f"{name}.md").read_text("utf-8"), re.MULTILINE):
        if re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") == anchor:
            return f"#{nodes.make_id(head)}"
    _log.warning("no such heading: %s#%s", path, anchor)
    return ""


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for every file of the repository that is linked."""
    for name in sorted(getattr(app.env, "naisei_shown", ())):
        path = _ROOT / name
        head = f"<h1><code>{name}</code></h1>"
        if path.is_dir():
            rows = "".join(f"<li><code>{p.name}</code></li>" for p in sorted(path.iterdir()))
            body = f"{head}<ul>{rows}</ul>"
        elif path.suffix == ".md":
            text = MarkdownIt("commonmark").enable("table").render(path.read_text("utf-8"))
            body = f"<p><code>{name}</code></p>{_unlinked(text)}"
        else:
            lexer = _LEXERS.get(path.suffix, "text")
            highlighter = app.builder.highlighter  # type: ignore[attr-defined]
            body = head + highlighter.highlight_block(path.read_text("utf-8"), lexer)
        context = {"title": PurePosixPath(name).name, "body": f"<section>{body}</section>"}
        yield f"source/{name}", context, "page.html"


def _unlinked(html: str) -> str:
    """Relative links of a file that is shown alone lead nowhere here; their words stay."""
    html = re.sub(r'<a href="(?!https?:)[^"]*">(.*?)</a>', r"\1", html, flags=re.DOTALL)
    return re.sub(r"<img [^>]*>", "", html)


def _context(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """The same page in the other language, if there is one, else its first page."""
    other = "en" if app.config.language == "ja" else "ja"
    tree = _DOCS if other == "en" else _DOCS / "ja"
    there = pagename if (tree / f"{pagename}.md").exists() else "index"
    context["other_language"] = {
        "code": other,
        "name": {"en": "English", "ja": "日本語"}[other],
        "url": f"{'../' * pagename.count('/')}../{other}/{there}.html",
    }


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _rewrite)
    app.connect("html-collect-pages", _pages)
    app.connect("html-page-context", _context)
    app.add_transform(_Resolve)
    # What is shown is gathered while reading, so pages are read anew each time and one by one.
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
