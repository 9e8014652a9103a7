"""Two personas talk; how each stands toward the other is drawn as they do."""

from naisei.web.pages import Page
from naisei.web.pages.relationship.kind import KIND
from naisei.web.pages.relationship.views import routes

__all__ = ["page"]

page = Page(
    name="relationship",
    title=("関係の内省", "Relationship"),
    about=(
        "ふたりの会話から、力関係・親密度・タスク指向の移り変わりを描きます。",
        "Draws power, intimacy and task orientation as two personas talk.",
    ),
    icon="M8 11a3 3 0 100-6 3 3 0 000 6zM16 11a3 3 0 100-6 3 3 0 000 6zM3 20c0-4 3-6 5-6s3 1 4 2c1-1 2-2 4-2s5 2 5 6",  # noqa: E501
    order=30,
    routes=routes,
    kinds=(KIND,),
)
