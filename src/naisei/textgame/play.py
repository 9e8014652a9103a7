"""Games with a person at them: the person plays, with a player for advice, or watches a player.

Both are players to the flow of a game (`naisei.textgame.flow.play_game`): the person's command is
the answer to an `AskUser`, and the player's advice is a `Say`, so both are in the log.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from pydantic import BaseModel, JsonValue
from rich.columns import Columns
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from naisei.core import Act, AskUser, Flow, Handler, InputError, Observation, Say, Where, World
from naisei.lang import say
from naisei.lengths import FIELD, too_long
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.task import EpisodeRow, Summary, Task
from naisei.terminal import Console, Panel
from naisei.textgame.config import GameConfig, PlayConfig
from naisei.textgame.drawing import Atlas, terminal_map
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld, playable
from naisei.textgame.flow import play_game
from naisei.textgame.games import find_games, games_hash
from naisei.textgame.lines import game_lines
from naisei.textgame.player import Follows, Player, PlayerContext, player_kind
from naisei.textgame.schemas import LEAVE, START, Decision, GameResult, View
from naisei.textgame.task import summarise
from naisei.textgame.texts import ending, readable

#: The input that asks for advice.
ADVISE = "?"
#: Number of scored commands in an advice.
_SCORES = 3


class Screen(Handler):
    """Performs the commands of a game by `game`, prints what is seen and reads what is to be done;
    without a terminal, plain lines.

    most: commands that the game lasts. delay: seconds after each decision that is watched.
    """

    def __init__(self, most: int, *, delay: float = 0.0, console: Console | None = None) -> None:
        self.console = console or Console()
        self._most, self._delay = most, delay
        self._watched = False

    def of(self, game: Handler, *, watched: bool = False) -> Screen:
        """The screen at the beginning of a game."""
        self._game, self._watched = game, watched
        self.view, self.atlas, self.steps = View(), Atlas(), 0
        self._new = False
        return self

    async def perform(self, effect: Act, where: Where) -> Observation:
        """Give a command to the game."""
        performed = self._game.perform(effect, where)
        seen = await performed if isinstance(performed, Awaitable) else performed
        assert isinstance(seen, Observation)
        self._note(str(effect.action), seen)
        return seen

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        """A command of the log: nothing is printed of it, but the map has it."""
        self._game.restore(effect, result, where)
        self._note(str(effect.action), result)

    def _note(self, command: str, seen: Observation) -> None:
        self.view = View.of(seen)
        if command == START:
            self.atlas, self.steps = Atlas(), 0
            self.atlas.begin(self.view.room)
        else:
            self.atlas.move(command, self.view.room, self.view.feedback)
            self.steps += 1
        self._new = True

    def show(self) -> bool:
        """Show the last answer, the map and the score. False: already shown."""
        if not self._new:
            return False
        self._new, view = False, self.view
        said = readable(view.feedback)
        body = Text(said)
        if f"-= {view.room} =-" not in said and self.steps == 0:
            body = Text(f"{said}\n\n{readable(view.description)}")
        drawn = terminal_map(self.atlas, width=self.console.width - 6)
        panel = Panel(drawn, title=say("地図", "Map"), border_style="dim", expand=False)
        if self.console.measure(panel).maximum > self.console.width // 2:
            self.console.print(body, panel, sep="\n")
        else:
            grid = Table.grid(expand=True, padding=(0, 2))
            grid.add_column(ratio=1)
            grid.add_column(no_wrap=True)
            grid.add_row(body, panel)
            self.console.print(grid)
        if view.inventory:
            self.console.print(Text(readable(view.inventory), style="dim"))
        score, of, steps, most = view.score, view.max_score, self.steps, self._most
        standing = say(
            f"{score}/{of} 点 · {steps}/{most} 手",
            f"{score} of {of} points · {steps} of {most} steps",
        )
        self.console.print(Rule(standing, style="dim"))
        return True

    async def ask(self, effect: AskUser) -> str:
        """A command by its number or its words, `ADVISE`, or `LEAVE` (`q`, or no more input).

        Ctrl-C stops the run, so that the game can be continued.
        """
        candidates = self.view.candidates
        if self.show():
            numbered = [f"{n:2} {command}" for n, command in enumerate(candidates, 1)]
            self.console.print(Columns([Text(line) for line in numbered], padding=(0, 3)))
        while True:
            try:
                with _interruptible():
                    said = " ".join(self.console.input(Text("> ", style="bold")).split())
            except EOFError:
                return LEAVE
            except KeyboardInterrupt:
                # Twice, so as not to wait for an answer that never comes.
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
                await asyncio.Event().wait()
            if told := too_long(said, FIELD):
                self.console.print(Text(told))
            elif said in ("q", "quit", LEAVE):
                return LEAVE
            elif said.isdigit() and 1 <= int(said) <= len(candidates):
                return candidates[int(said) - 1]
            elif said and not said.isdigit():
                return said
            else:
                self._hint(len(candidates))

    async def tell(self, effect: Say) -> None:
        """The player's advice and reason."""
        self.show()
        line = Text("→ ", style="cyan")
        line.append(effect.text or say("あきらめる", "give up"), "bold")
        if thoughts := effect.meta.get("thoughts"):
            line.append(f"  ({thoughts})")
        if isinstance(scores := effect.meta.get("scores"), dict) and scores:
            best = list(scores.items())[:_SCORES]
            line.append("  " + ", ".join(f"{c} {s:.2f}" for c, s in best), "dim")
        self.console.print(line)
        if self._watched:
            await asyncio.sleep(self._delay)

    def ended(self, result: GameResult) -> None:
        """The last answer, and how it ended."""
        self.show()
        self.console.print(ending(result), style="bold")

    def _hint(self, many: int) -> None:
        self.console.print(
            say(
                f"1〜{many} の番号かコマンドを入力してください。? で助言、q で終了。",
                f"Give a number from 1 to {many} or a command; ? for advice, q to leave.",
            ),
            style="yellow",
        )


