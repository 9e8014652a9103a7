"""The dialogue's own clock: dated sessions, so that recency decays across the gaps.

It has no time zone and does not depend on when the run is made.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

__all__ = ["Clock", "dated", "gap"]

_WEEKDAYS = "月火水木金土日"


class Clock(BaseModel):
    """When sessions and turns take place.

    start: of the first session. gap_days: from the start of a session to that of the next, but
    never before the one ended. minutes: of a turn.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: datetime = datetime(2026, 4, 6, 10, 0)
    gap_days: Annotated[float, Field(ge=0, le=36500)] = 7.0
    minutes: Annotated[float, Field(gt=0, le=1440)] = 1.0

    @field_validator("start")
    @classmethod
    def _no_zone(cls, start: datetime) -> datetime:
        return start.replace(tzinfo=None)

    def session(self, number: int, turns: int) -> datetime:
        """The start of session `number` (from 1), if each has so many turns."""
        long = timedelta(minutes=self.minutes * turns)
        return self.start + (number - 1) * max(timedelta(days=self.gap_days), long)

    def turn(self, number: int, turn: int, turns: int) -> datetime:
        """When turn `turn` (from 0) of session `number` (from 1) is spoken."""
        return self.session(number, turns) + timedelta(minutes=self.minutes * turn)


def dated(time: datetime, language: str) -> str:
    """A date with its day of the week and the time, for prompts."""
    if language == "ja":
        day = f"{time.year}年{time.month}月{time.day}日（{_WEEKDAYS[time.weekday()]}）"
        return f"{day}{time.hour}時{time.minute:02}分"
    return f"{time:%A, %d %B %Y, %H:%M}"


def gap(before: datetime, now: datetime, language: str) -> str:
    """How long ago the session before began, for prompts: 「前回から7日」."""
    days = (now.date() - before.date()).days
    if language == "ja":
        return f"前回の会話から{days}日たった" if days else "前回の会話と同じ日"
    many = "day" if days == 1 else "days"
    return f"{days} {many} after the last talk" if days else "the same day as the last talk"
