"""pydantic-ai: actions behind clarify's policy as a toolset, the gate as an output validator.

A question to the user is a deferred call of kind `question`: the run ends with
`DeferredToolRequests`; `answered` takes the answers and returns the results that continue the run.
Tool call ids are not used as names, since some models reuse them; the conversation gets an id of
ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any

from naisei.core import Status
from naisei.director.character import Character, load_character
from naisei.director.draft import checked
from naisei.director.state import Spoken, TalkState
from naisei.doors.acting import AskBeforeAct
from naisei.doors.exchange import Acted, Declined, Question
from naisei.lang import Language, language, say, speaking
from naisei.plugins import needs_extra

with needs_extra("pydantic-ai"):
    from pydantic_ai import FunctionToolset, ModelRetry, RunContext
    from pydantic_ai.exceptions import CallDeferred, UnexpectedModelBehavior
    from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults


def clarifying_toolset(
    desk: AskBeforeAct[Any], *, name: str = "request_action", about: str = ""
) -> FunctionToolset[Any]:
    """A toolset with one tool, which takes a request in the user's words and carries out one of the
    desk's actions once it is clear which one is wanted.

    name, about: name and description of the tool; by default its actions are listed. If no file
    stores the desk's conversations (`ask_before_act(state=…)`), an answer after a restart is
    refused.
    """
    listed = "\n".join(f"- {each}" for each in desk.names)
    told = about or f"Does one of these for the user, given the request in their words:\n{listed}"
    toolset: FunctionToolset[Any] = FunctionToolset()

    async def request_action(request: str) -> Any:
        thread = f"call:{token_hex(8)}"
        found = _as_json(await desk.atell(thread, request), thread)
        if "question" in found:
            raise CallDeferred(found, kind="question")
        return found

    toolset.add_function(request_action, name=name, description=told)
    return toolset


def questions(asked: DeferredToolRequests) -> dict[str, str]:
    """Return the questions of a run that ended with them, by call id. Their options are in
    `asked.metadata[id]["options"]`."""
    return {id: str(told["question"]) for id, told in asked.metadata.items() if "question" in told}


async def answered(
    desk: AskBeforeAct[Any], asked: DeferredToolRequests, given: Mapping[str, str]
) -> DeferredToolRequests | DeferredToolResults:
    """Return the results that continue the run, or the remaining questions.

    given: call id → the user's answer. Repeated answers return the same results, and no action is
    carried out twice. Other deferred calls are left alone.

    Raises:
        InputError: an answer to a question that is not or no longer open.
    """
    held = dict(asked.metadata)
    for id in given.keys() & questions(asked).keys():
        told = held[id]
        found = await desk.atell(told["thread"], given[id], step=told["step"])
        held[id] = _as_json(found, told["thread"])
    left = replace(asked, metadata=held)
    if questions(left):
        return left
    ours = {id for id, told in held.items() if told.keys() & {"action", "declined"}}
    return DeferredToolResults(calls={id: held[id] for id in ours})


def _as_json(found: Question | Acted[Any] | Declined, thread: str) -> dict[str, Any]:
    if isinstance(found, Question):
        options = list(found.options)
        return {"question": found.text, "options": options, "thread": thread, "step": found.step}
    if isinstance(found, Declined):
        return {"declined": found.reason}
    return {"action": found.action, "result": found.result}


def line_validator(
    character: str | Character,
    *,
    history: Callable[[], Sequence[str]] = tuple,
    language: Language | None = None,
) -> Callable[[RunContext[Any], str], str]:
    """For `agent.output_validator`: sends a line that the character would not say back to the model
    with the reasons; an accepted line is returned after fixes (labels and quotes removed).

    The last attempt passes unchanged; to drop it instead, check it with `naisei.director.check`. A
    streamed run has only one attempt. Its output is released sentence by sentence, and the first
    sentence that the character would not say raises `UnexpectedModelBehavior`. history: the
    previous lines, oldest first.

    Raises:
        InputError: an unknown character.
    """
    speaker, spoken = load_character(character), language or _language()

    def validate(ctx: RunContext[Any], line: str) -> str:
        if not isinstance(line, str):
            return line
        if ctx.partial_output and (line := "".join(_SENTENCE.findall(line))) == "":
            return line
        streams = ctx.partial_output or not ctx.max_retries
        state = TalkState(history=tuple(Spoken(speaker="", text=text) for text in history()))
        draft = checked(line, speaker, state, spoken)
        if draft.status is not Status.RETRY or (ctx.last_attempt and not streams):
            return draft.text
        if streams:
            raise UnexpectedModelBehavior("; ".join(draft.reasons), line)
        with speaking(spoken):
            told = say("書き直してください。", "Write it anew:")
        raise ModelRetry("\n".join([told, *draft.reasons]))

    return validate


_language = language
_SENTENCE = re.compile(r"[^。！？!?\n]*[。！？!?\n]+[」』）)]*")
