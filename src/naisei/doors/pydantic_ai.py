"""pydantic-ai: actions behind clarify's policy as a toolset, the gate as an output validator.

A question to the user is a deferred tool call: the run ends with `DeferredToolRequests`, and goes
on with `DeferredToolResults` (`answers` makes them). What was decided before is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, RunContext
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from naisei.core import Status
from naisei.director.character import Character, load_character
from naisei.director.draft import checked
from naisei.director.state import Spoken, TalkState
from naisei.doors.acting import AskBeforeAct
from naisei.doors.exchange import Question
from naisei.lang import Language, language, say, speaking


def clarifying_toolset(
    desk: AskBeforeAct[Any], *, name: str = "request_action", about: str = ""
) -> FunctionToolset[Any]:
    """A toolset with one tool, which takes a request in the user's words and carries one of the
    desk's actions out, once it is clear which.

    name, about: of the tool; by default what it can do is listed. The conversation of a call is
    kept under its id (`ask_before_act(state=…)` keeps it over restarts).
    """
    listed = "\n".join(f"- {each}" for each in desk.names)
    told = about or f"Does one of these for the user, given the request in their words:\n{listed}"
    toolset: FunctionToolset[Any] = FunctionToolset()

    async def request_action(ctx: RunContext[Any], request: str) -> Any:
        given = ctx.tool_call_metadata or {}
        said = str(given.get("answer", "")) if ctx.tool_call_approved else ""
        step = str(given.get("step", "")) if said else ""
        found = await desk.atell(f"call:{ctx.tool_call_id}", said or request, step=step)
        if isinstance(found, Question):
            raise ApprovalRequired({"question": found.text, "step": found.step})
        return {"action": found.action, "result": found.result}

    toolset.add_function(request_action, name=name, description=told)
    return toolset


def questions(asked: DeferredToolRequests) -> dict[str, str]:
    """The questions of a run that ended with them: id of the call → question."""
    return {id: str(told["question"]) for id, told in asked.metadata.items() if "question" in told}


def answers(asked: DeferredToolRequests, given: Mapping[str, str]) -> DeferredToolResults:
    """What the run goes on with. given: id of the call → the user's answer."""
    told = {
        id: {"answer": answer, "step": asked.metadata[id].get("step", "")}
        for id, answer in given.items()
    }
    return DeferredToolResults(approvals=dict.fromkeys(given, True), metadata=told)


def line_validator(
    character: str | Character,
    *,
    history: Callable[[], Sequence[str]] = tuple,
    language: Language | None = None,
) -> Callable[[RunContext[Any], str], str]:
    """For `agent.output_validator`: a line that the character would not say is sent back to the
    model with the reasons; one that passes goes out with its mends (labels and quotes cut off).

    At the last attempt the line goes out as it is: whoever would rather have nothing compares it
    with `naisei.director.check`. history: the lines before, oldest first.

    Raises:
        InputError: an unknown character.
    """
    speaker, spoken = load_character(character), language or _language()

    def validate(ctx: RunContext[Any], line: str) -> str:
        if not isinstance(line, str) or ctx.partial_output:
            return line
        state = TalkState(history=tuple(Spoken(speaker="", text=text) for text in history()))
        draft = checked(line, speaker, state, spoken)
        if draft.status is not Status.RETRY or ctx.last_attempt:
            return draft.text
        with speaking(spoken):
            told = say("書き直してください。", "Write it anew:")
        raise ModelRetry("\n".join([told, *draft.reasons]))

    return validate


_language = language
