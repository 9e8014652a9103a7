"""A recorded episode of a system, line by line: what a page shows before it invites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from naisei.core import InputError
from naisei.lang import language
from naisei.runs.effects import EffectView
from naisei.web.pages.runs.lists import Place, opened
from naisei.web.pages.runs.loaded import episode_of, worded
from naisei.web.replay import Headline
from naisei.web.state import RECORDED

#: Page → the recorded run of its system.
EXAMPLES = {
    "assistant": "clarify",
    "duo": "director",
    "relationship": "relationship",
    "documents": "intent",
    "games": "textgame",
    "emphasis": "emphasis",
}
#: Episodes that are worth more than the first of their run, and lines of one.
_CHOSEN = {"intent": "consultation-012#0"}
_MOST = 12


@dataclass(frozen=True, slots=True)
class Example:
    """lines: with whether each was a draft that was rejected. address: of all of it, step by
    step."""

    headline: Headline
    lines: Sequence[tuple[EffectView, bool]]
    address: str


def example_of(page: str) -> Example | None:
    """The example of a page; `None` for a page that has none."""
    name = EXAMPLES.get(page)
    return None if name is None else _example(name, language())


@lru_cache(maxsize=16)
def _example(name: str, spoken: str) -> Example:
    """spoken: the language, which is in the words."""
    place = Place(f"~{name}", RECORDED / name)
    episode = _CHOSEN.get(name) or _first(place)
    loaded = episode_of(place, episode)
    try:
        headline = loaded.replay.headline(loaded.episode)
    except InputError:
        headline = Headline()
    events = loaded.episode.events
    kinds: tuple[str, ...] = ("ask", "act", "say")
    if not any(event.kind in kinds for event in events):
        kinds = ("chat",)
    lines = [
        (worded(loaded, n), loaded.marks.get(n) == "rejected")
        for n, event in enumerate(events)
        if event.kind in kinds or loaded.marks.get(n) == "rejected"
    ]
    return Example(headline, lines[:_MOST], place.url("episode", e=episode))


def _first(place: Place) -> str:
    with opened(place.path) as directory:
        return directory.log.known_episodes()[0]
