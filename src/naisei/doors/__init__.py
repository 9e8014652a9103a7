"""Doors: naisei inside existing programs. Three wrappers for any functions and agents. Doors to
frameworks and protocols are modules of their own, each behind its extra: `pydantic_ai`,
`langgraph`, `openai_agents`, `mcp`; and the proxy before a model, `proxy`. Each is a thin driver of
the systems' flows.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from naisei.doors.acting import AskBeforeAct, ask_before_act
    from naisei.doors.exchange import Acted, Choice, Declined, Question, Request
    from naisei.doors.speaking import check_before_say, reflect_after_failure

__all__ = [
    "Acted",
    "AskBeforeAct",
    "Choice",
    "Declined",
    "Question",
    "Request",
    "ask_before_act",
    "check_before_say",
    "reflect_after_failure",
]


def __getattr__(name: str) -> Any:
    """The help of `naisei mcp` must not wait for the systems."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    acting = ("AskBeforeAct", "ask_before_act")
    speaking = ("check_before_say", "reflect_after_failure")
    where = "acting" if name in acting else "speaking" if name in speaking else "exchange"
    return getattr(import_module(f"naisei.doors.{where}"), name)
