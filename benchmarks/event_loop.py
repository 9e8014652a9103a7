"""What the event loops of the servers compute at a stretch: `python -m benchmarks.event_loop`.

Each server runs as its command does, in a process whose loop tells how long each callback took of
the processor. Every page and every API is asked, also with the largest input that is allowed. The
table has the longest callback of each request; exit code 1 if one took longer than the bound.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from naisei.core import Event, Where
from naisei.lengths import MESSAGE, PASTED
from naisei.runs.log import RunLog

#: Seconds of the processor that a callback may take.
BOUND = 0.05
_DATA = Path(__file__).parents[1] / "src/naisei/data"


class _Longest:
    """Of the callbacks of this process's loops since it was last asked. where: the innermost lines
    of ours that were seen running in it."""

    def __init__(self) -> None:
        self.seconds, self.where = 0.0, ""
        self._began: tuple[float, int] | None = None
        self._seen = ""
        threading.Thread(target=self._look, daemon=True).start()

    def run(self, handle: Any, run: Any) -> None:
        began = time.thread_time()
        self._began, self._seen = (time.perf_counter(), threading.get_ident()), ""
        try:
            run(handle)
        finally:
            self._began = None
            took = time.thread_time() - began
            if took > self.seconds:
                self.seconds, self.where = took, self._seen

    def _look(self) -> None:
        while True:
            time.sleep(0.01)
            now = self._began
            if now is not None and time.perf_counter() - now[0] > BOUND / 2:
                frame = sys._current_frames().get(now[1])
                found = [
                    f"{Path(each.filename).name}:{each.lineno} {each.name}"
                    for each in traceback.extract_stack(frame)
                    if "naisei" in each.filename or "templates" in each.filename
                ]
                self._seen = " < ".join(reversed(found[-6:]))


def watch() -> _Longest:
    """From now on all callbacks of the event loops of this process are watched."""
    longest, run = _Longest(), asyncio.events.Handle._run  # type: ignore[attr-defined]
    asyncio.events.Handle._run = lambda handle: longest.run(handle, run)  # type: ignore[attr-defined]
    return longest


def watched(arguments: list[str]) -> None:
    """The command line, whose longest callback is told for each line on standard input."""
    longest = watch()

    def tell() -> None:
        for _ in sys.stdin:
            found = {"seconds": longest.seconds, "where": longest.where}
            longest.seconds, longest.where = 0.0, ""
            print(json.dumps(found), flush=True)

    threading.Thread(target=tell, daemon=True).start()
    from naisei.cli.main import main

    main(arguments)


class Watched:
    """A server: `url`, and what its loop did since it was last asked."""

    def __init__(self, *command: str) -> None:
        code = (
            "import sys; from benchmarks.event_loop import watched\n"
            "if __name__ == '__main__': watched(sys.argv[1:])"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, *command, "--port", "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "NAISEI_LANG": "en"},
            text=True,
        )
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := re.search(r"http://[^/\s]+", line):
                self.url = found[0]
                threading.Thread(target=self._process.stderr.read, daemon=True).start()
                return
        raise RuntimeError("the server did not start")

    def longest(self) -> tuple[float, str]:
        """Seconds of the processor, and where; since the last time."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return found["seconds"], found["where"]

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


Row = tuple[str, float, str]


class Asking:
    """A client of a server; each request is a row."""

    def __init__(self, server: Watched) -> None:
        self.server = server
        self.client = httpx2.Client(base_url=server.url, timeout=300, trust_env=False)
        self.rows: list[Row] = []

    def __call__(self, name: str, method: str, path: str, **given: Any) -> httpx2.Response:
        self.server.longest()
        answer = self.client.request(method, path, **given)
        self.row(f"{name} ({answer.status_code})")
        return answer

    def row(self, name: str) -> None:
        """What happened since the last request."""
        self.rows.append((name, *self.server.longest()))
        print(f"{self.rows[-1][1] * 1000:7.0f} ms  {name}  {self.rows[-1][2]}", flush=True)

    def settled(self, path: str, seen: str) -> str:
        """The page, once a text stands in it; as it is, where it never does."""
        until = time.monotonic() + 15
        while time.monotonic() < until:
            page = self.client.get(path).text
            if re.search(seen, page):
                return page
            time.sleep(0.05)
        return page


@contextmanager
def _serving(*command: str) -> Iterator[Asking]:
    server = Watched(*command)
    try:
        yield Asking(server)
    finally:
        server.close()


