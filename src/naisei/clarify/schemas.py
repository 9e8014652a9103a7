"""The vocabulary of clarify: scenes, actions, decisions, and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Language = Literal["ja", "en"]
#: A question that the task forbids (paper §3.2): whether an object is present, or which
#: action is wanted, outright. `None`: the question is fair.
Offence = Literal["presence", "outright"]
#: Why nothing is executed: no request (thanks, a greeting, a withdrawn request), no fitting action,
#: or an unconfirmed action (answered with "no", or twice unclearly).
Declined = Literal["no request", "none fits", "not confirmed"]
#: How a user answers, always truthfully. `terse`: a single word. `vague`: hedged, after their
#: first words. `hurried`: a remark, then one word. `mistaken`: a wrong answer, corrected at once.
#: `child`, `elder`: a child's or an older person's words and names of things.
Manner = Literal["cooperative", "terse", "vague", "hurried", "mistaken", "child", "elder"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Action(_Frozen):
    """One thing that the assistant can do. `id` is unique in its set and ≥ 1."""

    id: int
    text: str


class ActionSet(_Frozen):
    """The candidates, in order of id. AmbigAct-40 has 40 (paper, Table 4)."""

    name: str
    actions: tuple[Action, ...]

    def __iter__(self) -> Iterator[Action]:  # type: ignore[override]
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)

    def __hash__(self) -> int:
        # Pydantic's hash visits every field, and action sets are hashed often.
        return hash((self.name, len(self.actions)))

    def text(self, action_id: int) -> str:
        """Raises KeyError for an unknown id."""
        for action in self.actions:
            if action.id == action_id:
                return action.text
        raise KeyError(action_id)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(a.id for a in self.actions)


class UserInfo(_Frozen):
    """The visible state of the user. Any field may be empty."""

    name: str = ""
    place: str = ""
    posture: str = ""
    holding: tuple[str, ...] = ()
    reach: tuple[str, ...] = ()
    time: str = ""
    company: tuple[str, ...] = ()


class Scene(_Frozen):
    """What the agent may know: it never holds the hidden intent.

    surroundings: area → things that can be seen there, each in a few words.
    """

    id: str
    utterance: str
    user: UserInfo = UserInfo()
    surroundings: dict[str, tuple[str, ...]] = {}
    language: Language = "ja"

    @property
    def entries(self) -> tuple[str, ...]:
        """All visible things: in hand, in reach, and around."""
        around = (thing for things in self.surroundings.values() for thing in things)
        return (*self.user.holding, *self.user.reach, *around)


class Facts(_Frozen):
    """A person's knowledge of their wish, in their own words. first: the first answer to "what is
    it?". name: their noun phrase for the thing; the only field that may name it. no: action id →
    why that one is not wanted. true, false: clauses in plain form without full stop that hold, or
    do not, right now.
    """

    first: str = ""
    why: str = ""
    what_for: str = ""
    state: str = ""
    whom: str = ""
    name: str = ""
    no: dict[int, str] = Field(default_factory=dict, alias="not")
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()


class Instance(_Frozen):
    """A scene with its hidden intent: the action that the user really wants.

    plausible: every action that a considerate helper might take here, the gold among them.
    also: further wanted actions, in a few instances. facts: the source of the user's
    answers; without them the rule simulator knows only the wanted action's text.
    """

    id: str
    scene: Scene
    gold: int
    also: tuple[int, ...] = ()
    plausible: tuple[int, ...] = ()
    facts: Facts | None = None
    ambiguity: str = ""
    speaker: str = ""
    split: str = ""
    scene_id: str = ""

    @property
    def wanted(self) -> frozenset[int]:
        """All wanted actions, usually one."""
        return frozenset({self.gold, *self.also})


class Chance(_Frozen):
    """An agent's belief in one action. p: 0 to 1."""

    action: int
    p: float


class Clarify(_Frozen):
    """Ask one question. `guess`: the action it would take if it had to act now. chances: the
    likeliest actions, best first, if the agent has a belief."""

    question: str
    thought: str = ""
    guess: int | None = None
    chances: tuple[Chance, ...] = ()


class Execute(_Frozen):
    """Take an action, or several (`also`); ends the trial. chances: see `Clarify`."""

    action: int
    also: tuple[int, ...] = ()
    thought: str = ""
    chances: tuple[Chance, ...] = ()


class Decline(_Frozen):
    """Do nothing, and end the trial and the episode. chances: see `Clarify`."""

    reason: Declined
    thought: str = ""
    chances: tuple[Chance, ...] = ()


Decision = Clarify | Execute | Decline


class Turn(_Frozen):
    """One clarifying question with its answer."""

    question: str
    answer: str
    thought: str = ""
    guess: int | None = None
    offence: Offence | None = None
    refused: bool = False


class TrialLog(_Frozen):
    """One finished trial, as `naisei.clarify.flow.trial` returns. trial counts from 1.

    action, also: what was executed. declined: why nothing was executed; then `action` is `None`.
    success: exactly the wanted actions were executed. credit: |both| / |either| of the two sets.
    wrong: executed actions that nobody wanted. repeated: the set had been executed before. steps:
    interactions, i.e. questions + 1 for the decision that ends it (s_i of the paper, §5.1).
    """

    trial: int
    turns: tuple[Turn, ...] = ()
    action: int | None = None
    also: tuple[int, ...] = ()
    declined: Declined | None = None
    thought: str = ""
    success: bool = False
    credit: float = 0.0
    wrong: int = 0
    repeated: bool = False

    @property
    def acts(self) -> tuple[int, ...]:
        """The executed actions; empty if the agent declined."""
        return () if self.action is None else (self.action, *self.also)

    @property
    def executed(self) -> frozenset[int]:
        return frozenset(self.acts)

    @property
    def steps(self) -> int:
        return len(self.turns) + 1


class EpisodeResult(_Frozen):
    """One instance's trials in order; the last is the only one that can have succeeded
    (unless trials are independent, when an episode is a single trial)."""

    instance: str
    gold: int
    trials: tuple[TrialLog, ...]
    memo: str = ""

    @property
    def questions(self) -> int:
        """Number of questions in all trials."""
        return sum(len(t.turns) for t in self.trials)

    @property
    def wrong_acts(self) -> int:
        """Number of unwanted actions executed in any trial."""
        return sum(t.wrong for t in self.trials)

    @property
    def first_success(self) -> int | None:
        """Index of the first successful trial, counted from 1 (t* of the paper)."""
        return next((t.trial for t in self.trials if t.success), None)
