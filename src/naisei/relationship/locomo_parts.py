"""The small forms inside LoCoMo's JSON: ids of turns and dates of sessions."""

from __future__ import annotations

import re
from datetime import datetime

__all__ = ["found_ids", "session_time"]

#: Also as they come: `D8:6; D9:17` in one string, `D:11:26`, `D30:05`.
_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_TIME = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def found_ids(text: object) -> list[str]:
    """The ids of turns in a string, as `D30:5`, in order."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in _ID.findall(str(text))]


def session_time(text: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, or ISO 8601; `None` if it is neither. Without a time zone."""
    if not isinstance(text, str):
        return None
    # The months are English whatever the locale, which strptime would follow.
    if (m := _TIME.fullmatch(text.strip())) and m[5][:3].lower() in _MONTHS:
        month = _MONTHS.index(m[5][:3].lower()) + 1
        hour = int(m[1]) % 12 + (12 if m[3].lower() == "p" else 0)
        try:
            return datetime(int(m[6]), month, int(m[4]), hour, int(m[2]))
        except ValueError:
            return None
    try:
        return datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None
