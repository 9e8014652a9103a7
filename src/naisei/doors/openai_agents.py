"""OpenAI Agents SDK: an input guardrail that asks, an output guardrail that checks, and an agent
that hands off once the target is clear."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from naisei.core import InputError, MemoryLog, Status
from naisei.director.character import Character
from naisei.director.check import rules_of
from naisei.doors.acting import AskBeforeAct, ask_before_act
from naisei.doors.exchange import Choice, Question, spent
from naisei.lang import Language, say
from naisei.models.registry import AnyModel
from naisei.plugins import needs_extra

with needs_extra("openai-agents"):
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

_Items = str | list[TResponseInputItem]


def clarifying_guardrail(desk: AskBeforeAct[Any]) -> InputGuardrail[Any]:
    """Trips unless it is clear which of the desk's actions the user wants. The run ends with
    `InputGuardrailTripwireTriggered`; `output_info` holds `question`, its `options` and the
    `guess`, or `declined`, the reason why no action is needed.

    Add the question to the conversation as an assistant message, ask the user, and run again with
    the conversation so far (a list, or a session). Assistant messages that this guardrail did not
    ask are not treated as questions.
    """

    async def ambiguous(
        context: RunContextWrapper[Any], agent: Agent[Any], given: _Items
    ) -> GuardrailFunctionOutput:
        found = await desk.ahear(_item_texts(given))
        if found is None:  # a tool's result, not a user message
            return GuardrailFunctionOutput({}, False)
        if isinstance(found, Question):
            told = {"question": found.text, "guess": found.guess, "options": [*found.options]}
            return GuardrailFunctionOutput(told, True)
        if isinstance(found, Choice):
            return GuardrailFunctionOutput({"action": found.action}, False)
        return GuardrailFunctionOutput({"declined": found.reason}, True)

    # Blocking, since the agent must not start before the check.
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
    model: AnyModel,
    name: str = "clarify",
    quota: int = 2,
    state: str | Path | None = None,
    language: Language | None = None,
) -> Agent[Any]:
    """An agent whose model is clarify's policy. It hands off to the agent in `handoffs` that the
    user wants, and asks the user first if that is unclear (the question is its output). If the user
    wants none of them, it says so and does not hand off.

    The `handoff_description` says in a few words what an agent does. state: where questions are
    stored, in memory by default. Start the next run at this agent with the conversation so far (a
    session, or `result.to_input_list()`).
    """
    about = {each.handoff_description or each.name: each for each in handoffs}
    if len(about) != len(handoffs):
        told = say("handoff_description が同じものがあります", "two agents are for the same")
        raise InputError(told, place="handoffs")
    desk = ask_before_act(
        {text: lambda request: None for text in about},
        model=model,
        quota=quota,
        state=state,
        language=language,
    )
    return Agent(name=name, handoffs=list(handoffs), model=_Policy(desk, list(handoffs)))


class _Policy(Model):
    """Clarify's decision as a model's response: a question, or a handoff call."""

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
        log = MemoryLog()
        found = await self._desk.ahear(_item_texts(input), log=log)
        if not isinstance(found, Choice):
            nothing = say("承知しました。何もしません。", "All right, I leave things as they are.")
            words = found.text if isinstance(found, Question) else nothing
            text = ResponseOutputText(type="output_text", text=words, annotations=[])
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
        cost = spent(log)
        usage = Usage(
            requests=cost.calls,
            input_tokens=cost.input_tokens,
            output_tokens=cost.output_tokens,
            total_tokens=cost.tokens,
        )
        return ModelResponse(output=[out], usage=usage, response_id=None)

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
        # A question is one sentence, so it is not streamed.
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


def _item_texts(given: _Items) -> list[tuple[str, str]]:
    """Return role and text of each item; a handoff or action ends the earlier request."""
    if isinstance(given, str):
        return [("user", given)]
    said = []
    for item in given:
        role = str(item.get("role") or "")
        if role in ("user", "assistant"):
            said.append((role, _text(item.get("content"))))
        elif item.get("type") in ("function_call", "function_call_output"):
            said.append(("tool", ""))
    return said


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [json.dumps(content)]
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
