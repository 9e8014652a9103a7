"""Which words of a document a careful editor would set in bold."""

from naisei.web.pages import Page
from naisei.web.pages.emphasis.views import routes

__all__ = ["page"]

page = Page(
    name="emphasis",
    title=("自動強調", "Emphasis"),
    about=(
        "文書の中で太字にするとよい語句を、確率の濃淡で示します。",
        "Shows which words of a document deserve bold type.",
    ),
    icon="M7 4h6a4 4 0 010 8H7zM7 12h7a4 4 0 010 8H7z",
    order=60,
    routes=routes,
)
