"""LangGraph: clarify's policy as nodes. A question to the user is an interrupt, which LangGraph
resumes.

`begin` clears the state of the thread's earlier request; `decide` writes its question into the
state, and `ask` interrupts with it. LangGraph reruns a resumed node from its start, so the node
that interrupts calls no model: the decision is in LangGraph's checkpoint.
"""

from __future__ import annotations

from secrets import token_hex
from typing import Annotated, Any, Literal, TypedDict

from pydantic import JsonValue

from naisei.core import MemoryLog
from naisei.doors.acting import AskBeforeAct
from naisei.doors.exchange import Choice, Declined, Question, Request, plain, spent
from naisei.plugins import needs_extra

with needs_extra("langgraph"):
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
    from langchain_core.runnables import RunnableConfig, RunnableLambda
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages
    from langgraph.types import interrupt


class ClarifyState(TypedDict, total=False):
    """request: what the user wants, set by the caller. id: optional id of the request from the
    caller; a repeated id counts once. asked: (question, answer), oldest first. question: the next
    question, empty once decided; options: its options. step: names thread, request and question.
    action, result: what was done. declined: why nothing was done (see `Declined`). messages:
    questions, with their cost, and answers, for a graph that stores messages and for
    `stream_mode="messages"`. turn, message, done: internal: number of this request, its id, and the
    last action (request, action, turn). Within another graph the desk stores these three, so that
    graph's state can omit them."""

    request: str
    id: str
    asked: list[tuple[str, str]]
    question: str
    options: list[str]
    step: str
    action: str
    result: Any
    declined: str
    messages: Annotated[list[AnyMessage], add_messages]
    turn: str
    message: str
    done: list[str]


def clarify_graph(desk: AskBeforeAct[Any]) -> StateGraph[ClarifyState, None, Any, Any]:
    """`begin` → `decide` → `ask` (interrupts, is resumed with the answer) → `decide` → `act`.

    Compile it with your checkpointer, or compile it and use it as a node of your graph. An
    interrupt's value is {question, options, step}. Resume it with the answer's text, or with
    {answer, step}; an answer to another question interrupts again. If the user declines, the graph
    ends with `declined`. The node `act` calls the actions, plain or async; with async actions use
    `ainvoke` or `astream`.
    """

    def begin(state: ClarifyState, config: RunnableConfig) -> ClarifyState:
        key = _key(config)
        return _begun(state, desk.notes.get(key) if key else None)

    async def abegin(state: ClarifyState, config: RunnableConfig) -> ClarifyState:
        await desk.notes.aopen()
        return begin(state, config)

    async def adecide(state: ClarifyState) -> ClarifyState:
        said, log = _exchanges(state), MemoryLog()
        found = await desk.adecide(state["request"], said, done=_done(state), log=log)
        return _decided(state, found, log)

    def decide(state: ClarifyState) -> ClarifyState:
        said, log = _exchanges(state), MemoryLog()
        found = desk.decide(state["request"], said, done=_done(state), log=log)
        return _decided(state, found, log)

    def act(state: ClarifyState, config: RunnableConfig) -> ClarifyState:
        acted = _acted(state, desk.act(state["action"], _request(state, config)))
        if key := _key(config):
            desk.notes.put(key, _noted(acted, state))
        return acted

    async def aact(state: ClarifyState, config: RunnableConfig) -> ClarifyState:
        acted = _acted(state, await desk.aact(state["action"], _request(state, config)))
        if key := _key(config):
            await desk.notes.aput(key, _noted(acted, state))
        return acted

    graph = StateGraph(ClarifyState)
    graph.add_node("begin", RunnableLambda(begin, abegin))
    graph.add_node("decide", RunnableLambda(decide, adecide))
    graph.add_node("ask", _ask)
    graph.add_node("act", RunnableLambda(act, aact))
    graph.add_edge(START, "begin")
    graph.add_conditional_edges("begin", _next, ["decide", "ask", END])
    graph.add_conditional_edges("decide", _next, ["ask", "act", END])
    graph.add_edge("ask", "decide")
    graph.add_edge("act", END)
    return graph


