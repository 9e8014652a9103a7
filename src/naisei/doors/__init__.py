"""Integrations of naisei into existing programs. This package has three wrappers for any function
or agent. Integrations with frameworks and protocols are separate modules, each with its own extra:
`pydantic_ai`, `langgraph`, `openai_agents` and `mcp`; `proxy` is a proxy in front of a model. All
are thin drivers of the systems' flows."""

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
    """Import lazily, so that the help of `naisei mcp` does not load the systems."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    acting = ("AskBeforeAct", "ask_before_act")
    speaking = ("check_before_say", "reflect_after_failure")
    where = "acting" if name in acting else "speaking" if name in speaking else "exchange"
    return getattr(import_module(f"naisei.doors.{where}"), name)
