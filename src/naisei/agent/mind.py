"""The agent's state during a conversation, computed from lines and actions. A replay gives the
same state; a resumed conversation rebuilds it from earlier events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.agent.persona import Persona
from naisei.agent.wording import listed
from naisei.clarify.lines import THOUGHT
from naisei.clarify.schemas import Action, ActionSet, Instance, Scene, TrialLog
from naisei.core import Event, Observation, Say
from naisei.director.state import Note, TalkState
from naisei.lang import render, speaking
from naisei.memory.stream import Entry
from naisei.relationship.speech import SpeechEstimator
from naisei.relationship.vector import degree

#: The person's speaker name in histories.
PERSON = "person"
#: Kinds of remarks.
Kind = Literal["act", "question", "correction", "chat"]


class Deed(BaseModel):
    """A request that was acted on. logs: its trials, oldest first; the last is the latest act."""

    model_config = ConfigDict(frozen=True)

    utterance: str
    logs: tuple[TrialLog, ...] = ()

    def instance(self, language: Literal["ja", "en"], words: str = "") -> Instance:
        """As an R-Clarify instance with unknown intent. words: the clarified request."""
        scene = Scene(id="talk", utterance=words or self.utterance, language=language)
        return Instance(id="talk", scene=scene, gold=0)


@dataclass
class Mind:
    """The agent's state. actions: possible now; `None` if the persona cannot act, or a game has
    not listed them yet. talk: every line, for the director's checks. deed: the latest action,
    if any. seen: the world's response. asked: answered document questions, oldest first. told:
    lines written without a model. just_did: whether the last line reported the deed."""

    persona: Persona
    actions: ActionSet | None = None
    talk: TalkState = field(default_factory=TalkState)
    deed: Deed | None = None
    seen: str = ""
    asked: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    just_did: bool = False
    _speech: SpeechEstimator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        me = self.persona.profile
        names = {me.id: me.name, PERSON: "相手" if me.language == "ja" else "the person"}
        self.talk = TalkState(names=names)
        self._speech = SpeechEstimator((me.id, PERSON), names=names)

    @classmethod
    def of(cls, persona: Persona, actions: ActionSet | None, events: Iterable[Event]) -> Mind:
        """The state after these events. actions: the initial ones."""
        mind = cls(persona, actions)
        for event in events:
            request: dict[str, Any] = event.request  # type: ignore[assignment]
            if event.kind == "ask":
                if question := request["question"]:
                    mind.hear(persona.profile.id, question)
                mind.hear(PERSON, str(event.result))
            elif event.kind == "say" and request["speaker"] != THOUGHT:
                mind.hear(request["speaker"], request["text"], request["meta"])
                mind.note(request["meta"].get("done") or {})
            elif event.kind == "act" and event.failure is None:
                mind.see(Observation.model_validate(event.result))
        return mind

    def hear(self, speaker: str, text: str, meta: Mapping[str, JsonValue] | None = None) -> None:
        """Add a line by either speaker."""
        excluded = {*self.persona.profile.names, *self.persona.profile.partner_names}
        self.talk = self.talk.after(Say(text, speaker, meta or {}), excluded)
        with speaking(self.persona.language):
            if not (meta or {}).get("reply"):  # quoted documents do not count for the relationship
                self._speech.add(speaker, text)

    def see(self, seen: Observation) -> None:
        """Record an action's result. A game lists the next actions."""
        self.seen = str(seen.info.get("told") or "")
        if commands := seen.info.get("candidates"):
            listed = enumerate(commands, 1)  # type: ignore[arg-type]
            actions = tuple(Action(id=n, text=str(text)) for n, text in listed)
            self.actions = ActionSet(name="game", actions=actions)

    def note(self, done: Mapping[str, Any]) -> None:
        """Record a line's metadata: an action, an answered question, a stated fact."""
        self.just_did = bool(done.get("deed"))
        if "deed" in done:
            self.deed = Deed.model_validate(done["deed"]) if done["deed"] else None
        if query := done.get("asked"):
            self.asked = (*self.asked, str(query))
        if fact := done.get("told"):
            self.told = (*self.told, str(fact))

    @property
    def stances(self) -> dict[str, dict[str, int] | None]:
        """The relationship after the last line, persona to person (`own`) and back (`theirs`), by
        dimension; `None` if unknown."""
        read = {"own": self.persona.profile.id, "theirs": PERSON}
        found = {side: self._speech.reading(who).vector for side, who in read.items()}
        return {side: v.model_dump() if v else None for side, v in found.items()}

    @property
    def person_lines(self) -> tuple[str, ...]:
        """The person's lines, oldest first."""
        return tuple(line.text for line in self.talk.history if line.speaker == PERSON)

    @property
    def last_line(self) -> str:
        """The person's last line."""
        return self.person_lines[-1]


def briefed(
    mind: Mind,
    remembered: Sequence[Entry],
    message: str,
    memo: str,
    now: datetime,
    *,
    relating: bool,
) -> TalkState:
    """The dialogue state for the speaker's prompt: facts, the memo, and current notes last.

    message: content the line must convey. relating: whether to include the relationship.
    """
    persona, stance = mind.persona, mind.stances["own"] if relating else None
    language = persona.language
    told: Mapping[str, Sequence[str]] = {
        "today": [f"{now:%Y-%m-%d (%a)}"],
        "before": [f"{entry.time:%Y-%m-%d} {entry.text}" for entry in remembered],
        "stance": [degree(name, value, language) for name, value in (stance or {}).items()],
        "message": [message] if message else [],
    }
    rows = _rendered("now.v1", language, **{k: listed(v, language) for k, v in told.items()})
    notes = [row for row, items in zip(rows.splitlines(), told.values(), strict=True) if items]
    facts = "\n".join(f"- {fact.say}" for fact in persona.facts) or "-"
    # The person chooses the topic, so topics and repeated words are omitted.
    return mind.talk.model_copy(
        update={
            "scene": _rendered("scene.v2", language, facts=facts, memo=memo or "-"),
            "notes": tuple(Note(to=persona.profile.id, text=text) for text in notes),
            **{"topic": "", "depth": 0, "memory": (), "loops": {}},
        }
    )


def _rendered(name: str, language: str, **given: str) -> str:
    return render("naisei.agent", name, language, **given)
