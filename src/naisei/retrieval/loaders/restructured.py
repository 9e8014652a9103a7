"""reStructuredText, converted to HTML by docutils."""

from __future__ import annotations

from docutils.core import publish_string  # type: ignore[import-untyped]

from naisei.retrieval.loaders.blocks import Read
from naisei.retrieval.loaders.html import read_html

#: No other files, no raw HTML, no user configuration; errors are silent.
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "report_level": 5,
    "halt_level": 6,
    "output_encoding": "unicode",
    "doctitle_xform": False,
    "initial_header_level": 1,
    "footnote_references": "superscript",
}


def read_rst(text: str, most: int) -> Read:
    """Directives and roles specific to Sphinx are dropped."""
    page = publish_string(text, writer="html5", settings_overrides=_SETTINGS)
    return read_html(str(page), most)
