"""The game as far as it has come, folded from the events: what is seen, map, path, points."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from naisei.core import Event, Observation
from naisei.textgame.drawing import drawing
from naisei.textgame.schemas import START, GameResult, Step, View
from naisei.textgame.texts import readable
from naisei.web.pages.games.config import PlayConfig

__all__ = ["Picture"]


@dataclass(frozen=True, slots=True)
class Picture:
    """view: the present moment, `None` before the first. result: the play so far. advice: what
    the player said last: a command, with its thoughts and scores."""

    view: View | None
    result: GameResult
    advice: dict[str, Any]

    @classmethod
    def of(cls, config: PlayConfig, events: Iterable[Event]) -> Picture:
        view: View | None = None
        steps: list[Step] = []
        advice: dict[str, Any] = {}
        opening = ""
        for event in events:
            request = cast(dict[str, Any], event.request)
            if event.kind == "say":
                advice = {"action": request["text"], **request["meta"]}
            elif event.kind == "act" and event.failure is None:
                seen = View.of(Observation.model_validate(event.result))
                if view is None or request["action"] == START:
                    opening = seen.feedback
                else:
                    steps.append(
                        Step(
                            room=view.room,
                            action=str(request["action"]),
                            feedback=seen.feedback,
                            score=seen.score,
                        )
                    )
                view = seen
        result = GameResult(
            game=config.file.removesuffix(".z8"),
            score=view.score if view else 0,
            max_score=view.max_score if view else 0,
            won=bool(view and view.won),
            lost=bool(view and view.lost),
            steps=tuple(steps),
            opening=opening,
        )
        return cls(view, result, advice)

    @property
    def drawn(self) -> str:
        """Map, path and points as an image's address; empty before the first command."""
        svg = drawing(self.result)
        if not svg:
            return ""
        return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()

    @property
    def inventory(self) -> str:
        return readable(self.view.inventory) if self.view else ""
