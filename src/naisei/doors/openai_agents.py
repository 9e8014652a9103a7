"""OpenAI Agents SDK: an input guardrail that asks, an output guardrail that checks, and an agent
that hands over once it is clear to whom.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from secrets import token_hex
from typing import Any

from agents import (
    Agent,
    AgentOutputSchemaBase,
    GuardrailFunctionOutput,
    Handoff,
    InputGuardrail,
    Model,
    ModelResponse,
    ModelSettings,
    ModelTracing,
    OutputGuardrail,
    RunContextWrapper,
    Tool,
    TResponseInputItem,
    Usage,
)
from agents.items import TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from naisei.core import InputError, Status
from naisei.director.character import Character
from naisei.director.check import rules_of
from naisei.doors.acting import AskBeforeAct, ask_before_act
from naisei.doors.exchange import Question
from naisei.lang import Language, say

_Items = str | list[TResponseInputItem]


def clarifying_guardrail(desk: AskBeforeAct[Any]) -> InputGuardrail[Any]:
    """Trips where a request leaves it open which of the desk's actions is wanted: the run ends
    with `InputGuardrailTripwireTriggered`, and `output_info` holds `question`.

    Ask the user, and run again with the conversation so far.
    """

    async def ambiguous(
        context: RunContextWrapper[Any], agent: Agent[Any], given: _Items
    ) -> GuardrailFunctionOutput:
        found = await desk.adecide(*_said(given))
        if isinstance(found, Question):
            return GuardrailFunctionOutput({"question": found.text, "guess": found.guess}, True)
        return GuardrailFunctionOutput({"action": found.action}, False)

    # Before the agent begins: what it would do meanwhile is what must not happen.
    return InputGuardrail(ambiguous, name="naisei_clarify", run_in_parallel=False)


def line_guardrail(character: str | Character) -> OutputGuardrail[Any]:
    """Trips on a line that the character would not say; `output_info` holds `reasons`.

    Raises:
        InputError: an unknown character.
    """
    rules = rules_of(character)

    async def unlike(
        context: RunContextWrapper[Any], agent: Agent[Any], line: Any
    ) -> GuardrailFunctionOutput:
        verdict = rules.check(str(line))
        reasons = [c.reason for c in verdict.checks if c.status is Status.RETRY]
        told = {"status": verdict.status.value, "reasons": reasons}
        return GuardrailFunctionOutput(told, verdict.status is Status.RETRY)

    return OutputGuardrail(unlike, name="naisei_check")


def clarifying_agent(
    handoffs: Sequence[Agent[Any]],
    *,
    model: str,
    name: str = "clarify",
    quota: int = 2,
    language: Language | None = None,
) -> Agent[Any]:
    """An agent whose model is clarify's policy: it hands over to the one of `handoffs` that the
    user wants, and asks the user first (its output is the question) where that is open.

    What an agent is for is its `handoff_description`, in a few words. The next run begins with
    the conversation so far (a session, or `result.to_input_list()`), at this agent.
    """
    about = {each.handoff_description or each.name: each for each in handoffs}
    if len(about) != len(handoffs):
        told = say("handoff_description が同じものがあります", "two agents are for the same")
        raise InputError(told, place="handoffs")
    desk = ask_before_act(
        {text: lambda request: None for text in about}, model=model, quota=quota, language=language
    )
    return Agent(name=name, handoffs=list(handoffs), model=_Policy(desk, list(handoffs)))


class _Policy(Model):
    """Clarify's decision as a model's response: a question, or the call of a handoff."""

    def __init__(self, desk: AskBeforeAct[None], agents: Sequence[Agent[Any]]) -> None:
        self._desk, self._agents = desk, agents

    async def get_response(
        self,
        system_instructions: str | None,
        input: _Items,
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff[Any, Any]],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: Any,
    ) -> ModelResponse:
        found = await self._desk.adecide(*_said(input))
        if isinstance(found, Question):
            text = ResponseOutputText(type="output_text", text=found.text, annotations=[])
            out: Any = ResponseOutputMessage(
                id=f"msg_{token_hex(8)}",
                type="message",
                role="assistant",
                status="completed",
                content=[text],
            )
        else:
            to = self._agents[self._desk.names.index(found.action)].name
            call = next(each.tool_name for each in handoffs if each.agent_name == to)
            out = ResponseFunctionToolCall(
                type="function_call", call_id=f"call_{token_hex(8)}", name=call, arguments="{}"
            )
        return ModelResponse(output=[out], usage=Usage(requests=1), response_id=None)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: _Items,
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff[Any, Any]],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        done = await self.get_response(
            system_instructions,
            input,
            model_settings,
            tools,
            output_schema,
            handoffs,
            tracing,
            previous_response_id=previous_response_id,
            conversation_id=conversation_id,
            prompt=prompt,
        )
        # A question is one sentence: it comes as a whole.
        whole = Response(
            id=f"resp_{token_hex(8)}",
            created_at=0,
            model="naisei-clarify",
            object="response",
            output=done.output,
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=0)


def _said(given: _Items) -> tuple[str, list[tuple[str, str]]]:
    """The request, and the questions and answers after it, from the items of a conversation.

    The request is the user's first message since the last tool call: what was handed over before
    has been dealt with.
    """
    if isinstance(given, str):
        return given, []
    request, question = "", ""
    asked: list[tuple[str, str]] = []
    for item in given:
        role = item.get("role")
        if role == "user":
            text = _text(item.get("content"))
            if not request:
                request, question = text, ""
            elif question:
                asked.append((question, text))
                question = ""
            else:
                request = f"{request}\n{text}"
        elif role == "assistant":
            question = _text(item.get("content"))
        elif item.get("type") in ("function_call", "function_call_output"):
            request, question, asked = "", "", []
    return request, asked


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [json.dumps(content)]
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
