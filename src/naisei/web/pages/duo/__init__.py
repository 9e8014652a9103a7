"""Two characters talk; every line is checked before it is said."""

from naisei.web.pages import Page
from naisei.web.pages.duo.kind import KIND
from naisei.web.pages.duo.views import routes

__all__ = ["page"]

page = Page(
    name="duo",
    title=("ふたりの会話", "Duo"),
    about=(
        "キャラクターふたりの会話を、一行ずつ確かめてから出します。",
        "Two characters talk, and every line is checked before it is said.",
    ),
    icon="M3 5h11v7H8l-4 3zM17 9h4v11l-4-3h-6v-2",
    order=20,
    routes=routes,
    kinds=(KIND,),
)
