"""naisei director talk: runs on a loopback server, killed and resumed; a judge that fails."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Alone, Naisei, Start
from naisei.director.schemas import TalkResult
from naisei.runs.log import RunLog
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]

_YANA = ("えー！それ、ほんと？", "やだ、別居してるのに？", "「そっか！！洗濯かも」", "うーん。")
_AYU = (
    "つまり、晴れるでしょう。",
    "あなたは天才です。素敵です。",
    "洗濯の目安は午前ですよ。",
    "うん",
)


def brain(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Speaker and judge: what they say hangs on nothing but the conversation."""
    told = json.dumps(messages, ensure_ascii=False, sort_keys=True)
    draw = hashlib.sha256(told.encode()).digest()
    if schema is not None:
        aspects = ("frame", "roleplay", "connection", "density", "naturalness")
        return json.dumps({a: 3 + draw[i] % 3 for i, a in enumerate(aspects)} | {"comment": "短く"})
    lines = _AYU if "「あゆ」の次の発言" in messages[-1]["content"] else _YANA
    return lines[draw[0] % 4]


def flags(server: OpenAIServer, run: Path, *more: Any) -> list[str]:
    model = f"openai-compatible:test@{server.url}"
    given = ["director", "talk", "--topic", "洗濯", "--scene", "雨の日の居間", "--model", model]
    return [*given, "--run-dir", str(run), "--json", "--quiet", *map(str, more)]


def results(run: Path) -> list[TalkResult]:
    rows = [json.loads(line) for line in (run / "results.jsonl").read_text("utf-8").splitlines()]
    return [TalkResult.model_validate(row["result"]) for row in rows]


def asked(server: OpenAIServer) -> list[str]:
    return [json.dumps(r["messages"], ensure_ascii=False) for r in server.requests]


def logged(run: Path) -> Counter[str]:
    """How often each conversation was answered and logged."""
    log = RunLog(run / "log.sqlite", read_only=True)
    found = Counter(
        json.dumps(event.request["messages"], ensure_ascii=False)
        for episode in log.known_episodes()
        for event in log.read(episode)
        if event.kind == "chat" and isinstance(event.request, dict)
    )
    log.close()
    return found


def last(done: Any) -> Any:
    return json.loads(done.out.splitlines()[-1])


