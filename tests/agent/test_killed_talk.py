"""Killed three times in a conversation of twelve turns: nothing is repeated, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from naisei.core import Event
from naisei.runs.conversation import recorded
from naisei.runs.directory import open_log
from waiting import until

TURNS = (
    *("おはよう", "リモコンを取ってきて", "ありがとう", "名前は何ですか", "スマホを持ってきて"),
    *("助かった", "料理はできる？", "グラスを持ってきて", "今日は疲れた", "コップを片付けて"),
    *("お菓子を持ってきて", "またね"),
)


def events_of(run: Path) -> list[Event]:
    with closing(open_log(run, read_only=True)) as log:
        return [event for part in recorded(log, "conversation") for event in part]


def test_killed_three_times(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "naisei", "talk", "--run-dir", str(run)]
    environment = {**os.environ, "NAISEI_DATA": str(tmp_path), "PYTHONUNBUFFERED": "1"}

    def answered() -> int:
        if not (run / "config.json").exists():
            return 0
        return sum(
            e.kind == "say" and e.request["speaker"] != "thought"  # type: ignore[index,call-overload]
            for e in events_of(run)
        )

    for end in (4, 7, 10, 12):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        assert process.stdin is not None
        for turn in TURNS[answered() : end]:
            before = answered()
            process.stdin.write(turn + "\n")
            process.stdin.flush()
            until(lambda before=before: answered() > before)  # type: ignore[misc]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    events = events_of(run)
    heard = [e.result for e in events if e.kind == "ask" and not e.request["question"]]  # type: ignore[index,call-overload]
    assert heard == [*TURNS]
    brought = [e.result["text"] for e in events if e.kind == "act"]  # type: ignore[index,call-overload]
    assert brought == [
        "リモコンを持ってくる",
        "スマホを持ってくる",
        "グラスを持ってくる",
        "コップを片付ける",
        "お菓子を持ってくる",
    ]
    assert answered() == len(TURNS)