def _begun(state: ClarifyState, held: Any) -> ClarifyState:
    """Return a new request, or the current one if its id is repeated. held: the thread's last
    action, if the desk knows it."""
    id = state.get("id", "")
    if id and id == state.get("message"):
        return {"id": ""}
    last: dict[str, Any] = held or {}
    repeated = bool(id) and id == last.get("message")
    done = state.get("done") or last.get("done") or []
    return {
        "id": "",
        "message": id,
        "turn": last["done"][-1] if repeated else token_hex(8),
        "done": done,
        "asked": [],
        "question": "",
        "options": [],
        "step": "",
        "action": last["action"] if repeated else "",
        "result": last["result"] if repeated else None,
        "declined": "",
    }


def _key(config: RunnableConfig) -> str:
    """Return the key of a thread's last action, for a node within another graph; empty for a
    standalone graph, whose checkpoint stores it."""
    where = config.get("configurable", {})
    # Without task ids, which differ between calls.
    nodes = [each.partition(":")[0] for each in str(where.get("checkpoint_ns", "")).split("|")]
    if len(nodes) < 2 or "thread_id" not in where:
        return ""
    return f"langgraph:{where['thread_id']}:{'|'.join(nodes[:-1])}"


def _noted(acted: ClarifyState, state: ClarifyState) -> JsonValue:
    result = plain(acted["result"])
    done: list[JsonValue] = [*acted["done"]]
    action, message = state["action"], state["message"]
    return {"done": done, "result": result, "action": action, "message": message}


def _ask(state: ClarifyState) -> ClarifyState:
    question, options, step = state["question"], state["options"], state["step"]
    answer: dict[str, Any] = {"step": ""}
    while answer.get("step", step) != step:  # ignore an answer to another question
        given = interrupt({"question": question, "options": options, "step": step})
        answer = given if isinstance(given, dict) else {"answer": given}
    words = str(answer.get("answer", ""))
    return {
        "asked": [*_exchanges(state), (question, words)],
        "question": "",
        "messages": [HumanMessage(words, id=f"{step}.answer")],
    }


def _exchanges(state: ClarifyState) -> list[tuple[str, str]]:
    # A checkpoint may return tuples as lists.
    return [(question, answer) for question, answer in state.get("asked", [])]


def _done(state: ClarifyState) -> str:
    """Return the action just carried out for the same words, if they came without an id."""
    request, action, _ = state.get("done") or ("", "", "")
    return action if state["request"] == request and not state.get("message") else ""


def _request(state: ClarifyState, config: RunnableConfig) -> Request:
    thread = config.get("configurable", {}).get("thread_id", "")
    return Request(state["request"], tuple(_exchanges(state)), f"{thread}/{state['turn']}")


def _acted(state: ClarifyState, result: Any) -> ClarifyState:
    return {"result": result, "done": [state["request"], state["action"], state["turn"]]}


def _decided(
    state: ClarifyState, found: Question | Choice | Declined, log: MemoryLog
) -> ClarifyState:
    if isinstance(found, Question):
        step, cost = f"{state['turn']}.{len(_exchanges(state))}", spent(log)
        paid: Any = {
            "input_tokens": cost.input_tokens,
            "output_tokens": cost.output_tokens,
            "total_tokens": cost.tokens,
        }
        asked = AIMessage(found.text, id=step, usage_metadata=paid)
        options = [*found.options]
        return {"question": found.text, "options": options, "step": step, "messages": [asked]}
    if isinstance(found, Declined):
        return {"question": "", "declined": found.reason}
    return {"question": "", "action": found.action}


def _next(state: ClarifyState) -> Literal["decide", "ask", "act", "__end__"]:
    if state["question"]:
        return "ask"
    if state["declined"] or (state["done"] or [""])[-1] == state["turn"]:
        return "__end__"
    return "act" if state["action"] else "decide"