def _prose(size: int) -> str:
    """Text without repetition, as far as the handbook goes."""
    found = ""
    for path in sorted((_DATA / "handbook").rglob("*.md")):
        found += path.read_text("utf-8")
    return (found * (size // len(found) + 1))[:size]


_LONG = _prose(MESSAGE)


def _pages(folder: Path) -> list[Row]:
    state, runs = folder / "state", folder / "runs"
    _make_runs(runs)
    with _serving("serve", "--state", str(state), "--runs", str(runs)) as ask:
        page = ask("first look", "GET", "/").text
        proof = re.search(r'name="csrf" content="([^"]+)"', page)
        assert proof is not None
        ask.client.headers["x-csrf-token"] = proof[1]
        for path in ("/", "/home/runs", "/home/example/assistant", "/assistant", "/duo",
                     "/relationship", "/documents", "/games", "/emphasis", "/runs", "/runs/rows",
                     "/hand", "/enter"):  # fmt: skip
            ask(path, "GET", path)
            ask(f"{path} again", "GET", path)
        _of_runs(ask, runs)
        _emphasised(ask)
        _talked(ask, "/assistant", {"scene": "a025"}, r'name="step"')
        _documents(ask)
        game = {"kind": "easy", "number": "3", "agent": "planner", "mode": "play"}
        _talked(ask, "/games", game, r'name="step"')
        _talked(ask, "/games", {**game, "mode": "watch"}, r'class="line')
        ask.row("/games: watched")
        for page in ("/duo", "/relationship"):
            _talked(ask, page, {"script": "yes"}, r'class="line')
            ask.row(f"{page}: from beginning to end")
    return ask.rows


def _make_runs(runs: Path) -> None:
    runs.mkdir()
    shutil.copytree(_DATA / "recorded_runs", runs, dirs_exist_ok=True)
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-m", "naisei", "clarify", "run", "--agent", "random", "--seed", seed,
             "--run-dir", str(runs / f"large-{seed}"), "-q"],
            check=True, capture_output=True,
        )  # fmt: skip
    log = RunLog(runs / "large-1" / "log.sqlite")
    for n in range(1000):
        told = {"text": f"{n} " + "長い記録の文です。" * 200}
        log.append(Event(Where("long").at(n), "act", "d", told, f"{n} 番目の結果"))
    log.close()


def _of_runs(ask: Asking, runs: Path) -> None:
    names = sorted(str(each.parent.relative_to(runs)) for each in runs.rglob("config.json"))
    for name in names:
        with closing(RunLog(runs / name / "log.sqlite", read_only=True)) as log:
            episodes = log.known_episodes()
        for what in ("show", "episodes", "check", "costs", "row"):
            ask(f"/runs/{what}/{name}", "GET", f"/runs/{what}/{name}")
        for episode in episodes[-2:]:
            at = {"e": episode}
            ask(f"/runs/episode/{name} {episode}", "GET", f"/runs/episode/{name}", params=at)
            ask(f"/runs/prompt/{name} {episode}", "GET", f"/runs/prompt/{name}", params=at)
    two = {"run": ["large-1", "large-2"]}
    ask("/runs/compare", "GET", "/runs/compare", params=two)
    ask("/runs/compare/file", "GET", "/runs/compare/file", params=two)
    ask("/runs/aligned", "GET", "/runs/aligned", params={**two, "e": episodes[0]})


