"""Sphinx settings of both languages. Nothing is loaded from elsewhere: the site works offline."""

from pathlib import Path

import naisei
import naisei.intent.effects

# Imported by autodoc itself, pydantic does not find the type of its extra fields.
import naisei.intent.task

_SITE = Path(__file__).resolve().parents[1]

project = "naisei"
author = "naisei"
copyright = ""
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
release = naisei.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "naisei_site.built",
    "naisei_site.links",
    "naisei_site.japanese",
    "naisei_site.docstrings",
]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
myst_url_schemes = ["http", "https", "naisei-page", "naisei-source"]
# A page quotes outputs, which no lexer knows.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"

# Docstrings are written as Markdown is: `code` in single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}

html_theme = "furo"
templates_path = [str(_SITE / "templates")]
html_static_path = [str(_SITE / "static")]
html_css_files = ["naisei.css"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
_TEXT = (
    '"Noto Sans JP", "Noto Sans CJK JP", "Hiragino Kaku Gothic ProN", "Yu Gothic", Meiryo, '
    "system-ui, sans-serif"
)
#: Half and full width are 1 : 2 in the first ones, so that tables in outputs stay aligned.
_CODE = (
    '"naisei lines", "naisei lines 2", "Noto Sans Mono CJK JP", "Source Han Code JP", '
    '"Osaka-Mono", "MS Gothic", ui-monospace, monospace'
)
html_theme_options = {
    "light_css_variables": {
        "font-stack": _TEXT,
        "font-stack--monospace": _CODE,
        "color-brand-primary": "#8a3b12",
        "color-brand-content": "#8a3b12",
        "color-brand-visited": "#6b3a5b",
    },
    "dark_css_variables": {
        "color-brand-primary": "#f0a878",
        "color-brand-content": "#f0a878",
        "color-brand-visited": "#d3a4c4",
    },
}
