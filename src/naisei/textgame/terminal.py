"""The terminal of `naisei textgame play`: text and map side by side, numbered commands."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager

from rich.columns import Columns
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from naisei.core import Act, AskUser, Handler, Observation, Say, Where
from naisei.lang import say
from naisei.lengths import FIELD, too_long
from naisei.terminal import Console, Panel
from naisei.textgame.drawing import Atlas, terminal_map
from naisei.textgame.schemas import LEAVE, START, GameResult, View
from naisei.textgame.texts import ending, readable

__all__ = ["ADVISE", "LEAVE", "Screen"]

#: What a person types to ask the player.
ADVISE = "?"
#: Commands whose scores are shown with an advice.
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
        """The last answer, with the map beside it, and where the game stands. False: it stands
        there already."""
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
                # Twice: nobody waits for an answer that will not be given.
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
        """What the player would do, and why."""
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
