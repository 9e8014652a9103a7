"""Reflection after a failed trial: what the next trial should know (paper §4.2)."""

from __future__ import annotations

from naisei import prompts
from naisei.clarify.describe import action_list, scene_text, trial_text
from naisei.clarify.schemas import ActionSet, Scene, TrialLog
from naisei.core import Chat, Flow, system, user
from naisei.memory import Memory

__all__ = ["reflect"]

_NONE = {"ja": "（まだありません）", "en": "(none yet)"}


def reflect(scene: Scene, actions: ActionSet, log: TrialLog, memory: Memory) -> Flow[str]:
    """A new note from the last trial; the policy decides whether it sees the old one."""
    language = scene.language
    instructions = prompts.render(
        "naisei.clarify", memory.prompt, language, actions=action_list(actions)
    )
    given = prompts.render(
        "naisei.clarify",
        "reflect-input.v1",
        language,
        scene=scene_text(scene),
        trial=trial_text(log, actions, language),
        memo=memory.previous() or _NONE[language],
    )
    note = yield from Chat("reflector", [system(instructions), user(given)])
    return note.strip()
