"""Views, decisions and results of games."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Observation

#: The action that begins a game: no command, it costs no step.
START = "<start>"
#: The person's answer to leave the game; also the recorded reason.
LEAVE = "/leave"


class View(BaseModel):
    """A player's view of the current state: texts and the engine's lists.

    room: name of the room from its heading. description: of the room, as from `look`. inventory: as
    from `inventory`. candidates: the commands that the engine would accept. feedback: what the last
    command was answered. score, max_score: points. won, lost: whether the game ended so.
    steps_left: commands that may still be given, this one included; 0 where nobody counts them.

    There is nothing here of the game's inner state.
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
    def of(cls, seen: Observation) -> View:
        """The view that an engine put into an observation."""
        return cls.model_validate({**seen.info, "feedback": seen.text, "done": seen.done})

    def observation(self, reward: float) -> Observation:
        """As the result of an `Act` effect."""
        info: dict[str, JsonValue] = self.model_dump(
            mode="json", exclude={"feedback", "done", "steps_left"}
        )
        return Observation(text=self.feedback, reward=reward, done=self.done, info=info)


class Expectation(BaseModel):
    """Where a thing is expected, or where it belongs. chance: 0 to 1."""

    model_config = ConfigDict(frozen=True)

    thing: str
    where: str
    chance: float


class Mind(BaseModel):
    """A player's beliefs before a command, in words.

    plan: its steps, in order. expects: likely places of each thing, best first. surprise:
    unexpected findings since the last command, or "".
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
    """A command, with what the player thought of it.

    action: a candidate; empty if the player gives up, and `thoughts` then says why.
    thoughts: in words, for people. scores: candidate → what the player gave it, where it does.
    counts: what came up on the way to it, by name (`repairs`); each name becomes a metric.
    mind: what the player believes; `None` if it does not tell.
    """

    model_config = ConfigDict(frozen=True)

    action: str
    thoughts: str = ""
    scores: dict[str, float] = {}
    counts: dict[str, int] = {}
    mind: Mind | None = None


class Step(BaseModel):
    """One command of a game and what came of it. counts: as in its `Decision`. mind: as there;
    `None` also where it is as it was at the step before."""

    model_config = ConfigDict(frozen=True)

    room: str
    action: str
    thoughts: str = ""
    feedback: str
    score: int
    counts: dict[str, int] = {}
    mind: Mind | None = None


class GameResult(BaseModel):
    """How one game went.

    score, max_score: points. won, lost: whether the game itself ended so; neither means that
    the steps ran out, or that the player gave up. gave_up: why it did; empty if it did not.
    steps: the commands given, in order. opening: what the game said first. memo: what
    the player was reminded of from earlier tries at the game. earlier: those tries, first to last,
    where there were several in sequence; all else is of the last one.
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
        """All tries at the game, this one last."""
        return (*self.earlier, self)

    def minds(self) -> list[Mind | None]:
        """What the player believed before each command."""
        found: list[Mind | None] = []
        for step in self.steps:
            found.append(step.mind or (found[-1] if found else None))
        return found

    @property
    def timed_out(self) -> bool:
        return not (self.won or self.lost or self.gave_up)

    @property
    def normalized_score(self) -> float:
        """Points over the most that can be had, 0–1 (thesis §6.3.2); 0/0 is NaN."""
        return self.score / self.max_score if self.max_score else float("nan")
