"""Sketch of a TextWorld player on the core: choose among the candidates, act, learn places.

Source: the text-game thesis, ch. 3: thought and one action from the list, feedback
augmented with whether a place was right, at most 20 actions. One repair of a reply that
names no candidate, and the memory of wrong places across trials, are ours.
"""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from naisei.core import (
    Act,
    Chat,
    Flow,
    Handler,
    MemoryLog,
    Observation,
    Remember,
    ReplayDivergence,
    Where,
    World,
    play,
    run,
    user,
)


class Choice(BaseModel):
    consideration: str
    action: str


PUT = re.compile(r"(?:put|insert) (?P<item>.+) (?:on|into) (?P<place>.+)")

# --- the sketch ----------------------------------------------------------------------


def matched(text: str, candidates: list[str]) -> str | None:
    plain = " ".join(text.lower().strip(" .*-\"'").split())
    return next((c for c in candidates if c.lower() == plain), None)


def choose(prompt: str, candidates: list[str]) -> Flow[str]:
    """A candidate; one repair, then the first of the list."""
    messages = [user(prompt + "\n" + "\n".join(f"* {c}" for c in candidates))]
    reply = yield from Chat("player", messages, Choice)
    if (action := matched(reply.action, candidates)) is None:
        messages.append(user(f"「{reply.action}」は選べません。一覧から一つ選んでください。"))
        reply = yield from Chat("player", messages, Choice)
        action = matched(reply.action, candidates)
    return action or candidates[0]


def augmented(action: str, seen: Observation) -> str:
    if not PUT.fullmatch(action):
        return seen.text
    verdict = (
        "Right place." if seen.reward > 0 else "Wrong place: try elsewhere, perhaps another room."
    )
    return f"{seen.text} {verdict}"


def tidy(wrong: list[Any], *, limit: int = 20) -> Flow[float]:
    """One trial; `wrong` is a memory that `Remember` writes. The result is the score."""
    seen = yield from Act("look")
    score, history = 0.0, ["look → " + seen.text]
    for _ in range(limit - 1):
        candidates = [str(c) for c in seen.info["candidates"]]  # type: ignore[union-attr]
        known = "\n".join(f"not {w['item']} → {w['place']}" for w in wrong)
        action = yield from choose("\n".join([*history, known]), candidates)
        seen = yield from Act(action)
        score += seen.reward
        history.append(f"{action} → {augmented(action, seen)}")
        if (put := PUT.fullmatch(action)) and seen.reward <= 0:
            yield from Remember(put.groupdict(), memory="wrong places")
        if seen.done:
            break
    return score


# --- a small game, and the tests -----------------------------------------------------

RIGHT = {"dirty shirt": "washing machine", "tissue": "bin", "milk": "fridge"}


class Game(Handler):
    """Cannot be saved or loaded: it is driven to the point again, and compared."""

    def __init__(self, right: dict[str, str] = RIGHT) -> None:
        self.right, self.loose = right, list(right)
        self.actions: list[Any] = []

    def perform(self, effect: Act, where: Where) -> Observation:
        self.actions.append(effect.action)
        put, reward = PUT.fullmatch(str(effect.action)), 0.0
        if put and put["item"] in self.loose and self.right[put["item"]] == put["place"]:
            self.loose.remove(put["item"])
            reward = 1.0
        places = sorted(set(self.right.values()))
        candidates = ["look", *(f"put {i} on {p}" for i in self.loose for p in places)]
        return Observation(
            text=f"You see {', '.join(self.loose) or 'nothing'}.",
            reward=reward,
            done=not self.loose,
            info={"candidates": list[Any](candidates)},
        )

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        if (now := self.perform(effect, where)) != result:
            raise ReplayDivergence(str(where), result.text, now.text)


class WrongPlaces(Handler):
    def __init__(self) -> None:
        self.places: list[Any] = []

    def perform(self, effect: Remember, where: Where) -> None:
        self.places.append(effect.item)

    def restore(self, effect: Remember, result: None, where: Where) -> None:
        self.perform(effect, where)


def careful(effect: Chat[Choice]) -> Choice:
    """Takes the last candidate that is not known to be wrong."""
    text = effect.messages[0].content
    candidates = re.findall(r"^\* (put .+)$", text, re.M)
    wrong = {f"put {i} on {p}" for i, p in re.findall(r"^not (.+) → (.+)$", text, re.M)}
    return Choice(consideration="…", action=[c for c in candidates if c not in wrong][-1])


def built(game: Game, places: WrongPlaces, player: Any = careful) -> World:
    return World({Act: game, Remember: places, Chat: player})


def test_wrong_places_are_remembered_and_not_tried_again() -> None:
    places, game = WrongPlaces(), Game()
    assert run(tidy(places.places), built(game, places)) == 3.0
    assert len(game.actions) == len(set(game.actions))
    assert all(RIGHT[p["item"]] != p["place"] for p in places.places)
    again = Game()
    assert run(tidy(places.places), built(again, places), where=Where("game", 2)) == 3.0
    assert len(again.actions) == 1 + len(RIGHT)


def test_resume_at_every_event_drives_the_game_to_the_point_again() -> None:
    whole, game, places = MemoryLog(), Game(), WrongPlaces()
    score = run(tidy(places.places), built(game, places), log=whole)
    for kept in range(len(whole.events) + 1):
        log, g, p = MemoryLog(), Game(), WrongPlaces()
        log.events = whole.events[:kept]
        assert run(tidy(p.places), built(g, p), log=log) == score
        assert (g.actions, g.loose, p.places) == (game.actions, game.loose, places.places)


def test_another_game_under_the_same_log_is_found_out() -> None:
    log, places = MemoryLog(), WrongPlaces()
    run(tidy(places.places), built(Game(), places), log=log)
    other = WrongPlaces()
    with pytest.raises(ReplayDivergence):
        run(tidy(other.places), built(Game({**RIGHT, "milk": "bin"}), other), log=log)


def seen(*candidates: str, reward: float = 0.0, done: bool = False) -> Observation:
    return Observation(text="…", reward=reward, done=done, info={"candidates": list(candidates)})


def test_a_reply_off_the_list_is_repaired_once_then_the_first_candidate_is_taken() -> None:
    room = seen("look", "put milk on fridge")
    strange, right = (
        Choice(consideration="", action="drink milk"),
        Choice(consideration="", action=" * Put milk  on fridge."),
    )
    played = play(tidy([]), [room, strange, right, seen(reward=1.0, done=True)])
    assert played.result == 1.0
    repair = played.effects[2]
    assert isinstance(repair, Chat) and "drink milk" in repair.messages[-1].content
    stubborn = play(tidy([]), [room, strange, strange, seen(done=True)])
    assert stubborn.effects[-1] == Act("look")


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_limit_of_actions_is_kept(limit: int) -> None:
    game, places = Game(), WrongPlaces()
    idle = built(game, places, lambda _: Choice(consideration="", action="look"))
    assert run(tidy(places.places, limit=limit), idle) == 0.0
    assert len(game.actions) == limit


def test_feedback_says_whether_the_place_was_right() -> None:
    assert augmented("put milk on fridge", seen(reward=1.0)).endswith("Right place.")
    assert "Wrong place" in augmented("insert milk into bin", seen())
    assert augmented("go east", seen()) == "…"
