"""The director, step by step: the state of the talk, and the drafts that did not pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from naisei.core import Event, Say
from naisei.director.schemas import TalkResult
from naisei.director.state import TalkState
from naisei.director.task import TalkTask
from naisei.lang import say
from naisei.runs.effects import EffectView
from naisei.web.html import fragment
from naisei.web.replay import Headline, Mark, RecordedEpisode, Replay, Turning


def _headline(episode: RecordedEpisode) -> Headline:
    if episode.result is None:
        return Headline()
    turns = TalkResult.model_validate(episode.result).turns
    drafts = sum(len(turn.drafts) for turn in turns)
    silent = sum(turn.text is None for turn in turns)
    warned = sum(turn.status == "WARN" for turn in turns)
    rejected = drafts - sum(turn.chosen is not None for turn in turns)
    return Headline(
        say(f"{len(turns) - silent} 行を発言", f"{len(turns) - silent} lines said"),
        None,
        (
            (say("話題", "topic"), str(episode.frozen.config.get("topic") or "—")),
            (
                say("下書き", "drafts"),
                say(f"{drafts} 個、不採用 {rejected} 個", f"{drafts}, {rejected} not used"),
            ),
            (
                say("発言", "lines"),
                say(
                    f"注意つき {warned} 行、沈黙 {silent} 回",
                    f"{warned} said with a warning, {silent} silences",
                ),
            ),
        ),
    )


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    task = episode.task
    if not isinstance(task, TalkTask):
        return ""
    stage = task.stage()
    for said in spoken(events):
        stage.perform(said, episode.where)
    return talk_state(stage.state)


def spoken(events: Iterable[Event]) -> Iterable[Say]:
    """The lines that were said."""
    for event in events:
        if event.kind == "say" and isinstance(event.request, dict):
            said = event.request
            yield Say(str(said["text"]), str(said["speaker"]), said["meta"])  # type: ignore[arg-type]


def talk_state(state: TalkState) -> str:
    """Topic, depth, notes and what the judge said last, as HTML."""
    return fragment("replays/director.html", state=state)


def draft_marks(events: Sequence[Event]) -> Mapping[int, Mark]:
    """The drafts of each line but the one that was said."""
    found: dict[int, Mark] = {}
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
    """The first draft to which the judge or the rules objected."""
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


def _wording(episode: RecordedEpisode, told: EffectView) -> EffectView:
    """Who speaks, by name."""
    task = episode.task
    if told.kind != "say" or not isinstance(task, TalkTask):
        return told
    return replace(told, who=task.names.get(told.who, told.who))


REPLAY = Replay(
    headline=_headline, state=_state, marks=draft_marks, turning=_turning, wording=_wording
)
