"""Several processes of the server behind one address, on one database: sessions move between them,
and every line is answered once, whatever is killed."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.intent.config import AssistConfig
from naisei.intent.remembering import kept_in
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.people import erase, lines, open_log
from servers import postgres_server
from servers.assistant_process import (
    CLEAR,
    VAGUE,
    Talker,
    all_answered_once,
    served,
    workers,
)
from servers.intent_server import IntentServer
from waiting import until

TOKEN = "t" * 20


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["a process", "the database"])
def test_200_conversations_with_two_processes_of_which_one_is_killed(
    index: Path, tmp_path: Path, killed: str
) -> None:
    with postgres_server.running() as server:
        args = ("--index", str(index), "--state", str(tmp_path / "state"))
        with served(*args, "--store", server.url, "--workers", "2") as (process, url):
            talkers = [Talker(url) for _ in range(200)]
            with ThreadPoolExecutor(16) as pool:
                going = [pool.submit(talker.talk) for talker in talkers]
                until(lambda: sum(bool(talker.session) for talker in talkers) >= 60)
                # A server that waits for the database may answer all without an error.
                assert not all(each.done() for each in going)
                if killed == "a process":
                    os.kill(workers(process)[0], signal.SIGKILL)
                else:
                    server.kill()
                    server.start()
                said = [each.result() for each in going]
            all_answered_once(url, talkers, said)
            until(lambda: len(workers(process)) == 2)
        with closing(open_log(tmp_path / "state", server.url, read_only=True)) as log:
            assert not log.verified().damages
            for talker in talkers:
                asked = log.select(
                    "SELECT kind, count(*) FROM events WHERE instance = ? GROUP BY kind",
                    (talker.session,),
                )
                assert {k: n for k, n in asked if k in ("ask", "say")} == {"ask": 3, "say": 3}


def test_a_session_goes_on_at_another_server(index: Path, tmp_path: Path, postgres: Any) -> None:
    """With feedback and memory; a line that is sent again under its id is answered once; and all
    of a person's is erased."""
    store = postgres.database()

    def server() -> IntentServer:
        options = ServeOptions(state=tmp_path / "state", store=store, tokens={"aki": TOKEN})
        return IntentServer(options, AssistConfig(index=str(index)))

    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with server() as one, server() as two:
        first = {"message": VAGUE, "id": "1"}
        asked = one.post("/api/ask", first, **bearer).json()
        session = asked["session"]
        assert two.post("/api/ask", first, **bearer).json() == asked
        at = next(n for n, o in enumerate(asked["options"], 1) if "看護" in o)
        reply = {"message": str(at), "session": session, "id": "2"}
        answers = [s.post("/api/ask", reply, **bearer).json() for s in (two, one, two)]
        assert answers[0]["citations"][0]["path"] == "nursing.md"
        assert answers[0] == answers[1] == answers[2]
        turns = one.get(f"/api/session/{session}", **bearer).json()["turns"]
        assert [turn["said"] for turn in turns] == [VAGUE, str(at)]
        given = {"session": session, "sign": "too-much"}
        moved = one.post("/api/feedback", given, **bearer).json()["thresholds"]["clarity"]
        again = two.post("/api/feedback", given | {"sign": "undo"}, **bearer).json()
        assert again["thresholds"]["clarity"] == moved - 1
        with one.client(**bearer) as client:
            assert client.post("/api/memory").json()["remembers"]
        assert two.get("/api/memory", **bearer).json()["remembers"]
    assert not (tmp_path / "state").exists()
    with closing(open_log(tmp_path / "state", store)) as log:
        assert [line.question for line in lines(log)] == [VAGUE, str(at)]
        assert erase(tmp_path / "state", log, "aki", store) == 1
        assert log.get(f"talk:{session}") is None and log.read(f"{session}#0") == []
        assert [line.question for line in lines(log)] == ["", ""]
    assert not kept_in(tmp_path / "state", "user:aki", store).allowed


def test_two_lines_at_once_to_two_servers_come_one_after_the_other(
    index: Path, tmp_path: Path, postgres: Any
) -> None:
    options = ServeOptions(state=tmp_path / "state", store=postgres.database())
    config = AssistConfig(index=str(index))
    with IntentServer(options, config) as one, IntentServer(options, config) as two:
        session = one.post("/api/ask", {"message": CLEAR}).json()["session"]
        given = {"message": CLEAR, "session": session}
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(s.post, "/api/ask", given) for s in (one, two, one, two)]
            assert [each.result().status_code for each in asked] == [200] * 4
        turns = two.get(f"/api/session/{session}").json()["turns"]
        assert len(turns) == 5 and all(turn["reply"] for turn in turns)


def test_several_processes_need_a_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--store"):
        ServeOptions(state=tmp_path, workers=2)
