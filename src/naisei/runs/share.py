"""Episodes of a run as one self-contained HTML file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from naisei.core import Event, InputError
from naisei.lang import language, say
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import EffectView, effect_view, without_vectors
from naisei.runs.report import templates
from naisei.runs.show import EpisodeFilter, episode_page, summary_or_none
from naisei.runs.task import TITLES

#: Maximum number of episodes per file; with all prompts, each takes some ten thousand bytes.
MOST = 200
_LONG = 6_000


@dataclass(frozen=True, slots=True)
class _Shared:
    """One episode. effects: summary and full content of each. figure: its drawing, if the report
    has one."""

    name: str
    title: str
    outcome: str
    failed: bool
    effects: tuple[tuple[EffectView, str], ...]
    result: str
    figure: str


def share_html(directory: RunDirectory, episodes: Sequence[str]) -> str:
    """Return a page with these episodes in full.

    Raises:
        InputError: no episode was named, or more than `MOST`.
    """
    if not 0 < len(episodes) <= MOST:
        raise InputError(
            say(
                f"1 枚に入るのは 1 件から {MOST} 件までです ({len(episodes)} 件)",
                f"one file holds 1 to {MOST} episodes, not {len(episodes)}",
            ),
            place=str(directory.path),
            remedy=say("--episode で選んでください", "choose some by --episode"),
        )
    return (
        templates()
        .get_template("share.html")
        .render(
            page_language=language(),
            title=directory.path.name,
            frozen=directory.frozen,
            episodes=list(_shared(directory, episodes)),
            notes=directory.notes,
        )
    )


def _shared(directory: RunDirectory, episodes: Sequence[str]) -> Iterator[_Shared]:
    titles = directory.log.get(TITLES)
    kept = summary_or_none(directory)
    for name in episodes:
        found = episode_page(directory.log, EpisodeFilter(name=name), limit=1).lines
        line = found[0] if found else None
        about = titles.get(line.instance, "") if line and isinstance(titles, dict) else ""
        yield _Shared(
            name=name,
            title=str(about),
            outcome=dict(kept.transcripts).get(name, "") or (line.failure if line else ""),
            failed=bool(line and line.failure),
            effects=tuple(_effect(event) for event in directory.log.read(name)),
            result="" if line is None or line.result is None else _json(line.result),
            figure=kept.figures.get(name, ""),
        )


def _effect(event: Event) -> tuple[EffectView, str]:
    whole = _json([without_vectors(event.request), without_vectors(event.result)])
    return effect_view(event), whole if len(whole) <= _LONG else f"{whole[:_LONG]}…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
