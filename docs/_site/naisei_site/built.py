"""Pages made while the site is built: `<!-- built: NAME -->` becomes what a tool of that name says.

Read as a file, such a page says where else its reader finds the same.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

import cli_reference
import licences

#: Name → text in Markdown, of the site's language.
_TEXTS = {"commands": cli_reference.reference, "licences": licences.tables}
_MARK = re.compile(r"<!-- built: (\w+) -->")


def _build(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = _MARK.sub(lambda mark: _TEXTS[mark[1]](app.config.language), source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _build)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
