"""The director, step by step: the state of the talk, and the rejected drafts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from naisei.core import Event, Say
from naisei.director.lines import said_line, status_mark
from naisei.director.schemas import TalkResult
from naisei.director.state import TalkState
from naisei.director.task import TalkTask
from naisei.lang import say
from naisei.runs.lines import Line
from naisei.web.html import fragment
from naisei.web.replay import RecordedEpisode, Replay, StepMark, Turning


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    task = episode.task
    if not isinstance(task, TalkTask):
        return ""
    stage = task.stage()
    for said in spoken_lines(events):
        stage.perform(said, episode.where)
    return talk_state(stage.state)


def spoken_lines(events: Iterable[Event]) -> Iterable[Say]:
    """Return the spoken lines."""
    for event in events:
        if event.kind == "say" and isinstance(event.request, dict):
            said = event.request
            yield Say(str(said["text"]), str(said["speaker"]), said["meta"])  # type: ignore[arg-type]


def talk_state(state: TalkState) -> str:
    """Return topic, depth, notes and the judge's last verdict as HTML."""
    judged = [(state.names.get(who, who), status_mark(s)) for who, s in state.judged.items()]
    return fragment("replays/director.html", state=state, judged=judged)


def draft_marks(events: Sequence[Event]) -> Mapping[int, StepMark]:
    """Mark the unused drafts of each line."""
    found: dict[int, StepMark] = {}
    waiting: list[int] = []
    for number, event in enumerate(events):
        request = event.request
        if not isinstance(request, dict):
            continue
        if event.kind == "chat" and request["role"] == "speaker":
            waiting.append(number)
        elif event.kind == "say" and waiting:
            same = [n for n in waiting if events[n].result == request["text"]]
            used = (same or waiting)[-1]
            found |= dict.fromkeys((n for n in waiting if n != used), "rejected")
            waiting = []
    return found


def _turning(episode: RecordedEpisode) -> Turning | None:
    """Return the first draft that the judge or the rules rejected."""
    rejected = draft_marks(episode.events)
    if not rejected or episode.result is None:
        return None
    drafts = [d for turn in TalkResult.model_validate(episode.result).turns for d in turn.drafts]
    reasons = next((draft.reasons for draft in drafts if draft.reasons), ())
    return Turning(
        min(rejected),
        say("最初に異議が出た下書き", "the first draft that was objected to")
        + "".join(say(f"。{reason}", f"; {reason}") for reason in reasons[:2]),
    )


def _lines(episode: RecordedEpisode, event: Event) -> Sequence[Line]:
    """Return the speaker's name, and the verdict."""
    task = episode.task
    if event.kind != "say" or not isinstance(task, TalkTask):
        return Replay().lines(episode, event)
    return [said_line(said, task.names) for said in spoken_lines([event])]


REPLAY = Replay(state=_state, marks=draft_marks, turning=_turning, lines=_lines)
