"""Ask the documents: vague requests are asked back about before anything is searched."""

from naisei.web.pages import Page
from naisei.web.pages.documents.kind import KIND
from naisei.web.pages.documents.views import routes

__all__ = ["page"]

page = Page(
    name="documents",
    title=("資料の案内役", "Documents"),
    about=(
        "資料に尋ねます。あいまいな問いには、探す前に聞き返します。",
        "Answers from documents, and asks back before it searches for something vague.",
    ),
    icon="M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
    order=40,
    routes=routes,
    kinds=(KIND,),
)
