"""Text games: watch a player, or play with one beside you."""

from naisei.web.pages import Page
from naisei.web.pages.games.kind import KIND
from naisei.web.pages.games.views import routes

__all__ = ["page"]

page = Page(
    name="games",
    title=("テキストゲーム", "Games"),
    about=(
        "散らかった家を片付け、レシピを探して料理します。自分でも遊べます。",
        "Tidy up a house, find the recipe and cook; watch a player, or play yourself.",
    ),
    icon="M4 8h16v9H4zM8 11v3M6.5 12.5h3M15.5 12h.5M18 13.5h.5",
    order=50,
    routes=routes,
    kinds=(KIND,),
)
