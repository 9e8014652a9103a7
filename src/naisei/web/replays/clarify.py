"""R-Clarify, step by step: what the agent believes, and what was really wished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from naisei.clarify.conversation import Chance
from naisei.clarify.schemas import Clarify, Decision, Execute
from naisei.clarify.task import ClarifyTask
from naisei.core import Event, ReplayDivergence
from naisei.lang import say
from naisei.runs.lines import Line, Mark
from naisei.web.html import fragment
from naisei.web.replay import RecordedEpisode, Replay, StepMark, Turning

#: Each decision ends in a question or an action; the events it is based on come before.
_ENDS = ("ask", "act")


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    task = episode.task
    if not isinstance(task, ClarifyTask):
        return ""
    decisions = _decisions(task, episode, events)
    if events and events[-1].kind in _ENDS:  # the next decision is not part of this event
        decisions = decisions[: sum(event.kind in _ENDS for event in events)]
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


def _decisions(
    task: ClarifyTask, episode: RecordedEpisode, events: Sequence[Event]
) -> list[Decision]:
    try:
        return task.decisions(episode.where, events)
    except ReplayDivergence:  # prompts have changed since; use the model's output
        return _replied(events)


def _turning(episode: RecordedEpisode) -> Turning | None:
    """Return the first decision from which the best guess was wrong until the first unwanted
    action."""
    task, events = episode.task, episode.events
    if not isinstance(task, ClarifyTask):
        return None
    ends = [n for n, event in enumerate(events) if event.kind in _ENDS]
    failed = act_marks(events)
    until = next((k for k, n in enumerate(ends) if n in failed), None)
    decisions = _decisions(task, episode, events)
    if until is None or until >= len(decisions):
        return None
    instance, text = task.instance(episode.where.instance), task.data.actions.text
    wished = {instance.gold, *instance.also}
    first = until
    for k in range(until - 1, -1, -1):
        guess = best(decisions[k])
        if guess in wished:
            break
        first = k if guess is not None else first
    guess = best(decisions[first])
    named = text(guess) if guess is not None else ""
    wish = text(instance.gold)
    if not (decisions[first].chances or decisions[first].thought):  # an agent without beliefs
        told = say(
            f"行動「{named}」は、望みの「{wish}」ではありませんでした",
            f'it did "{named}", but the wish was "{wish}"',
        )
    elif first == 0 or best(decisions[first - 1]) not in wished:
        told = say(
            f"はじめから「{named}」を最有力と見ていて、望みの「{wish}」ではありませんでした",
            f'from the start the best guess was "{named}", not "{wish}"',
        )
    else:
        told = say(
            f"最有力が望みの「{wish}」から「{named}」に変わりました",
            f'the best guess went from "{wish}", which was wished, to "{named}"',
        )
    return Turning(ends[first], told + _moved(decisions[: first + 1], instance.gold))


def best(decision: Decision) -> int | None:
    """Return the action that the agent would take now; `None` if unknown."""
    if isinstance(decision, Execute):
        return decision.action
    if isinstance(decision, Clarify) and decision.guess:
        return decision.guess
    return decision.chances[0].action if decision.chances else None


def _moved(decisions: Sequence[Decision], wish: int) -> str:
    """Return the probability of the true wish now and before; empty if not recorded."""
    shares = [next((c.p for c in d.chances if c.action == wish), None) for d in decisions[-2:]]
    told = " → ".join(f"{100 * p:.0f} %" for p in shares if p is not None)
    return say(f"（望みの見込み {told}）", f" (the wish: {told})") if told else ""


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


def _lines(episode: RecordedEpisode, event: Event) -> Sequence[Line]:
    """Return the name of an action, and whether it was the wished one."""
    task = episode.task
    if event.kind != "act" or not isinstance(task, ClarifyTask):
        return Replay().lines(episode, event)
    request: Any = event.request
    done = request["action"]
    names = [task.data.actions.text(a) for a in (done["execute"], *done.get("also", ()))]
    right = isinstance(event.result, dict) and event.result["reward"] == 1
    mark = Mark(say("正解", "right"), "good") if right else Mark(say("不正解", "wrong"), "bad")
    return (Line(say("、", ", ").join(names), say("行動", "action"), marks=(mark,)),)


def _favourite(decision: Decision | None, text: Callable[[int], str]) -> str:
    """Return the action that the agent would take now; "" if not recorded."""
    if isinstance(decision, Execute):
        return text(decision.action)
    return text(decision.guess) if isinstance(decision, Clarify) and decision.guess else ""


def act_marks(events: Sequence[Event]) -> Mapping[int, StepMark]:
    """Mark unwanted actions."""
    return {
        number: "failure"
        for number, event in enumerate(events)
        if event.kind == "act" and isinstance(event.result, dict) and event.result["reward"] == 0
    }


REPLAY = Replay(state=_state, marks=act_marks, turning=_turning, lines=_lines)
