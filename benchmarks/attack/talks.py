"""kill -9 before writes of a server of pages while somebody talks: what was acknowledged is there
when the next server runs, no line is there twice, and the talk goes on.
"""

from __future__ import annotations

import http.client
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.attack.base import Attempt
from benchmarks.attack.writes import counting, killing, writes_seen_by

#: Seconds that a server may take to listen, and an answer to come.
_PATIENCE = 60.0
_SAYINGS = ("休暇について教えてください", "看護休暇の日数です", "出張の宿泊費の上限は？")


@contextmanager
def _serving(state: Path, kill_before: int | None, counted: Path | None = None) -> Iterator[int]:
    """The port of a server in a child process, which may kill itself."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.close(here)
        _serve(state, there, kill_before, counted)
    os.close(there)
    try:
        with os.fdopen(here, encoding="utf-8", errors="replace") as told:
            port, lines = 0, []
            for line in told:
                lines.append(line)
                if found := re.search(r"http://[^:]+:(\d+)", line):
                    port = int(found[1])
                    break
            if not port and kill_before is None:
                raise RuntimeError(f"the server does not start: {''.join(lines)[-500:]}")
            try:
                yield port
            except (_Gone, RuntimeError) as error:
                os.kill(child, signal.SIGTERM)  # not waited for yet: it is there, or a zombie
                raise RuntimeError(f"{error}; the server: {told.read()[-2_000:]}") from error
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


def _serve(state: Path, told: int, kill_before: int | None, counted: Path | None) -> None:
    try:
        os.dup2(told, 2)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        # The streams of this process may be of files, which a pipe does not behave like.
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
        os.environ["NAISEI_LANG"] = "en"
        from naisei.cli.main import main

        names: list[str] = []
        act = counting(names) if kill_before is None else killing(kill_before)
        with writes_seen_by(act), suppress(SystemExit):
            main(["serve", "--state", str(state), "--runs", str(state.parent), "--port", "0"])
        if counted is not None:
            counted.write_text("\n".join(names), "utf-8")
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(0)


class _Gone(Exception):
    """The server does not answer: it was killed."""


class Visitor:
    """Somebody who talks on the page of documents. kept: what was acknowledged."""

    def __init__(self) -> None:
        self.cookie = self.proof = self.address = self.step = ""
        self.kept: list[str] = []

    def visit(self, port: int) -> None:
        """Go on from where it was, to the end of what there is to say. Raises `_Gone`."""
        if not self.proof:
            head, page = self._asked(port, "GET", "/")
            cookie = re.search(r"naisei_visitor[^;]+", head.get("set-cookie", ""))
            proof = re.search(r'name="csrf" content="([^"]+)"', page)
            if cookie is None or proof is None:
                raise RuntimeError(f"no cookie: {head}")
            self.cookie, self.proof = cookie[0], proof[1]
        if not self.address:
            head, _ = self._asked(port, "POST", "/documents/new", shelf="handbook")
            self.address = head["hx-redirect"]
        for text in _SAYINGS[len(self.kept) :]:
            # As a page does: the same words to the same question until they are acknowledged.
            self.step = self.step or self._step(port, len(self.kept))
            id = self.address.rpartition("/")[2]
            self._asked(port, "POST", f"/conversations/{id}/answer", step=self.step, text=text)
            self.kept.append(text)
            self.step = ""
        self._step(port, len(_SAYINGS))

    def lines(self, port: int) -> tuple[list[str], int]:
        """What they said, and what was replied, as the page shows it."""
        _, page = self._asked(port, "GET", self.address)
        said = re.findall(r'<li class="line mine">(.*?)</li>', page, re.DOTALL)
        return [re.sub("<[^>]*>", "", each) for each in said], page.count('<li class="line">')

    def _step(self, port: int, replies: int) -> str:
        """Of the question that waits, once there are so many replies."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            _, page = self._asked(port, "GET", self.address)
            found = re.search(r'name="step" value="([^"]+)"', page)
            if found is not None and page.count('<li class="line">') == replies:
                return found[1]
            time.sleep(0.01)
        raise RuntimeError(f"no question after {replies} replies")

    def _asked(
        self, port: int, method: str, path: str, **fields: str
    ) -> tuple[dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
        headers = {"cookie": self.cookie, "x-csrf-token": self.proof}
        if fields:
            headers["content-type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, urlencode(fields) or None, headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise _Gone(str(error)) from error
        finally:
            connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status}: {body[-300:]}")
        return {name.lower(): value for name, value in answer.getheaders()}, body


def tried(before: Path, numbers: list[int]) -> str:
    """What is wrong after servers of this state were killed before these writes, one after
    another; empty if nothing is."""
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        state, visitor = Path(folder) / "state", Visitor()
        shutil.copytree(before, state)
        try:
            for number in numbers:
                with _serving(state, number) as port, suppress(_Gone):
                    if port:
                        visitor.visit(port)
            with _serving(state, None) as port:
                visitor.visit(port)
                said, replies = visitor.lines(port)
        except RuntimeError as error:
            return str(error)
        if replies != len(_SAYINGS) or said != list(_SAYINGS):
            return f"said {said}, {replies} replies"
    return ""


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        # The index of the handbook is made by the first who asks for it.
        state, counted = Path(folder) / "state", Path(folder) / "writes"
        with _serving(state, None) as port:
            Visitor().visit(port)
        with _serving(state, None, counted) as port:
            Visitor().visit(port)
        most = len(counted.read_text("utf-8").splitlines())
        while True:  # once at least: getting ready takes as long as some attempts
            numbers = [rng.randrange(most) for _ in range(rng.randint(1, 3))]
            why = tried(state, numbers)
            note = f"{numbers} of {most}: {why}"
            yield Attempt("kill -9: serve", "fell" if why else "held", bool(why), note)
            if time.monotonic() > until:
                return
