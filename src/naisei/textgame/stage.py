"""The terminal of `naisei textgame play`: text and map side by side, numbered commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from rich.columns import Columns
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from naisei.lang import say
from naisei.lengths import FIELD, too_long
from naisei.terminal import Console, Panel
from naisei.textgame.drawing import Atlas, terminal_map
from naisei.textgame.schemas import Decision, View
from naisei.textgame.texts import readable

__all__ = ["Stage"]


class Stage:
    """Prints what is seen and reads what is to be done; without a terminal, plain lines."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def show(self, view: View, atlas: Atlas, steps: int, most: int) -> None:
        """The last answer, with the map beside it, and where the game stands."""
        said = readable(view.feedback)
        body = Text(said)
        if f"-= {view.room} =-" not in said and steps == 0:
            body = Text(f"{said}\n\n{readable(view.description)}")
        drawn = terminal_map(atlas, width=self.console.width - 6)
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
        self.console.print(
            Rule(
                say(
                    f"{view.score}/{view.max_score} 点 · {steps}/{most} 手",
                    f"{view.score} of {view.max_score} points · {steps} of {most} steps",
                ),
                style="dim",
            )
        )

    async def ask(self, view: View, advise: Callable[[], Awaitable[Decision]]) -> Decision:
        """A command by its number or its words; `?` asks the player, `q` leaves."""
        numbered = [f"{n:2} {command}" for n, command in enumerate(view.candidates, 1)]
        self.console.print(Columns([Text(line) for line in numbered], padding=(0, 3)))
        while True:
            try:
                said = self.console.input(Text("> ", style="bold")).strip()
                if told := too_long(said, FIELD):
                    self.console.print(Text(told))
                    continue
            except EOFError:
                return Decision(action="", thoughts=say("入力の終わり", "the end of the input"))
            if said in ("q", "quit"):
                return Decision(action="", thoughts=say("退席", "left"))
            if said == "?":
                self.tell(await advise())
            elif said.isdigit():
                if 1 <= int(said) <= len(view.candidates):
                    return Decision(action=view.candidates[int(said) - 1])
                self._hint(view)
            elif said:
                return Decision(action=" ".join(said.split()))
            else:
                self._hint(view)

    def tell(self, decision: Decision) -> None:
        """What the player would do, and why."""
        line = Text("→ ", style="cyan")
        line.append(decision.action or say("あきらめる", "give up"), "bold")
        if decision.thoughts:
            line.append(f"  ({decision.thoughts})")
        best = sorted(decision.scores.items(), key=lambda pair: -pair[1])[:3]
        if best:
            line.append("  " + ", ".join(f"{c} {s:.2f}" for c, s in best), "dim")
        self.console.print(line)

    def _hint(self, view: View) -> None:
        many = len(view.candidates)
        self.console.print(
            say(
                f"1〜{many} の番号かコマンドを入力してください。? で助言、q で終了。",
                f"Give a number from 1 to {many} or a command; ? for advice, q to leave.",
            ),
            style="yellow",
        )
