"""R-Clarify: clarifies or executes, and after a failure reflects and retries.

Source: R-Clarify, §4 (Figures 2 and 3). `episode` is Figure 3, `trial` is Figure 2.
"""

from __future__ import annotations

from naisei import lang
from naisei.clarify.agent import Agent, View
from naisei.clarify.config import Rules
from naisei.clarify.describe import (
    REFUSAL,
    action_list,
    is_refusal,
    scene_text,
    trial_text,
    wanted_text,
)
from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import (
    ActionSet,
    Decline,
    EpisodeResult,
    Execute,
    Instance,
    Scene,
    TrialLog,
    Turn,
)
from naisei.core import Act, AskUser, Chat, Flow, FlowError, Remember, system, user
from naisei.memory import Memory

_NONE = {"ja": "（まだありません）", "en": "(none yet)"}


def reflect(
    scene: Scene, actions: ActionSet, log: TrialLog, memory: Memory, *, several: bool = False
) -> Flow[str]:
    """Write a new note on the last trial; the policy decides whether to include the old one."""
    language = scene.language
    instructions = lang.render(
        "naisei.clarify",
        memory.prompt,
        language,
        actions=action_list(actions),
        wanted=wanted_text(language, several=several),
    )
    given = lang.render(
        "naisei.clarify",
        "reflect-input.v1",
        language,
        scene=scene_text(scene),
        trial=trial_text(log, actions, language, several=several),
        memo=memory.previous() or _NONE[language],
    )
    note = yield from Chat("reflector", [system(instructions), user(given)])
    return note.strip()


def episode(
    instance: Instance,
    actions: ActionSet,
    agent: Agent,
    memory: Memory,
    rules: Rules,
    *,
    several: bool = False,
    declines: bool = False,
) -> Flow[EpisodeResult]:
    """Run up to `rules.trials` trials of one instance; update the memory between them.

    several, declines: whether more than one action, or none, may be wanted (`View`).
    """
    logs: tuple[TrialLog, ...] = ()
    while True:
        log = yield from trial(
            instance,
            actions,
            agent,
            memory.recall(),
            logs,
            rules,
            several=several,
            declines=declines,
        )
        logs += (log,)
        if log.success or log.declined or len(logs) == rules.trials:
            return EpisodeResult(
                instance=instance.id, gold=instance.gold, trials=logs, memo=memory.recall()
            )
        if memory.reflects:
            note = yield from reflect(instance.scene, actions, log, memory, several=several)
            yield from Remember(note)


def trial(
    instance: Instance,
    actions: ActionSet,
    agent: Agent,
    memo: str,
    history: tuple[TrialLog, ...],
    rules: Rules,
    *,
    several: bool = False,
    declines: bool = False,
) -> Flow[TrialLog]:
    """Let the agent ask, within its quota, until it executes or declines, which ends the trial.

    Declining yields no `Act`: `TrialLog.declined` says why, and `TrialLog.action` is `None`.
    """
    asked: tuple[Turn, ...] = ()
    failed = tuple(log.executed for log in history)
    while True:
        left = rules.quota - len(asked) if rules.clarify else 0
        view = View(
            scene=instance.scene,
            actions=actions,
            asked=asked,
            tried=() if rules.repeats == "allow" else failed,
            masked=rules.repeats == "mask",
            history=history,
            memo=memo,
            may_ask=left > 0,
            quota_left=left,
            trial=len(history) + 1,
            trials_left=rules.trials - len(history) - 1,
            several=several,
            declines=declines,
        )
        decision = yield from agent.decide(view)
        if isinstance(decision, Execute):
            break
        if isinstance(decision, Decline):
            return TrialLog(
                trial=len(history) + 1,
                turns=asked,
                declined=decision.reason,
                thought=decision.thought,
            )
        if not view.may_ask:
            raise FlowError(f"agent '{agent.name}' asked although it may not ask any more")
        offending = broken_rule(decision.question, actions)
        if offending and rules.forbidden == "refuse":
            answer = REFUSAL
        else:
            answer = yield from AskUser(decision.question)
        asked += (
            Turn(
                question=decision.question,
                answer=answer,
                thought=decision.thought,
                guess=decision.guess,
                offence=offending,
                refused=is_refusal(answer),
            ),
        )

    also = tuple(sorted({*decision.also} - {decision.action}))
    repeated = frozenset({decision.action, *also}) in failed
    log = TrialLog(
        trial=len(history) + 1,
        turns=asked,
        action=decision.action,
        also=also,
        thought=decision.thought,
        repeated=repeated,
    )
    if repeated and rules.repeats == "mask":
        return log
    seen = yield from Act({"execute": decision.action, **({"also": [*also]} if also else {})})
    success = seen.reward >= 1
    outcome = {
        "success": success,
        "credit": seen.info.get("credit", float(success)),
        "wrong": seen.info.get("wrong", 0 if success else len(log.executed)),
    }
    return log.model_copy(update=outcome)
