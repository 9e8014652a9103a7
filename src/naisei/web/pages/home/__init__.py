"""The first page: what there is, what runs, and what was said here."""

from naisei.web.pages import Page
from naisei.web.pages.home.views import routes

__all__ = ["page"]

page = Page(
    name="home",
    title=("はじめに", "Home"),
    about=("いま何が動いているか", "What is running now."),
    icon="M4 11l8-7 8 7v9h-5v-6H9v6H4z",
    order=0,
    routes=routes,
)