def _emphasised(ask: Asking) -> None:
    for name, text in (
        ("100,000 characters", _prose(PASTED // 3)),
        ("a short text", "設定の変更は重要です。"),
    ):
        fields = {"text": (None, text), "max_share": (None, "0.2"), "tagger": (None, "context")}
        ask(f"/emphasis/tag, {name}", "POST", "/emphasis/tag", files=fields)
    file = {"file": ("long.md", _prose(300_000).encode()), "max_share": (None, "0.2")}
    ask("/emphasis/tag, a file of 0.9 MB", "POST", "/emphasis/tag", files=file)


def _talked(ask: Asking, page: str, fields: dict[str, str], ready: str) -> None:
    """A conversation of a page: begun, answered at the longest, shown, followed."""
    answer = ask(f"{page}/new", "POST", f"{page}/new", data=fields)
    address = answer.headers.get("hx-redirect", "")
    if not address:
        print(f"   {page} was not begun: {answer.status_code}")
        return
    shown = ask.settled(address, ready)
    ask.row(f"{page}: until it asks")
    id = address.rpartition("/")[2]
    for name, text in (("4,000 characters", _LONG), ("a line", "はい")):
        step = re.search(r'name="step" value="([^"]+)"', shown)
        if step is None:
            break
        ask(f"{page}: {name}", "POST", f"/conversations/{id}/answer",
            data={"step": step[1], "text": text})  # fmt: skip
        shown = ask.settled(address, f'name="step" value="(?!{re.escape(step[1])}")|id="over"')
        ask.row(f"{page}: what comes of {name}")
    ask(f"{page}: shown", "GET", address)


def _documents(ask: Asking) -> None:
    files = [("file", ("large.txt", _prose(6_600_000).encode()[:19_900_000]))]
    ask("/documents/files, 20 MB", "POST", "/documents/files", files=files)
    _talked(ask, "/documents", {"shelf": "handbook"}, r'name="step"')
    _talked(ask, "/documents", {"shelf": "own"}, r'name="step"')
    answer = ask("/documents/new", "POST", "/documents/new", data={"shelf": "handbook"})
    address = answer.headers["hx-redirect"]
    id, before = address.rpartition("/")[2], ""
    for _ in range(60):
        page = ask.settled(address, f'name="step" value="(?!{re.escape(before)}")')
        step = re.search(r'name="step" value="([^"]+)"', page)
        assert step is not None
        before = step[1]
        given = {"step": before, "text": "経費の精算について詳しく教えてください。" * 20}
        ask.client.post(f"/conversations/{id}/answer", data=given)
    ask.settled(address, f'name="step" value="(?!{re.escape(before)}")')
    ask.row("/documents: 60 lines in a row")
    ask("/documents: a page of 60 lines", "GET", address)
    ask("/documents: the run of 60 lines", "GET", f"/runs/of/{id}")
    with ask.client.stream("GET", f"/conversations/{id}/events") as stream:
        for n, _ in enumerate(stream.iter_lines()):
            if n > 200:
                break
    ask.row("/documents: events of 60 lines")
    for _ in range(200):
        ask.client.post(f"{address}/feedback", data={"sign": "good"})
    ask.row("/documents: 200 signs of feedback")


def _assistant(folder: Path) -> list[Row]:
    index = folder / "index"
    subprocess.run(
        [sys.executable, "-m", "naisei", "intent", "index", "handbook", "--index", str(index),
         "--embedder", "fast"],
        check=True, capture_output=True,
    )  # fmt: skip
    command = ("intent", "serve", "--index", str(index), "--state", str(folder / "sessions"))
    with _serving(*command) as ask:
        ask("/health", "GET", "/health")
        for name, text in (("a question", "出張の宿泊費の上限は？"), ("4,000 characters", _LONG)):
            said = {"message": text}
            answer = ask(f"/api/ask, {name}", "POST", "/api/ask", json=said).json()
            ask(f"/api/ask/stream, {name}", "POST", "/api/ask/stream", json=said)
            again = {**said, "session": answer.get("session")}
            ask(f"/api/ask, {name}, again", "POST", "/api/ask", json=again)
            ask(f"/api/session, {name}", "GET", f"/api/session/{answer.get('session')}")
            chat = {"model": "x", "messages": [{"role": "user", "content": text}]}
            ask(f"/v1/chat/completions, {name}", "POST", "/v1/chat/completions", json=chat)
        for count, long in ((500, 300), (60, 3_900), (9, 30_000)):
            turn = [
                {"role": "user", "content": _prose(long)},
                {"role": "assistant", "content": f"{_prose(long - 9)}ですか？"},
            ]
            messages = [*turn * (count // 2), {"role": "user", "content": "休暇は？"}]
            ask(f"/v1/chat/completions, {count} messages of {long:,}", "POST",
                "/v1/chat/completions", json={"model": "x", "messages": messages})  # fmt: skip
        head = {"content-type": "application/json"}
        bodies = {
            "brackets": b'{"messages": ' + b"[" * 490_000 + b"]" * 490_000 + b"}",
            "objects": json.dumps({"messages": [{}] * 240_000}).encode(),
            "short messages": json.dumps(
                {"messages": [{"role": "user", "content": "あ"}] * 18_000}
            ).encode(),
            "messages in turn": json.dumps(
                {"messages": [{"role": r, "content": "あ"} for r in ("user", "assistant")] * 9_000}
            ).encode(),
            "parts": json.dumps(
                {"messages": [{"role": "user", "content": [{}] * 240_000}]}
            ).encode(),
            "texts": json.dumps({"messages": ["あ" * 9] * 15_000}).encode(),
            "digits": b'{"messages": ' + b"9" * 980_000 + b"}",
        }
        for name, body in bodies.items():
            ask(f"/v1/chat/completions, {len(body):,} bytes of {name}", "POST",
                "/v1/chat/completions", content=body, headers=head)  # fmt: skip
        keys = json.dumps({f"k{n}": n for n in range(55_000)}).encode()
        ask("/api/ask, 1 MB of keys", "POST", "/api/ask", content=keys, headers=head)
        ask("/api/memory", "GET", "/api/memory")
        ask("/v1/models", "GET", "/v1/models")
    return ask.rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.event_loop")
    parser.add_argument("servers", nargs="*", help="pages, assistant")
    parser.add_argument("--top", type=int, default=25)
    given = parser.parse_args()
    rows: list[Row] = []
    for name, measured in (("pages", _pages), ("assistant", _assistant)):
        if not given.servers or name in given.servers:
            with tempfile.TemporaryDirectory(prefix="naisei-loop-") as folder:
                rows += measured(Path(folder))
    print(f"\n{len(rows)} rows; longest callback of the event loop, ms of the processor:")
    for name, seconds, where in sorted(rows, key=lambda row: -row[1])[: given.top]:
        print(f"{seconds * 1000:7.0f}  {name:50} {where}")
    late = [row for row in rows if row[1] > BOUND]
    print(json.dumps({"rows": len(rows), "over": len(late), "bound_ms": BOUND * 1000}))
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())
