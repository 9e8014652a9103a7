"""naisei intent chat at a terminal: numbers, commands, kills, feedback that is seen and undone."""

import json
import os
import pty
import select
import signal
import subprocess
import sys

import pytest

from intent.corpus import write_index
from waiting import PATIENCE


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def environment(tmp_path):
    own = {"NAISEI_DATA": str(tmp_path / "data"), "NAISEI_LANG": "ja", "PYTHONIOENCODING": "utf-8"}
    return {**own, "TERM": "dumb"}


class Terminal:
    """A chat on a pseudo-terminal."""

    def __init__(self, index, environment, *more):
        self._end, other = pty.openpty()
        command = [sys.executable, "-m", "naisei", "intent", "chat", "--index", str(index), *more]
        self.process = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, env={**os.environ, **environment}
        )
        os.close(other)

    def until(self, wanted):
        """What is shown until `wanted` is."""
        seen = b""
        while wanted.encode() not in seen:
            assert select.select([self._end], [], [], PATIENCE)[0], seen.decode(errors="replace")
            try:
                seen += os.read(self._end, 65536)
            except OSError:  # the other end is closed
                break
        text = seen.decode(errors="replace")
        assert wanted in text, text
        return text

    def type(self, text):
        os.write(self._end, f"{text}\n".encode())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._end)


def test_a_talk_at_the_terminal_is_killed_and_goes_on(index, environment, naisei):
    chat = Terminal(index, environment, "--session", "me")
    try:
        chat.until("> ")
        chat.type("休暇について教えてください")
        assert "1. " in chat.until("> ")
    finally:
        chat.process.send_signal(signal.SIGKILL)
        chat.close()
    chat = Terminal(index, environment, "--session", "me")
    try:
        shown = chat.until("> ")
        assert "前回の続きです" in shown and "1. " in shown
        chat.type("看護休暇は、子が1人なら何日ですか")
        assert "年5日" in chat.until("> ")
        chat.type("/sources")
        assert "leave/nursing.md" in chat.until("> ")
        chat.type("/asked-too-much")
        chat.until("記録しました")
        chat.type("/quit")
        assert chat.process.wait(timeout=PATIENCE) == 0
    finally:
        chat.close()
    seen = json.loads(naisei("intent", "feedback", "--show", "--json", **environment).out)
    assert seen["thresholds"]["clarity"] == seen["default"]["clarity"] + 1
    assert seen["feedback"][0]["about"] == "休暇について教えてください"
    undone = json.loads(naisei("intent", "feedback", "--undo", "--json", **environment).out)
    assert undone["thresholds"] == undone["default"] and undone["feedback"] == []


def test_piped_lines_give_one_reply_each_as_json(index, environment, naisei):
    said = "休暇について\n看護休暇の日数です\n/new\n社長の趣味\n"
    done = naisei("intent", "chat", "--json", "--index", index, stdin=said, **environment)
    assert done.code == 0, done.err
    replies = done.objects
    assert [r["route"] for r in replies][:2] == ["ask", "search"]
    assert "看護休暇の日数" in replies[1]["query"] and replies[1]["query"].startswith(
        "休暇について"
    )
    assert replies[2]["dialogue"] == []


def test_a_models_answer_is_shown_sentence_by_sentence(index, environment, openai_server):
    right = {"text": "子が1人なら年5日です。", "sources": [1]}
    wrong = {"text": "子が1人なら年50日です。", "sources": [1]}
    later = {"text": "2人以上なら年10日です。", "sources": [1]}
    drafted = {"sentences": [right, wrong, later], "answerable": True}

    def reply(messages, schema):
        if "clarity" in json.dumps(schema):
            names = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")
            return json.dumps(dict(zip(names, (1, 1, 5, 1, 5), strict=True)))
        return json.dumps(drafted, ensure_ascii=False)

    server = openai_server(reply, pauses="年50日です")
    model = f"openai-compatible:t@{server.url}"
    chat = Terminal(index, environment, "--session", "said", "--model", model)
    try:
        chat.until("> ")
        chat.type("看護休暇の日数は？")
        assert "年10日" not in chat.until("子が1人なら年5日です。")  # the model is still writing
        server.release()
        rest = chat.until("> ")
        assert "年10日" in rest and "年50日" not in rest and "年5日です" not in rest
        assert "leave/nursing.md" in rest
    finally:
        chat.process.send_signal(signal.SIGKILL)
        chat.close()
