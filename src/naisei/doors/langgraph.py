"""LangGraph: clarify's policy as nodes. A question to the user is an interrupt; resume is theirs.

Two nodes and an action: `decide` writes its question into the state, `ask` interrupts with it.
A node that is resumed is run again from its start, so no model is called in the one that
interrupts: what was decided is in LangGraph's checkpoint.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from naisei.doors.acting import AskBeforeAct
from naisei.doors.exchange import Question


class ClarifyState(TypedDict, total=False):
    """request: what the user wants, given by the caller. asked: (question, answer), oldest first.
    question: to be asked now, empty when decided. action, result: what was done."""

    request: str
    asked: list[tuple[str, str]]
    question: str
    action: str
    result: Any


def clarify_graph(desk: AskBeforeAct[Any]) -> StateGraph[ClarifyState, None, Any, Any]:
    """`decide` → `ask` (interrupts with the question, resumed with the answer) → `decide` → `act`.

    To be compiled with your checkpointer, or compiled and used as a node of your graph. Actions
    are called in the node `act`, plain or async: with async ones use `ainvoke` or `astream`.
    """

    async def adecide(state: ClarifyState) -> ClarifyState:
        return _decided(await desk.adecide(state["request"], _asked(state)))

    def decide(state: ClarifyState) -> ClarifyState:
        return _decided(desk.decide(state["request"], _asked(state)))

    def ask(state: ClarifyState) -> ClarifyState:
        answer = str(interrupt(state["question"]))
        return {"asked": [*_asked(state), (state["question"], answer)], "question": ""}

    def act(state: ClarifyState) -> ClarifyState:
        return {"result": desk.act(state["action"], state["request"], _asked(state))}

    async def aact(state: ClarifyState) -> ClarifyState:
        return {"result": await desk.aact(state["action"], state["request"], _asked(state))}

    graph = StateGraph(ClarifyState)
    graph.add_node("decide", RunnableLambda(decide, adecide))
    graph.add_node("ask", ask)
    graph.add_node("act", RunnableLambda(act, aact))
    graph.add_edge(START, "decide")
    graph.add_conditional_edges("decide", _next, ["ask", "act"])
    graph.add_edge("ask", "decide")
    graph.add_edge("act", END)
    return graph


def _asked(state: ClarifyState) -> list[tuple[str, str]]:
    # A checkpoint may give tuples back as lists.
    return [(question, answer) for question, answer in state.get("asked", [])]


def _decided(found: Any) -> ClarifyState:
    if isinstance(found, Question):
        return {"question": found.text, "action": ""}
    return {"question": "", "action": found.action}


def _next(state: ClarifyState) -> Literal["ask", "act"]:
    return "ask" if state["question"] else "act"
