"""Runs: listed, opened, read to the last effect, compared, taken away as files."""

from naisei.web.pages import Page
from naisei.web.pages.runs.routes import routes

__all__ = ["page"]

page = Page(
    name="runs",
    title=("実行記録", "Runs"),
    about=(
        "実行の表と区間、1 件ごとのやりとり、2 つの実行の比較。",
        "Tables with intervals, every episode to its last effect, runs side by side.",
    ),
    icon="M4 5h16M4 12h16M4 19h10",
    order=90,
    routes=routes,
)
