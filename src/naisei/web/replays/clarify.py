"""R-Clarify, step by step: what the agent believes, beside what was really wished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from naisei.clarify.conversation import Chance
from naisei.clarify.schemas import Clarify, Decision, EpisodeResult, Execute
from naisei.clarify.task import ClarifyTask
from naisei.core import Event, ReplayDivergence
from naisei.lang import say
from naisei.web.html import fragment
from naisei.web.replay import Headline, Mark, RecordedEpisode, Replay, Told

__all__ = ["REPLAY", "act_marks"]


def _headline(episode: RecordedEpisode) -> Headline:
    if not isinstance(episode.task, ClarifyTask) or episode.result is None:
        return Headline()
    task = episode.task
    instance = task.instance(episode.where.instance)
    result = EpisodeResult.model_validate(episode.result)
    texts = task.data.actions.text
    comma = say("、", ", ")
    done = [comma.join(map(texts, (log.action, *log.also))) for log in result.trials]
    first = result.first_success
    return Headline(
        say("望みどおり", "as wished") if first else say("望みと違う", "not as wished"),
        first is not None,
        (
            (say("発話", "said"), instance.scene.utterance),
            (say("望み", "wish"), comma.join(map(texts, (instance.gold, *instance.also)))),
            (say("したこと", "did"), " → ".join(done)),
            (
                say("試行", "trials"),
                say(
                    f"{len(result.trials)} 回、質問 {result.questions} 個",
                    f"{len(result.trials)}; questions: {result.questions}",
                ),
            ),
        ),
    )


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    task = episode.task
    if not isinstance(task, ClarifyTask):
        return ""
    try:
        decisions = task.decisions(episode.where, events)
    except ReplayDivergence:  # the prompts are others by now: what the model said still tells
        decisions = _replied(events)
    texts = task.data.actions.text
    now = decisions[-1] if decisions else None
    before = {c.action: c.p for c in decisions[-2].chances} if len(decisions) > 1 else {}
    chances = (
        [Chance(texts(c.action), c.p, before.get(c.action)) for c in now.chances] if now else []
    )
    memo = ""
    for event in events:
        if event.kind == "remember" and isinstance(event.request, dict):
            memo = str(event.request["item"])
    instance = task.instance(episode.where.instance)
    return fragment(
        "replays/clarify.html",
        chances=chances,
        thought=now.thought if now else "",
        memo=memo,
        favourite=_favourite(now, texts),
        wish=texts(instance.gold),
    )


def _replied(events: Sequence[Event]) -> list[Decision]:
    made: list[Decision] = []
    for event in events:
        said: Any = event.result
        if event.kind != "chat" or not isinstance(said, dict) or "choice" not in said:
            continue
        thought, action = str(said.get("thought", "")), int(said.get("action") or 0)
        made.append(
            Execute(action=action, thought=thought)
            if said["choice"] == "execute"
            else Clarify(question=str(said.get("question", "")), thought=thought, guess=action)
        )
    return made


def _wording(episode: RecordedEpisode, told: Told) -> Told:
    """An action by its name, and whether it was the one."""
    event, task = episode.events[told.number], episode.task
    if event.kind != "act" or not isinstance(task, ClarifyTask):
        return told
    request: Any = event.request
    done = request["action"]
    names = [task.data.actions.text(a) for a in (done["execute"], *done.get("also", ()))]
    right = isinstance(event.result, dict) and event.result["reward"] == 1
    return replace(
        told,
        head="",
        asked=say("、", ", ").join(names),
        answer=say("正解", "right") if right else say("不正解", "wrong"),
    )


def _favourite(decision: Decision | None, text: Callable[[int], str]) -> str:
    """What it would do if it had to act now; empty where it does not say."""
    if isinstance(decision, Execute):
        return text(decision.action)
    return text(decision.guess) if decision is not None and decision.guess else ""


def act_marks(events: Sequence[Event]) -> Mapping[int, Mark]:
    """Actions that nobody wanted."""
    return {
        number: "failure"
        for number, event in enumerate(events)
        if event.kind == "act" and isinstance(event.result, dict) and event.result["reward"] == 0
    }


REPLAY = Replay(headline=_headline, state=_state, marks=act_marks, wording=_wording)
