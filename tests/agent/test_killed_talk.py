"""Killed three times in a conversation of twelve turns: nothing is repeated, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from agent.talking import done, recorded_events
from waiting import until

TURNS = (
    *("おはよう", "リモコンを取ってきて", "ありがとう", "名前は何ですか", "スマホを持ってきて"),
    *("助かった", "料理はできる？", "グラスを持ってきて", "今日は疲れた", "コップを片付けて"),
    *("お菓子を持ってきて", "またね"),
)


def test_killed_three_times(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "naisei", "talk", "--run-dir", str(run)]
    environment = {**os.environ, "NAISEI_DATA": str(tmp_path), "PYTHONUNBUFFERED": "1"}

    def answered() -> int:
        if not (run / "config.json").exists():
            return 0
        return sum(
            e.kind == "say" and e.request["speaker"] != "thought"  # type: ignore[index,call-overload]
            for e in recorded_events(run)
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
    events = recorded_events(run)
    heard = [e.result for e in events if e.kind == "ask" and not e.request["question"]]  # type: ignore[index,call-overload]
    assert heard == [*TURNS]
    assert done(events) == [
        "リモコンを持ってくる",
        "スマホを持ってくる",
        "グラスを持ってくる",
        "コップを片付ける",
        "お菓子を持ってくる",
    ]
    assert answered() == len(TURNS)
