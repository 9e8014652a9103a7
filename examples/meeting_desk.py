"""会議の窓口：依頼が曖昧なら聞き返してから動く LangGraph のアプリ。

    python examples/meeting_desk.py openai:gpt-4.1-mini

A desk for meeting rooms that asks before it acts: a LangGraph app of two actions.
"""

from __future__ import annotations

import sys
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from naisei.doors import Request, ask_before_act
from naisei.doors.langgraph import clarify_graph


def book(request: Request) -> str:
    return f"予約しました（{request.text}）"


def cancel(request: Request) -> str:
    return f"取り消しました（{request.text}）"


def main(model: str) -> None:
    desk = ask_before_act(
        {"会議室を予約する": book, "予約を取り消す": cancel}, model=model, language="ja"
    )
    graph = clarify_graph(desk).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "desk"}}
    state: Any = graph.invoke({"request": input("ご用件は？ ")}, thread)
    while stopped := state.get("__interrupt__"):
        state = graph.invoke(Command(resume=input(f"{stopped[0].value['question']} ")), thread)
    print(state["result"] or "何もしませんでした")


if __name__ == "__main__":
    main(sys.argv[1])
