"""Episodes of a run as one HTML file that needs no network, to be sent to somebody."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from naisei.core import Event, InputError
from naisei.lang import language, say
from naisei.runs.directory import RunDirectory
from naisei.runs.report import templates
from naisei.runs.show import Wanted, episode_page, summary_or_none, without_vectors
from naisei.runs.task import TITLES

#: Episodes of one file: with every prompt they are some ten thousand bytes each.
MOST = 200
_LONG = 6_000


@dataclass(frozen=True, slots=True)
class _Effect:
    """One effect in words: said by whom, and, folded, all of it."""

    step: str
    who: str
    kind: str
    text: str
    details: str


@dataclass(frozen=True, slots=True)
class _Shared:
    """One episode. figure: its drawing, if the report has one of it."""

    name: str
    title: str
    outcome: str
    failed: bool
    effects: tuple[_Effect, ...]
    result: str
    figure: str


def share_html(directory: RunDirectory, episodes: Sequence[str], *, title: str = "") -> str:
    """A page with these episodes, each to its last effect. title: the run's name by default.

    Raises:
        InputError: none was named, or more than `MOST`.
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
            title=title or directory.path.name,
            frozen=directory.frozen,
            episodes=list(_shared(directory, episodes)),
            notes=directory.notes,
        )
    )


def _shared(directory: RunDirectory, episodes: Sequence[str]) -> Iterator[_Shared]:
    titles = directory.log.get(TITLES)
    kept = summary_or_none(directory)
    for name in episodes:
        found = episode_page(directory.log, Wanted(name=name), limit=1).lines
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


def _effect(event: Event) -> _Effect:
    request: Any = without_vectors(event.request)
    result: Any = without_vectors(event.result)
    who, text = event.kind, ""
    if event.failure:
        text = ": ".join(event.failure)
    elif event.kind == "chat":
        who, text = str(request["role"]), _text(result)
    elif event.kind == "ask":
        who, text = say("質問", "question"), f"{_text(request['question'])}\n→ {_text(result)}"
    elif event.kind == "say":
        who, text = str(request.get("speaker") or say("発話", "said")), str(request["text"])
    elif event.kind == "act":
        seen = result.get("text", "") if isinstance(result, dict) else ""
        who, text = say("行動", "action"), f"{_text(request['action'])}\n→ {seen}"
    return _Effect(event.where.step, who, event.kind, _cut(text), _cut(_json([request, result])))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({len(text):,})"
