"""The assistant: asks back before it acts, and shows what it believes meanwhile."""

from naisei.web.pages import Page
from naisei.web.pages.assistant.kind import KIND
from naisei.web.pages.assistant.views import routes

__all__ = ["page"]

page = Page(
    name="assistant",
    title=("聞き返す助手", "Assistant"),
    about=(
        "あいまいな頼みごとに、動く前に聞き返します。何をどう見込んでいるかも見えます。",
        "Asks back before it acts on a vague request, and shows what it believes.",
    ),
    icon="M4 5h16v11H9l-5 4zM12 8v3M12 13v.5",
    order=10,
    routes=routes,
    kinds=(KIND,),
)
