"""naisei intent ask, with models on a loopback server and without any."""

import json
from pathlib import Path

import pytest

from intent.corpus import write_index
from naisei.cli.flags import configurations
from naisei.core import InputError
from naisei.intent.chat import AskOptions, ask_command
from naisei.intent.system import ASSIST
from naisei.system.execute import RunOptions

GRADES = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    monkeypatch.setenv("NAISEI_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NAISEI_LANG", "ja")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def asked(index, capsys):
    """Asks in this process; returns the JSON reply."""

    def go(text, *, url="", name=None, **flags):
        model = {"model": f"openai-compatible:test@{url}"} if url else {}
        (config,) = configurations(ASSIST, index=str(index), **model, **flags).values()
        ask_command(config, RunOptions(), asked=AskOptions(text=text, session=name, as_json=True))
        return json.loads(capsys.readouterr().out)

    return go


def brain(evaluation, *, rewrite="", answer=None, wrong=()):
    """A model that evaluates so, with this standalone question, answers so, and finds these
    sentences wrong."""

    def reply(messages, schema):
        if "findings" in json.dumps(schema):
            found = [{"sentence": n, "problem": "別の人", "holds": False} for n in wrong]
            return json.dumps({"findings": found}, ensure_ascii=False)
        if "clarity" in json.dumps(schema):
            given = evaluation(messages) if callable(evaluation) else evaluation
            return given.replace("{", json.dumps({"question": rewrite})[:-1] + ", ", 1)
        return json.dumps(answer or {"answerable": False, "sentences": []}, ensure_ascii=False)

    return reply


def graded(*grades, missing="", worry=""):
    given = dict(zip(GRADES, grades, strict=True))
    return json.dumps({**given, "ask_missing_info": missing, "res_consultation": worry})


@pytest.mark.parametrize(
    ("evaluation", "case", "route"),
    [
        (graded(3, 1, 2, 5, 5, missing="m?", worry="w?"), 1, "ask"),
        (graded(3, 1, 5, 1, 5, missing="m?", worry="w?"), 2, "ask"),
        (graded(2, 1, 2, 1, 3), 3, "search"),
        (graded(1, 5, 1, 2, 5, worry="w?"), 4, "search"),
        (graded(1, 5, 2, 3, 5, worry="w?"), 5, "ask"),
        (graded(1, 1, 5, 1, 5, missing="m?", worry="w?"), 6, "search"),
    ],
)
def test_the_six_cases_through_a_server(openai_server, asked, evaluation, case, route):
    server = openai_server(brain(evaluation))
    reply = asked("看護休暇の日数は？", url=server.url)
    assert (reply["case"], reply["route"], reply["evaluator"]) == (case, route, "model")
    assert set(reply) >= {"case", "route", "message", "query", "answer", "citations", "evaluation"}
    assert not reply["failures"]
    if route == "ask":
        assert reply["message"] == {1: "w?", 2: "m?", 5: "w?"}[case]
        assert (reply["query"], reply["answer"], reply["citations"]) == ("", "", [])
    else:
        assert reply["query"] == "看護休暇の日数は？"


MALFORMED = [
    graded(0, 1, 1, 1, 1),
    graded(6, 1, 1, 1, 1),
    graded("高い", 1, 1, 1, 1),
    graded(None, 1, 1, 1, 1),
    "{}",
    "",
    "わかりました。評価は高いです。",
    "[1, 2",
]


@pytest.mark.parametrize("malformed", MALFORMED)
def test_a_malformed_reply_is_repaired_once_then_the_rules_take_over(
    openai_server, asked, malformed
):
    seen = []
    server = openai_server(brain(lambda messages: seen.append(1) or malformed))
    reply = asked("看護休暇の日数は何日ですか", url=server.url)
    assert reply["evaluator"] == "rules" and reply["failures"][0].startswith("evaluator")
    assert reply["message"] and reply["route"] in ("ask", "search")
    assert len(seen) == 2


def test_one_bad_evaluation_is_mended_by_the_repair(openai_server, asked):
    turns = iter([graded(0, 1, 1, 1, 1), graded(2, 1, 5, 1, 5, missing="何の休暇ですか？")])
    server = openai_server(brain(lambda messages: next(turns)))
    reply = asked("休暇について", url=server.url)
    assert (reply["case"], reply["message"]) == (2, "何の休暇ですか？")
    assert reply["evaluator"] == "model" and not reply["failures"]