@pytest.mark.slow
def test_killed_twice_and_resumed_it_is_as_if_nothing_had_been(
    openai_server: Serve, alone: Alone, start: Start, tmp_path: Path
) -> None:
    calm, whole, run = openai_server(brain), tmp_path / "whole", tmp_path / "run"
    first = alone(*flags(calm, whole, "--turns", 12, "--talks", 2))
    assert first.code == 0, first.err
    assert any(turn.drafts[1:] for talk in results(whole) for turn in talk.turns)
    server = openai_server(brain)
    kept = []
    for moment in (7, 19):
        server.holds = moment
        process = start(*flags(server, run, "--turns", 12, "--talks", 2))
        server.reached(moment + 1, process)
        process.kill()
        process.communicate()
        server.left()
        kept.append((server.calls, logged(run)))
    server.holds = None
    again = alone("runs", "resume", run, "--json", "--quiet")
    assert again.code == 0, again.err
    came, held = kept[-1]
    # Two talks may ask the same, so conversations are counted: what was answered and logged
    # before the last kill, and what was asked after it, make up the whole, no more and no less.
    assert held and held + Counter(asked(server)[came:]) == Counter(asked(calm))
    assert server.calls <= calm.calls + 2 * len(kept), "only calls in flight are made again"
    assert (run / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()
    assert last(again)["metrics"] == last(first)["metrics"]


@pytest.mark.parametrize(
    "answer", ["すばらしい発言です。", '{"frame": 7, "roleplay": 4}', "", '{"frame": 4']
)
def test_a_judge_that_fails_has_its_own_column(
    openai_server: Serve, naisei: Naisei, tmp_path: Path, answer: str
) -> None:
    def half(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        return answer if schema is not None else brain(messages, None)

    server, run = openai_server(half), tmp_path / "run"
    done = naisei(*flags(server, run, "--turns", 4))
    assert done.code == 0, done.err
    result = last(done)
    assert result["n"] == 1 and result["n_unscored"] == 0
    assert result["metrics"]["judge_failures"] == 1.0
    assert result["metrics"]["judge_mean"] is None
    (talk,) = results(run)
    put = [draft for turn in talk.turns for draft in turn.drafts if draft.judge_failure]
    assert put and not any(draft.judged for turn in talk.turns for draft in turn.drafts)
    assert all(turn.outcome == "said" for turn in talk.turns if turn.draft in put)
    stored = json.loads((run / "results.jsonl").read_text("utf-8"))["result"]["turns"]
    assert [turn["judged"] for turn in stored] == [False] * 4
    assert "judge failures" in (run / "report.html").read_text("utf-8")
    mends = [r for r in server.requests if any("使えませんでした。理由" in m["content"] for m in r["messages"] if m["role"] == "user")]  # noqa: E501  # fmt: skip
    assert mends, "the judge was asked once more"
    judging = [r for r in server.requests if "frame" in json.dumps(r, ensure_ascii=False)]
    assert len(judging) == 2 * len(put), "asked and repaired once, no more"


def test_metrics_and_the_report(openai_server: Serve, naisei: Naisei, tmp_path: Path) -> None:
    server, run = openai_server(brain), tmp_path / "run"
    done = naisei(*flags(server, run, "--turns", 10, "--repeats", 2))
    metrics = last(done)["metrics"]
    (talk,) = results(run)
    turns = talk.turns
    assert metrics["pass_rate"] == sum(t.status in ("PASS", "MODIFY") for t in turns) / 10
    assert metrics["warn_rate"] == sum(t.status == "WARN" for t in turns) / 10
    assert metrics["retries_per_turn"] == pytest.approx(sum(len(t.drafts) - 1 for t in turns) / 10)
    assert metrics["judge_spread"] is not None and metrics["judge_failures"] == 0.0
    page = (run / "report.html").read_text("utf-8")
    assert "Drafts by check" in page and "setting" in page
    assert [line.text for line in talk.state.history] == [t.text for t in turns if t.text]
    assert naisei("runs", "show", run, "--episode", "talk#1").code == 0


def test_a_writer_that_fails_leaves_the_talk_unscored(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server, run = openai_server(lambda messages, schema: ""), tmp_path / "run"
    done = naisei(*flags(server, run, "--turns", 2))
    assert last(done)["n_unscored"] == 1 and last(done)["metrics"]["pass_rate"] is None


def test_without_a_model_it_says_which_to_give(naisei: Naisei, tmp_path: Path) -> None:
    done = naisei("director", "talk", "--topic", "洗濯", "--turns", 2)
    assert done.code == 2 and "--model" in done.err and "scripted:" in done.err
    assert list(tmp_path.iterdir()) == []
    done = naisei("director", "talk", "--topic", "洗濯", "--speaker-model", "scripted:x.jsonl")
    assert done.code == 2 and "--no-judge" in done.err


def test_a_scripted_model_and_a_person(alone: Alone, tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_text('{"reply": "別居してるかも！"}\n', "utf-8")
    talk = ["director", "talk", "--topic", "洗濯", "--turns", "2", "--model", "scripted:w.jsonl"]
    person = [*talk, "--no-judge", "--policy", "person", "--run-dir", "run"]
    gone = alone(*person, stdin="そうねえ。\n")
    assert gone.code == 2 and "nobody answered" in gone.err
    done = alone("runs", "resume", "run", "--json", stdin="はい。\n")
    assert done.code == 0, done.err
    (result,) = results(tmp_path / "run")
    assert [(t.outcome, t.text) for t in result.turns] == [
        ("person", "そうねえ。"),
        ("person", "はい。"),
    ]
    assert "別居してるかも！  [RETRY]" in gone.out
    refused = alone(*talk, "--no-judge", "--policy", "refuse", "--run-dir", "refused", "--json")
    assert last(refused)["metrics"]["silent_rate"] == 1.0


MARA = """
schema = "naisei.character.v1"
id = "mara"
names = ["Mara"]
persona = "Captain of a freight ship."
[[setting]]
fact = "She has no house on land"
contradicted_by = ["my house"]
"""


@pytest.mark.parametrize(
    ("cast", "topic", "given", "spoken"),
    [
        (["mara.toml"], "stores", [], "en"),
        (["mara.toml"], "洗濯", [], "ja"),
        (["mara.toml", "yana"], "stores", [], "ja"),
        (["mara.toml"], "stores", ["--talk", "ja"], "ja"),
    ],
)
def test_the_talk_is_in_the_language_of_its_characters_and_topic(
    naisei: Naisei, tmp_path: Path, cast: list[str], topic: str, given: list[str], spoken: str
) -> None:
    (tmp_path / "mara.toml").write_text(MARA, "utf-8")
    (tmp_path / "w.jsonl").write_text('{"reply": "It is at my house."}\n', "utf-8")
    who = [part for name in cast for part in ("--character", name)]
    talk = ["director", "talk", "--topic", topic, "--turns", "1", "--no-judge", *who, *given]
    done = naisei(*talk, "--model", "scripted:w.jsonl", "--run-dir", "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text("utf-8"))["config"]
    assert config["rules"]["language"] == spoken
    assert "This contradicts the setting" in done.out, "the screen follows the user's language"
    (result,) = results(tmp_path / "run")
    told = result.turns[0].drafts[0].checks[0].reason
    assert told.startswith("This" if spoken == "en" else "設定"), "the writer's is the talk's"


def test_a_changed_profile_is_refused(naisei: Naisei, tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_text('{"reply": "えー！ほんと？"}\n', "utf-8")
    profile = tmp_path / "own.toml"
    profile.write_text(naisei("director", "characters", "show", "yana").out, "utf-8")
    talk = ["director", "talk", "--topic", "洗濯", "--turns", "1", "--no-judge", "--character"]
    talk += ["own.toml", "--model", "scripted:w.jsonl", "--run-dir", "run"]
    assert naisei(*talk).code == 0
    profile.write_text(profile.read_text("utf-8").replace("やな。姉。", "やな。長女。"), "utf-8")
    done = naisei(*talk)
    assert done.code == 2 and "changed since" in done.err
    assert naisei(*talk[:-2], "--character", "yana").code == 2, "two of one id"


def test_the_demonstration_shows_the_verdicts(naisei: Naisei, tmp_path: Path) -> None:
    done = naisei("director", "demo", "--run-dir", tmp_path / "demo")
    assert done.code == 0, done.err
    for shown in ("[PASS · ", "[MODIFY · ", "[WARN · ", "[RETRY]"):
        assert shown in done.out, shown
    assert "from a script" in done.out and "8 drafts for 5 lines" in done.out
    # A draft that is said as it stands is shown once.
    assert done.out.count("じゃあ扇風機、持ってくるわ") == 1
    assert done.out.count("一人暮らしなので") == 1
