"""The player kind `tidy`: common sense first, corrected by the score.

Source of the task: the text-game thesis, §3.1 (TWC). Beliefs replace its feedback augmentation
(§3.2.2): a place that earned no point is never tried again for the same thing, and rarely for
similar things.
"""

from __future__ import annotations

from pydantic import BaseModel

from naisei.core import Flow
from naisei.lang import say
from naisei.plugins import Options
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, Expectation, Mind, View
from naisei.textgame.tidy.beliefs import Belief, Beliefs, TidyState, meanings
from naisei.textgame.tidy.household import name_thing
from naisei.textgame.tidy.tour import UNKNOWN, Chance, Tour, best_tour

#: Least probability of an unvisited place for which an uncertain try here is postponed.
_ELSEWHERE = 0.2
#: Value of a second try in the same room relative to the first.
_SECOND = 0.3


#: Limits on reported beliefs: places per thing, least probability, and most in total.
_TOLD_PLACES, _TOLD, _TOLD_IN_ALL = 2, 0.05, 10
#: Least probability for putting a thing away before the house is explored. A failed try above
#: it is a surprise, and so is a point below one minus it.
_SURE = 0.6


class TidyOptions(Options):
    """embed: whether to compare names outside the table by meaning."""

    embed: bool = True


class TidyPlayer:
    """Plays one game; uses default settings if the context's belong to another kind."""

    def __init__(self, context: PlayerContext) -> None:
        settings = context.settings
        self._embed = settings.embed if isinstance(settings, TidyOptions) else True
        self.state = TidyState()
        self.beliefs = Beliefs()
        self._left = context.max_steps
        self._score = 0
        self._last = ""
        #: Thing and receptacle of the last `put`.
        self._put: tuple[str, str] | None = None
        #: Its estimated probability of a point.
        self._hoped = 0.0
        self._surprise = ""
        #: The planned order of rooms, as text.
        self._plan: tuple[str, ...] = ()

    def decide(self, view: View) -> Flow[Decision]:
        """The next command. Requests embeddings for names outside the table."""
        self.state.see(view, self._last)
        self._learn(view)
        if self._embed:
            yield from self._ask_for_meanings()
        beliefs = {t: self.beliefs.of(t, self.state) for t in self._untidy()}
        command, thoughts = self._choose(beliefs)
        self._left -= 1
        self._score, self._last = view.score, command
        mind = Mind(plan=self._plan, expects=self._expects(beliefs), surprise=self._surprise)
        if self._put is not None:
            thing, receptacle = self._put
            self._hoped = beliefs[thing].at.get((self.state.here, receptacle), 0.0)
        return Decision(action=command, thoughts=thoughts, mind=mind)

    def _expects(self, beliefs: dict[str, Belief]) -> tuple[Expectation, ...]:
        found = []
        for thing, belief in beliefs.items():
            likely = sorted(belief.at.items(), key=lambda each: -each[1])[:_TOLD_PLACES]
            for (place, receptacle), chance in likely:
                room = self.state.world.places[place].room
                found.append((thing, f"{receptacle} ({room})", chance))
            if belief.unseen > _ELSEWHERE:
                found.append(
                    (thing, say("まだ見ていない部屋", "a room not seen yet"), belief.unseen)
                )
        best = {thing: max(c for t, _, c in found if t == thing) for thing in beliefs if found}
        order = sorted(found, key=lambda each: (-best[each[0]], each[0], -each[2]))
        return tuple(
            Expectation(thing=thing, where=where, chance=round(chance, 3))
            for thing, where, chance in order
            if chance >= _TOLD
        )[:_TOLD_IN_ALL]

    def _untidy(self) -> list[str]:
        state = self.state
        return [t for t in (*state.held, *sorted(state.lying)) if t not in state.done]

    def _learn(self, view: View) -> None:
        state, evidence = self.state, self.beliefs.evidence
        self._surprise = ""
        if self._put is not None:
            thing, receptacle = self._put
            case = (name_thing(thing), (state.here, receptacle))
            if view.score > self._score:
                evidence.right.append(case)
                state.done.add(thing)
                if self._hoped < 1 - _SURE:
                    self._surprise = say(
                        f"{thing} は {receptacle} で正しかった (見込み {self._hoped:.0%})",
                        f"{thing} is right on the {receptacle} (expected with {self._hoped:.0%})",
                    )
            elif self._last.startswith(("put ", "insert ")):
                evidence.wrong.append(case)
                if self._hoped >= _SURE:
                    self._surprise = say(
                        f"{thing} は {receptacle} ではなかった (見込み {self._hoped:.0%})",
                        f"{thing} is wrong on the {receptacle} (expected with {self._hoped:.0%})",
                    )
            self._put = None
        known = {thing.name for thing, _ in evidence.found}
        for name, at in state.lying.items():
            if name not in known and name not in state.done and self._last != f"drop {name}":
                evidence.found.append((name_thing(name), at))

    def _ask_for_meanings(self) -> Flow[None]:
        unknown = [
            thing
            for name in self._untidy()
            if not (thing := name_thing(name)).places and name not in self.beliefs.meanings
        ]
        if unknown:
            self.beliefs.meanings.update((yield from meanings(unknown)))

    def _choose(self, beliefs: dict[str, Belief]) -> tuple[str, str]:
        state = self.state
        tour = best_tour(
            [self._chance(name, belief) for name, belief in beliefs.items()],
            {p.number: state.world.distances(p.number) for p in state.world.places},
            state.here,
            steps=self._left,
            frontier=self._ways_out(),
        )
        self._plan = tuple(
            say("まだ見ていない部屋へ", "on to a room not seen yet")
            if stop == UNKNOWN
            else state.world.places[stop].room
            for stop in tour.stops
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
        """A harmless command if untried places remain but too few steps, instead of giving up."""
        can = self.state.scene.can
        if not any(belief.at for belief in beliefs.values()) or not can:
            return None
        command = "look" if "look" in can else min(can)
        return command, say("残りの手数では何も片付かない", "too few steps are left")

    def _chance(self, name: str, belief: Belief) -> Chance:
        by_place: dict[int, float] = {}
        for place in {at[0] for at in belief.at}:
            each = [p for at, p in belief.at.items() if at[0] == place]
            chance = max(each) + _SECOND * (sum(each) - max(each))
            if max(each) < _SURE and belief.unseen > _ELSEWHERE:
                # A wrong try costs two steps; looking at other rooms first costs little.
                chance = min(chance, 0.95 * belief.unseen)
            by_place[place] = chance
        by_place[UNKNOWN] = belief.unseen
        where = None if name in self.state.held else self.state.lying[name][0]
        return Chance(name, where, by_place)

    def _best(self, belief: Belief) -> tuple[float, str]:
        """(probability, receptacle) of the best place in this room."""
        here = [(p, at[1]) for at, p in belief.at.items() if at[0] == self.state.here]
        return max(here, default=(0.0, ""))

    def _put_away(self, tour: Tour, beliefs: dict[str, Belief]) -> tuple[str, str] | None:
        """Put away the held thing that most surely belongs here."""
        state = self.state
        here = [(self._best(beliefs[t]), t) for t in state.held if tour.target.get(t) == 0]
        for (p, receptacle), thing in sorted(here, reverse=True):
            if receptacle and (command := state.put(thing, receptacle)):
                if not command.startswith("open "):
                    self._put = (thing, receptacle)
                elif (state.here, receptacle) in state.stuck:
                    continue
                return command, say(
                    f"{thing} は {receptacle} だろう ({p:.0%})",
                    f"{thing} belongs to the {receptacle} ({p:.0%})",
                )
        return None

    def _take_up(self, tour: Tour, beliefs: dict[str, Belief]) -> tuple[str, str] | None:
        """Take things here, first those that belong in this room."""
        state = self.state
        if state.capacity is not None and len(state.held) >= state.capacity:
            return None
        here = [
            (tour.target[t] > 0, -self._best(beliefs[t])[0], t)
            for t, stop in tour.lifted.items()
            if stop == 0 and state.take(t) in state.scene.can
        ]
        if not here:
            return None
        carried, _, thing = min(here)
        if carried:
            return state.take(thing), say(f"{thing} を持って行く", f"taking {thing} along")
        return state.take(thing), say(f"{thing} を片付ける", f"{thing} is out of place")

    def _walk_on(self, tour: Tour) -> tuple[str, str] | None:
        if len(tour.stops) < 2:
            return None
        if tour.stops[1] == UNKNOWN:
            return self._explore()
        return self.state.walk(tour.stops[1]), say("次の部屋へ", "on to the next room")

    def _ways_out(self) -> dict[int, int]:
        """Place → commands to leave it by an unexplored way."""
        world = self.state.world
        out: dict[int, int] = {}
        distance = world.distances()
        for number, direction in world.frontier():
            shut = direction in world.places[number].shut
            door = world.places[number].doors.get(direction, "")
            if number in distance and not (shut and (number, door) in self.state.stuck):
                out[number] = min(out.get(number, 9), 1 + shut)
        return out

    def _explore(self) -> tuple[str, str] | None:
        """Go towards the nearest unexplored way."""
        world, ways = self.state.world, self._ways_out()
        if not ways:
            return None
        distance = world.distances()
        number = min(ways, key=lambda place: (distance[place] + ways[place], place))
        thoughts = say("別の部屋も見る", "having a look at the other room")
        if number != world.here:
            return self.state.walk(number), thoughts
        open_first = sorted(
            (d in world.place.shut, d) for at, d in world.frontier() if at == number
        )
        return self.state.go(open_first[0][1]), thoughts

    def _search(self) -> tuple[str, str] | None:
        """Look behind ways and into closed containers when nothing is left to put away."""
        if (command := self._explore()) is not None:
            return command
        state = self.state
        distance = state.world.distances()
        near = [at for at in state.hidden() if at[0] in distance]
        if not near:
            return None
        place, name = min(near, key=lambda at: (distance[at[0]], at))
        thoughts = say(f"{name} の中を見る", f"looking into the {name}")
        if place == state.here:
            return f"open {name}", thoughts
        return state.walk(place), thoughts


class _Kind:
    settings: type[BaseModel] = TidyOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        return TidyPlayer(context)


def build() -> PlayerKind:
    """The player kind `tidy`."""
    return _Kind()