def test_a_dialogue_is_rewritten_and_what_it_loses_is_seen(openai_server, asked, tmp_path):
    vague = graded(3, 1, 5, 1, 5, missing="何の休暇ですか？")
    clear = graded(1, 1, 5, 1, 5)

    def evaluation(messages):
        return vague if len(messages) == 2 else clear

    good = openai_server(brain(evaluation, rewrite="子どもが2人いる場合の看護休暇は何日ですか"))
    asked("休暇について", url=good.url, name="a")
    reply = asked("子どもが2人です。看護休暇は何日ですか", url=good.url, name="a")
    assert (reply["rewritten"], reply["query"]) == (
        "model",
        "子どもが2人いる場合の看護休暇は何日ですか",
    )
    assert [e["question"] for e in reply["dialogue"]] == ["何の休暇ですか？"]

    bad = openai_server(brain(evaluation, rewrite="休暇は何日ですか"))
    asked("休暇について", url=bad.url, name="b")
    reply = asked("子どもが2人です。看護休暇は何日ですか", url=bad.url, name="b")
    assert (
        reply["rewritten"] == "joined" and "看護休暇" in reply["query"] and "2人" in reply["query"]
    )
    assert reply["query"].startswith("休暇について")
    assert any("lost" in f for f in reply["failures"])


def test_no_model_is_called_to_rewrite_a_single_question(openai_server, asked):
    server = openai_server(brain(graded(1, 1, 5, 1, 5)))
    asked("看護休暇の日数は？", url=server.url)
    assert len(server.requests) == 2  # evaluator and answerer
    evaluating = server.requests[0]["messages"][-1]["content"]
    assert "今日: 20" in evaluating and "見つかった見出し" in evaluating


def test_an_answer_is_held_against_its_sources(openai_server, asked):
    answer = {
        "answerable": True,
        "sentences": [
            {"text": "看護休暇は子が1人なら年5日を取得できます。[1]", "sources": [1, 77]},
            {"text": "3人なら年30日です。", "sources": [1]},
            {"text": "社長に申請します。", "sources": []},
        ],
    }
    server = openai_server(brain(graded(1, 1, 5, 1, 5), answer=answer))
    reply = asked("看護休暇の日数は？", url=server.url)
    assert [u["sentence"] for u in reply["unsupported"]] == [
        "3人なら年30日です。",
        "社長に申請します。",
    ]
    # They give way to the passage.
    assert len(server.requests) == 3
    said, quote = reply["answer"].split("\n")
    assert said == "看護休暇は子が1人なら年5日を取得できます。[1]"
    assert "年10日" in quote and "年30日" not in quote and "2 文" in reply["message"]
    assert [c["n"] for c in reply["citations"]] == [1]
    assert reply["citations"][0]["path"] == "leave/nursing.md"
    assert "[77]" not in reply["answer"] and "[1][1]" not in reply["answer"]


def test_a_verifying_call_replaces_what_it_finds_wrong(openai_server, asked):
    said = "看護休暇は子が1人なら年5日を取得できます。"
    answer = {"answerable": True, "sentences": [{"text": said, "sources": [1]}]}
    server = openai_server(brain(graded(1, 1, 5, 1, 5), answer=answer, wrong=[1, 9]))
    reply = asked("看護休暇の日数は？", url=server.url)
    sent = server.requests[2]["messages"]
    assert len(server.requests) == 3 and f"1. {said} [1]" in sent[-1]["content"]
    assert [u["why"] for u in reply["unsupported"]] == ["別の人"]
    assert said not in reply["answer"] and "年10日" in reply["answer"]
    assert reply["band"] == "nearest" and "1 文" in reply["message"]
    off = asked("看護休暇の日数は？", url=server.url, verify=False)
    assert len(server.requests) == 5 and off["answer"] == f"{said}[1]"


def test_documents_are_data_between_delimiters_and_the_evaluator_has_headings_alone(
    openai_server, asked
):
    server = openai_server(brain(graded(1, 1, 5, 1, 5)))
    asked("看護休暇の日数は？", url=server.url)
    evaluating = json.dumps(server.requests[0], ensure_ascii=False)
    assert "小学校入学前" not in evaluating
    messages = server.requests[1]["messages"]
    assert all("年5日" not in m["content"] for m in messages if m["role"] == "system")
    assert any("年5日" in m["content"] and "<<<" in m["content"] for m in messages)


def test_without_a_model_a_vague_question_offers_topics_and_the_number_counts(asked):
    first = asked("休暇について教えてください", name="h")
    assert (first["route"], first["case"]) == ("ask", 2)
    wanted = next(n for n, o in enumerate(first["options"], 1) if o.startswith("看護休暇"))
    second = asked(str(wanted), name="h")
    if second["route"] == "ask":
        second = asked("日数です", name="h")
    assert second["route"] == "search"
    assert (
        second["query"].startswith("休暇について教えてください") and "看護休暇" in second["query"]
    )
    assert second["citations"][0]["path"] == "leave/nursing.md"


