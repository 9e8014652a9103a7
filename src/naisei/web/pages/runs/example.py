"""A recorded episode of a system, shown as an example on the system's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from naisei.lang import language
from naisei.runs.lines import Line
from naisei.runs.overview import EpisodeOutcome
from naisei.system.registry import find_system
from naisei.web.pages.runs.lists import RunAddress, opened
from naisei.web.pages.runs.loaded import brief, episode_of
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
#: Episodes more instructive than the first of their run; lines shown, and bytes per line.
_CHOSEN = {"intent": "consultation-012#0"}
_MOST, _LINE = 10, 360


@dataclass(frozen=True, slots=True)
class Example:
    """lines: its first lines. address: URL of the full episode. begins: URL of the form that starts
    a run, or "". japanese: whether it is in Japanese."""

    outcome: EpisodeOutcome
    lines: Sequence[Line]
    address: str
    begins: str
    japanese: bool


def example_of(page: str) -> Example | None:
    """Return the example of a page, or `None`."""
    name = EXAMPLES.get(page)
    return None if name is None else _example(name, language())


@lru_cache(maxsize=16)
def _example(name: str, spoken: str) -> Example:
    """spoken: the language of the texts, part of the cache key."""
    place = RunAddress(f"~{name}", RECORDED / name)
    episode = _CHOSEN.get(name) or _first(place)
    loaded = episode_of(place, episode)
    told = [replace(line, under=()) for line in loaded.summary if line.tone != "dim"]
    offered = any(experiment.offered for experiment in find_system(name).experiments)
    return Example(
        loaded.outcome,
        brief(told[:_MOST], _LINE),
        place.url("episode", e=episode),
        f"/runs/new?system={name}" if offered else "",
        any("\u3040" <= char <= "\u30ff" for line in told for char in line.text),
    )


def _first(place: RunAddress) -> str:
    with opened(place.path) as directory:
        return directory.log.known_episodes()[0]
