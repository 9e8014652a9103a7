"""The player tidy."""

from __future__ import annotations

from pydantic import BaseModel

from naisei.core import Flow
from naisei.lang import say
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, View
from naisei.textgame.tidy.beliefs import Belief, Beliefs, Tuning, meanings
from naisei.textgame.tidy.house import UNKNOWN, Chance, House, Tour, best_tour
from naisei.textgame.tidy.naming import name_thing

__all__ = ["TidyPlayer", "build"]


# The player of tidying-up games: common sense first, the score as its judge.
#
# Source of the task: the text-game thesis, §3.1 (TWC); its feedback augmentation (§3.2.2) is here
# a belief: a place that gave no point is never tried again for the same thing, and hardly for
# things like it.

#: From this chance on that a thing belongs where nobody has been, a doubtful try here can wait.
_ELSEWHERE = 0.2
#: What a second try in the same room is worth of a first.
_SECOND = 0.3


class TidyPlayer:
    """Plays one game; with the default tuning where the context's settings are another kind's."""

    def __init__(self, context: PlayerContext) -> None:
        given = context.settings
        self.tuning = given if isinstance(given, Tuning) else Tuning()
        self.house = House()
        self.beliefs = Beliefs(self.tuning)
        self._left = context.max_steps
        self._score = 0
        self._last = ""
        #: Thing and receptacle of the last command, where it put something.
        self._put: tuple[str, str] | None = None

    def decide(self, view: View) -> Flow[Decision]:
        """The next command. Asks for embeddings where the table does not know a name."""
        self.house.see(view, self._last)
        self._learn(view)
        if self.tuning.embed:
            yield from self._ask_for_meanings()
        beliefs = {t: self.beliefs.of(t, self.house) for t in self._untidy()}
        command, thought = self._choose(beliefs)
        self._left -= 1
        self._score, self._last = view.score, command
        return Decision(action=command, thoughts=thought)

    def _untidy(self) -> list[str]:
        house = self.house
        return [t for t in (*house.held, *sorted(house.lying)) if t not in house.done]

    def _learn(self, view: View) -> None:
        house, evidence = self.house, self.beliefs.evidence
        if self._put is not None:
            thing, receptacle = self._put
            case = (name_thing(thing), (house.here, receptacle))
            if view.score > self._score:
                evidence.right.append(case)
                house.done.add(thing)
            elif self._last.startswith(("put ", "insert ")):
                evidence.wrong.append(case)
            self._put = None
        known = {thing.name for thing, _ in evidence.found}
        for name, at in house.lying.items():
            if name not in known and name not in house.done and self._last != f"drop {name}":
                evidence.found.append((name_thing(name), at))

    def _ask_for_meanings(self) -> Flow[None]:
        unknown = [
            thing
            for name in self._untidy()
            if not (thing := name_thing(name)).places and name not in self.beliefs.meanings
        ]
        if unknown:
            self.beliefs.meanings.update((yield from meanings(unknown, self.tuning)))

    def _choose(self, beliefs: dict[str, Belief]) -> tuple[str, str]:
        house = self.house
        tour = best_tour(
            [self._chance(name, belief) for name, belief in beliefs.items()],
            {p.number: house.world.distances(p.number) for p in house.world.places},
            house.here,
            steps=self._left,
            frontier=self._ways_out(),
        )
        return (
            self._put_away(tour, beliefs)
            or self._take_up(tour, beliefs)
            or self._walk_on(tour)
            or self._search()
            or self._too_late(beliefs)
            or ("", say("置けるところはすべて試した", "every place was tried"))
        )

    def _too_late(self, beliefs: dict[str, Belief]) -> tuple[str, str] | None:
        """Places are left to try, but no steps to do it in: no reason to give up."""
        can = self.house.scene.can
        if not any(belief.at for belief in beliefs.values()) or not can:
            return None
        command = "look" if "look" in can else min(can)
        return command, say("残りの手数では何も片付かない", "too few steps are left")

    def _chance(self, name: str, belief: Belief) -> Chance:
        by_place: dict[int, float] = {}
        for place in {at[0] for at in belief.at}:
            each = [p for at, p in belief.at.items() if at[0] == place]
            chance = max(each) + _SECOND * (sum(each) - max(each))
            if max(each) < self.tuning.sure and belief.unseen > _ELSEWHERE:
                # It costs two steps to be wrong, and little to look at the other rooms first.
                chance = min(chance, 0.95 * belief.unseen)
            by_place[place] = chance
        by_place[UNKNOWN] = belief.unseen
        where = None if name in self.house.held else self.house.lying[name][0]
        return Chance(name, where, by_place)

    def _best(self, belief: Belief) -> tuple[float, str]:
        """(probability, receptacle) of the best place for it in this room."""
        here = [(p, at[1]) for at, p in belief.at.items() if at[0] == self.house.here]
        return max(here, default=(0.0, ""))

    def _put_away(self, tour: Tour, beliefs: dict[str, Belief]) -> tuple[str, str] | None:
        """The surest of what is held and belongs here."""
        house = self.house
        here = [(self._best(beliefs[t]), t) for t in house.held if tour.target.get(t) == 0]
        for (p, receptacle), thing in sorted(here, reverse=True):
            if receptacle and (command := house.put(thing, receptacle)):
                if not command.startswith("open "):
                    self._put = (thing, receptacle)
                elif (house.here, receptacle) in house.stuck:
                    continue
                return command, say(
                    f"{thing} は {receptacle} だろう ({p:.0%})",
                    f"{thing} belongs to the {receptacle} ({p:.0%})",
                )
        return None

    def _take_up(self, tour: Tour, beliefs: dict[str, Belief]) -> tuple[str, str] | None:
        """What lies here: first what belongs to this room, then what is carried on."""
        house = self.house
        if house.capacity is not None and len(house.held) >= house.capacity:
            return None
        here = [
            (tour.target[t] > 0, -self._best(beliefs[t])[0], t)
            for t, stop in tour.lifted.items()
            if stop == 0 and house.take(t) in house.scene.can
        ]
        if not here:
            return None
        carried, _, thing = min(here)
        if carried:
            return house.take(thing), say(f"{thing} を持って行く", f"taking {thing} along")
        return house.take(thing), say(f"{thing} を片付ける", f"{thing} is out of place")

    def _walk_on(self, tour: Tour) -> tuple[str, str] | None:
        if len(tour.stops) < 2:
            return None
        if tour.stops[1] == UNKNOWN:
            return self._explore()
        route = self.house.world.route(tour.stops[1])
        return self._go(route[0], say("次の部屋へ", "on to the next room")) if route else None

    def _ways_out(self) -> dict[int, int]:
        """Place → commands to leave it where nobody has gone."""
        world = self.house.world
        out: dict[int, int] = {}
        distance = world.distances()
        for number, direction in world.frontier():
            shut = direction in world.places[number].shut
            door = world.places[number].doors.get(direction, "")
            if number in distance and not (shut and (number, door) in self.house.stuck):
                out[number] = min(out.get(number, 9), 1 + shut)
        return out

    def _explore(self) -> tuple[str, str] | None:
        """Towards the nearest way that nobody has gone."""
        world, ways = self.house.world, self._ways_out()
        if not ways:
            return None
        distance = world.distances()
        number = min(ways, key=lambda place: (distance[place] + ways[place], place))
        thought = say("別の部屋も見る", "having a look at the other room")
        if number != world.here:
            route = world.route(number)
            return self._go(route[0], thought) if route else None
        open_first = sorted(
            (d in world.place.shut, d) for at, d in world.frontier() if at == number
        )
        return self._go(open_first[0][1], thought)

    def _go(self, direction: str, thought: str) -> tuple[str, str]:
        """In a direction, or its door first."""
        here = self.house.world.place
        if direction in here.shut:
            return f"open {here.doors[direction]}", thought
        return f"go {direction}", thought

    def _search(self) -> tuple[str, str] | None:
        """Nothing is left to put away: look behind ways and into what is closed."""
        if (command := self._explore()) is not None:
            return command
        house = self.house
        distance = house.world.distances()
        near = [at for at in house.hidden() if at[0] in distance]
        if not near:
            return None
        place, name = min(near, key=lambda at: (distance[at[0]], at))
        thought = say(f"{name} の中を見る", f"looking into the {name}")
        if place == house.here:
            return f"open {name}", thought
        route = house.world.route(place)
        return self._go(route[0], thought) if route else None


class _Kind:
    settings: type[BaseModel] = Tuning
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        return TidyPlayer(context)


def build() -> PlayerKind:
    """The kind `tidy`."""
    return _Kind()
