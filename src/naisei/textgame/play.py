"""Games at the terminal: a person plays with an advising player, or watches a player.

`naisei.textgame.flow.play_game` treats both as players. The person's command is the answer to an
`AskUser` and the advice is a `Say`, so both are logged.
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

#: The input that requests advice.
ADVISE = "?"
#: Most scored commands in printed advice.
_SCORES = 3


class Screen(Handler):
    """Performs commands in `game`, prints observations and reads input; plain lines without a
    terminal.

    most: commands per game. delay: seconds after each watched decision.
    """

    def __init__(self, most: int, *, delay: float = 0.0, console: Console | None = None) -> None:
        self.console = console or Console()
        self._most, self._delay = most, delay
        self._watched = False

    def of(self, game: Handler, *, watched: bool = False) -> Screen:
        """Reset the screen for a game."""
        self._game, self._watched = game, watched
        self.view, self.atlas, self.steps = View(), Atlas(), 0
        self._new = False
        return self

    async def perform(self, effect: Act, where: Where) -> Observation:
        """Perform a command in the game."""
        performed = self._game.perform(effect, where)
        observation = await performed if isinstance(performed, Awaitable) else performed
        assert isinstance(observation, Observation)
        self._note(str(effect.action), observation)
        return observation

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        """Replay a logged command: updates the map without printing."""
        self._game.restore(effect, result, where)
        self._note(str(effect.action), result)

    def _note(self, command: str, observation: Observation) -> None:
        self.view = View.of(observation)
        if command == START:
            self.atlas, self.steps = Atlas(), 0
            self.atlas.begin(self.view.room)
        else:
            self.atlas.move(command, self.view.room, self.view.feedback)
            self.steps += 1
        self._new = True

    def show(self) -> bool:
        """Print the last answer, the map and the score. Returns whether they were new."""
        if not self._new:
            return False
        self._new, view = False, self.view
        feedback = readable(view.feedback)
        body = Text(feedback)
        if f"-= {view.room} =-" not in feedback and self.steps == 0:
            body = Text(f"{feedback}\n\n{readable(view.description)}")
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
        """Read a command by number or text, `ADVISE`, or `LEAVE` (`q`, or end of input).

        Ctrl-C stops the run resumably.
        """
        candidates = self.view.candidates
        if self.show():
            numbered = [f"{n:2} {command}" for n, command in enumerate(candidates, 1)]
            self.console.print(Columns([Text(line) for line in numbered], padding=(0, 3)))
        while True:
            try:
                with _interruptible():
                    text = " ".join(self.console.input(Text("> ", style="bold")).split())
            except EOFError:
                return LEAVE
            except KeyboardInterrupt:
                # The second signal cancels the pending question.
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
                await asyncio.Event().wait()
            if problem := too_long(text, FIELD):
                self.console.print(Text(problem))
            elif text in ("q", "quit", LEAVE):
                return LEAVE
            elif text.isdigit() and 1 <= int(text) <= len(candidates):
                return candidates[int(text) - 1]
            elif text and not text.isdigit():
                return text
            else:
                self._hint(len(candidates))

    async def tell(self, effect: Say) -> None:
        """Print the player's advice and reason."""
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
        """Print the last answer and the ending."""
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
    """Let Ctrl-C raise KeyboardInterrupt even if the run has its own handler."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


#: Speaker name of the advice.
PLAYER = "player"
#: Answers while watching: one step, or all remaining.
STEP, REST = "/step", "/rest"
#: Most scores logged with a decision.
_BEST = 5


class Person:
    """A person gives the commands; another player advises.

    new: creates an adviser. cheap: the adviser calls no model, so it is asked at every step and
    remembers everything; an expensive one is asked only on request and then restarts. announces:
    print the advice at every step.
    """

    def __init__(self, new: Callable[[], Player], *, cheap: bool, announces: bool = False) -> None:
        self._new, self._cheap, self._tells = new, cheap, announces
        self._adviser: Player | None = None
        self._opening: str | None = None

    def decide(self, view: View) -> Flow[Decision]:
        """The person's command; advice costs no step."""
        if self._opening is None:
            self._opening = view.feedback
        advice: Decision | None = None
        if self._cheap and view.candidates:
            advice = yield from self._advise(view)
            if self._tells:
                yield from announce(advice)
        while (command := (yield from AskUser(advice.action if advice else ""))) == ADVISE:
            if advice is None:
                advice = yield from self._advise(view)
            yield from announce(advice)
        if command == LEAVE:
            return Decision(action="", thoughts=LEAVE)
        if advice is not None and command == advice.action:
            return advice
        # Restart an adviser that was not called or cannot follow.
        follows = advice is not None and isinstance(self._adviser, Follows)
        if not (follows and isinstance(self._adviser, Follows) and self._adviser.did(command)):
            self._adviser = None
        return Decision(action=command)

    def _advise(self, view: View) -> Flow[Decision]:
        if self._adviser is None:
            self._adviser = self._new()
            # Only the first text states the objective.
            view = view.model_copy(update={"feedback": self._opening})
        return (yield from self._adviser.decide(view))


class Watched:
    """A player that announces each decision. pauses: wait for a person's `STEP` or `REST`."""

    def __init__(self, player: Player, *, pauses: bool = False) -> None:
        self._player, self._pauses = player, pauses

    def decide(self, view: View) -> Flow[Decision]:
        decision = Decision(action="")
        if view.candidates:
            decision = yield from self._player.decide(view)
            yield from announce(decision)
        if self._pauses:
            answer = yield from AskUser(decision.action)
            self._pauses = answer != REST
            if answer == LEAVE:
                return Decision(action="", thoughts=LEAVE)
        return decision


def announce(decision: Decision) -> Flow[None]:
    """Announce the player's command, its reason, and its best scores."""
    best = dict(sorted(decision.scores.items(), key=lambda pair: -pair[1])[:_BEST])
    meta: dict[str, JsonValue] = {"thoughts": decision.thoughts, "scores": {**best}}
    yield from Say(decision.action, PLAYER, meta)


class PlayTask(Task[PlayConfig]):
    """One game at the terminal.

    Raises:
        InputError: no game or several, no engine, an unknown player or setting.
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
        """The map, path and points of the game for the report."""
        from naisei.textgame.drawing import drawing

        return drawing(GameResult.model_validate(result))
