"""Views, decisions and results of games."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Observation

#: The action that starts a game; costs no step.
START = "<start>"
#: The person's answer to leave the game; also the recorded reason.
LEAVE = "/leave"


class View(BaseModel):
    """A player's view of the current state: texts and the engine's lists.

    room: name of the room. description: text of `look`. inventory: text of `inventory`. candidates:
    commands the engine would accept. feedback: answer to the last command. score, max_score:
    points. won, lost: whether the game ended so. steps_left: remaining commands including this one;
    0 if unlimited.

    It contains nothing of the game's inner state.
    """

    model_config = ConfigDict(frozen=True)

    room: str = ""
    description: str = ""
    inventory: str = ""
    candidates: tuple[str, ...] = ()
    feedback: str = ""
    score: int = 0
    max_score: int = 0
    done: bool = False
    won: bool = False
    lost: bool = False
    steps_left: int = 0

    @classmethod
    def of(cls, observation: Observation) -> View:
        """The view in an observation."""
        return cls.model_validate(
            {**observation.info, "feedback": observation.text, "done": observation.done}
        )

    def observation(self, reward: float) -> Observation:
        """The view as the result of an `Act`."""
        info: dict[str, JsonValue] = self.model_dump(
            mode="json", exclude={"feedback", "done", "steps_left"}
        )
        return Observation(text=self.feedback, reward=reward, done=self.done, info=info)


class Expectation(BaseModel):
    """Where a thing is expected or belongs. chance: 0 to 1."""

    model_config = ConfigDict(frozen=True)

    thing: str
    where: str
    chance: float


class Mind(BaseModel):
    """A player's beliefs before a command, as text.

    plan: its steps in order. expects: likely places of things, best first. surprise: unexpected
    findings since the last command, or "".
    """

    model_config = ConfigDict(frozen=True)

    plan: tuple[str, ...] = ()
    expects: tuple[Expectation, ...] = ()
    surprise: str = ""

    def by_thing(self) -> dict[str, list[Expectation]]:
        found: dict[str, list[Expectation]] = {}
        for each in self.expects:
            found.setdefault(each.thing, []).append(each)
        return found


class Decision(BaseModel):
    """A command with the player's reasons.

    action: a candidate; "" if the player gives up, with the reason in `thoughts`. thoughts: for
    people. scores: candidate → the player's score, if it has scores. counts: name (such as
    `repairs`) → number; each becomes a metric. mind: the player's beliefs; `None` if it does not
    report them.
    """

    model_config = ConfigDict(frozen=True)

    action: str
    thoughts: str = ""
    scores: dict[str, float] = {}
    counts: dict[str, int] = {}
    mind: Mind | None = None


class Step(BaseModel):
    """One command and its result. counts: as in `Decision`. mind: as in `Decision`, or `None` if
    unchanged."""

    model_config = ConfigDict(frozen=True)

    room: str
    action: str
    thoughts: str = ""
    feedback: str
    score: int
    counts: dict[str, int] = {}
    mind: Mind | None = None


class GameResult(BaseModel):
    """The result of a game.

    score, max_score: points. won, lost: whether the game ended so; if neither, steps ran out or the
    player gave up. gave_up: the reason, or "". steps: the commands in order. opening: the game's
    first text. memo: the player's notes from earlier tries. earlier: those tries in order; all
    other fields describe the last one.
    """

    model_config = ConfigDict(frozen=True)

    game: str
    score: int
    max_score: int
    won: bool
    lost: bool
    gave_up: str = ""
    steps: tuple[Step, ...]
    opening: str = ""
    memo: str = ""
    earlier: tuple[GameResult, ...] = ()

    @property
    def tries(self) -> tuple[GameResult, ...]:
        """All tries at the game; this one is the last."""
        return (*self.earlier, self)

    def minds(self) -> list[Mind | None]:
        """The player's beliefs before each command."""
        found: list[Mind | None] = []
        for step in self.steps:
            found.append(step.mind or (found[-1] if found else None))
        return found

    @property
    def timed_out(self) -> bool:
        return not (self.won or self.lost or self.gave_up)

    @property
    def normalized_score(self) -> float:
        """Points over the maximum, 0–1 (thesis §6.3.2); 0/0 is NaN."""
        return self.score / self.max_score if self.max_score else float("nan")
