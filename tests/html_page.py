"""What a browser would take for markup, and what it would show."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """tags: with their attributes, in order. shown: the texts between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.shown: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.shown.append(data)

    @property
    def names(self) -> list[str]:
        return [tag for tag, _ in self.tags]

    def all(self, *attributes: str) -> list[str]:
        """The values of these attributes."""
        return [value for _, own in self.tags for name, value in own.items() if name in attributes]