@contextmanager
def _interruptible() -> Iterator[None]:
    """Within, Ctrl-C raises KeyboardInterrupt, also where the run has its own handler."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


#: Speaker of the player's advice.
PLAYER = "player"
#: Answers while watching: one command on, or the rest.
STEP, REST = "/step", "/rest"
#: Number of scored commands in the line.
_BEST = 5


class Person:
    """A person gives the commands; another player advises.

    new: makes a fresh adviser. cheap: it calls no model, and is asked at every step, which keeps
    its memory whole; one that costs money is asked only when the person asks, and then begins
    afresh. tells: the advice is said at every step at which it was asked for.
    """

    def __init__(self, new: Callable[[], Player], *, cheap: bool, tells: bool = False) -> None:
        self._new, self._cheap, self._tells = new, cheap, tells
        self._adviser: Player | None = None
        self._opening: str | None = None

    def decide(self, view: View) -> Flow[Decision]:
        """The person's command; asking for advice costs no step."""
        if self._opening is None:
            self._opening = view.feedback
        advice: Decision | None = None
        if self._cheap and view.candidates:
            advice = yield from self._advise(view)
            if self._tells:
                yield from announce(advice)
        while (said := (yield from AskUser(advice.action if advice else ""))) == ADVISE:
            if advice is None:
                advice = yield from self._advise(view)
            yield from announce(advice)
        if said == LEAVE:
            return Decision(action="", thoughts=LEAVE)
        if advice is not None and said == advice.action:
            return advice
        # A player that was not called, or failed, restarts unless it can follow.
        follows = advice is not None and isinstance(self._adviser, Follows)
        if not (follows and isinstance(self._adviser, Follows) and self._adviser.did(said)):
            self._adviser = None
        return Decision(action=said)

    def _advise(self, view: View) -> Flow[Decision]:
        if self._adviser is None:
            self._adviser = self._new()
            # The objective is only in the first text.
            view = view.model_copy(update={"feedback": self._opening})
        return (yield from self._adviser.decide(view))


class Watched:
    """A player that says each decision. pauses: a person continues it (`STEP`, `REST`)."""

    def __init__(self, player: Player, *, pauses: bool = False) -> None:
        self._player, self._pauses = player, pauses

    def decide(self, view: View) -> Flow[Decision]:
        decision = Decision(action="")
        if view.candidates:
            decision = yield from self._player.decide(view)
            yield from announce(decision)
        if self._pauses:
            said = yield from AskUser(decision.action)
            self._pauses = said != REST
            if said == LEAVE:
                return Decision(action="", thoughts=LEAVE)
        return decision


def announce(decision: Decision) -> Flow[None]:
    """What the player would do and why, and the best of its scores."""
    best = dict(sorted(decision.scores.items(), key=lambda pair: -pair[1])[:_BEST])
    meta: dict[str, JsonValue] = {"thoughts": decision.thoughts, "scores": {**best}}
    yield from Say(decision.action, PLAYER, meta)


class PlayTask(Task[PlayConfig]):
    """One game at the terminal.

    Raises:
        InputError: no such game or several, no engine, or a player or settings there are not.
    """

    system = "textgame"
    concurrency = 1
    in_terminal = True

    def __init__(self, config: PlayConfig) -> None:
        needs_textworld()
        games = find_games(config.game)
        if len(games) > 1:
            raise InputError(
                say(f"ここには {len(games)} ゲームあります", f"there are {len(games)} games here"),
                place=config.game,
                remedy=say(
                    f"一つを指定してください (例: {games[0].path})",
                    f"name one, e.g. {games[0].path}",
                ),
            )
        self.config, self.game = config, games[0]
        self.kind = player_kind(config.agent)
        self.context = PlayerContext(
            game=self.game.id,
            seed=config.seed,
            max_steps=config.max_steps or self.game.default_steps,
            settings=self.kind.settings.model_validate(config.agent_options),
        )
        self.data_hash = games_hash(games)
        self._pool = ProcessPool(timeout=config.interpreter_timeout)
        playable(self.game.path, self._pool)
        self._pool.close()
        delay = config.delay
        if delay is None:
            delay = 0.7 if sys.stdout.isatty() else 0.0
        self.screen = Screen(self.context.max_steps, delay=delay)

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._pool.close()

    def episodes(self) -> list[Where]:
        return [Where(self.game.id, 1)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        def new() -> Player:
            return self.kind.new(self.context)

        player: Player = (
            Watched(new()) if self.config.watch else Person(new, cheap=not self.kind.roles)
        )
        handler = GameHandler(self.game.path, self._pool)
        screen = self.screen.of(handler, watched=self.config.watch)
        world = base.having({Act: screen, AskUser: screen.ask, Say: screen.tell})
        flow = play_game(self.game.id, player, max_steps=self.context.max_steps)
        return self._until_its_end(flow, handler), world

    def _until_its_end(
        self, flow: Flow[GameResult], handler: GameHandler
    ) -> Generator[Any, Any, GameResult]:
        try:
            result = yield from flow
        finally:
            handler.close()
        self.screen.ended(result)
        return result

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        config = GameConfig(games=self.config.game, seed=self.config.seed)
        return summarise(config, {self.game.id: self.game.family}, rows)

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return game_lines(GameResult.model_validate(result))

    def figure(self, where: Where, result: JsonValue) -> str:
        """The map, the path and the points of the game, for the report."""
        from naisei.textgame.drawing import drawing

        return drawing(GameResult.model_validate(result))