def test_never_the_same_question_and_never_more_than_the_budget(openai_server, asked):
    vague = graded(4, 1, 5, 1, 5, missing="もう少し詳しく？")
    same = openai_server(brain(vague))
    assert asked("あれ", url=same.url, name="same")["route"] == "ask"
    assert asked("うーん", url=same.url, name="same")["route"] == "search"

    def counting(messages):
        return graded(4, 1, 5, 1, 5, missing=f"質問 {len(messages)} です？")

    many = openai_server(brain(counting))
    routes = [asked("あれ", url=many.url, name="many")["route"]]
    routes += [asked(f"それです {n}", url=many.url, name="many")["route"] for n in range(3)]
    assert routes == ["ask", "ask", "ask", "search"]


def test_nothing_known_is_said_with_whom_to_ask(asked, tmp_path):
    contacts = tmp_path / "c.toml"
    contacts.write_text(
        '[[contact]]\ndepartment = "総務部"\naddress = "2000"\ntopics = ["駐輪場"]\n'
        '[[contact]]\ndepartment = "受付"\ndefault = true\n',
        encoding="utf-8",
    )
    reply = asked("駐輪場の月額はいくらですか", contacts=contacts)
    assert (reply["route"], reply["answer"], reply["evidence"]) == ("search", "", False)
    assert reply["contact"]["department"] == "総務部" and "総務部" in reply["message"]
    assert "見つかりません" in reply["message"]


def test_greetings_are_their_own_case_only_where_switched_on(asked):
    assert asked("こんにちは")["extended"] == "greeting"
    assert asked("こんにちは", extended="none")["extended"] is None


@pytest.mark.parametrize(
    ("flags", "place"),
    [
        ({"threshold": ["clarity=0"]}, "--threshold"),
        ({"threshold": ["mood=1"]}, "--threshold"),
        ({"threshold": ["clarity"]}, "--threshold"),
        ({"extended": "jokes"}, "--extended"),
        ({"contacts": Path("none.toml")}, "none.toml"),
    ],
)
def test_wrong_settings_are_one_message(asked, flags, place):
    with pytest.raises(InputError) as caught:
        asked("x", **flags)
    assert caught.value.place == place


def test_wrong_files_and_names_are_one_message(asked, tmp_path):
    bad = tmp_path / "p.toml"
    bad.write_bytes(b"\xff\xfe\x00")
    for given, place in (
        ({"profile": bad}, str(bad)),
        ({"user": "../x"}, "--user"),
        ({"name": "../x"}, "--session"),
    ):
        with pytest.raises(InputError) as caught:
            asked("x", **given)
        assert caught.value.place == place
    with pytest.raises(InputError):
        asked("   ")


def test_a_killed_step_goes_on_where_it_stood_and_pays_nothing_twice(
    openai_server, index, start, alone
):
    calls = []

    def evaluation(messages):
        calls.append(1)
        return graded(1, 1, 5, 1, 5)

    answer = {"answerable": True, "sentences": [{"text": "子が1人なら年5日です。", "sources": [1]}]}

    server = openai_server(brain(evaluation, answer=answer), holds=1)
    command = ["intent", "ask", "看護休暇の日数は？", "--json", "--index", index]
    command += ["--session", "k", "--model", f"openai-compatible:t@{server.url}"]
    first = start(*command)
    server.reached(2, first)
    first.kill()
    first.communicate()
    server.holds = None
    done = alone(*command)
    assert done.code == 0, done.err
    reply = done.result
    assert reply["answer"].startswith("子が1人なら年5日です。") and len(calls) == 1


def test_a_resumed_request_prints_its_answer(openai_server, index, asked, naisei, capsys):
    answer = {"answerable": True, "sentences": [{"text": "子が1人なら年5日です。", "sources": [1]}]}
    server = openai_server(brain(graded(1, 1, 5, 1, 5), answer=answer))
    first = asked("看護休暇の日数は？", url=server.url, name="again")
    calls = len(server.requests)
    told = naisei("runs", "resume", first["run_dir"])
    assert told.code == 0 and told.out.startswith(first["message"].splitlines()[0])
    assert "leave/nursing.md" in told.out and "asked_back" not in told.out
    line = json.loads(naisei("runs", "resume", first["run_dir"], "--json").out)
    assert line == first and len(server.requests) == calls
