"""The evaluation: items, gold passages, the simulated user, metrics, runs and ablations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.cli.derived import ablation
from naisei.core import AskUser, Evidence, InputError, Where
from naisei.intent.config import EvalConfig
from naisei.intent.evaluation.flow import ItemResult
from naisei.intent.evaluation.items import Fact, Gold, Item, first_rank, holds, load_items, ranks
from naisei.intent.evaluation.metrics import recall_at, reciprocal_rank
from naisei.intent.evaluation.users import (
    Person,
    leaked,
    nearest,
    offered,
    simulated_user,
)
from naisei.intent.rules import Contacts, Entry
from naisei.intent.schemas import Exchange
from naisei.intent.system import EVAL
from naisei.runs.directory import RunDirectory
from naisei.system.execute import RunOptions
from servers.intent_server import indexed

VAGUE = Item(
    id="v1",
    kind="vague",
    text="休暇について教えてください",
    gold=(Gold(path="special.md", quote="本人が結婚するときは5日の休暇を取れる。"),),
    intent="結婚するときに何日休めるか知りたい",
    facts=(
        Fact(about="理由", says="来月結婚します"),
        Fact(about="知りたいこと", says="何日休めるか"),
        Fact(about="勤続年数", says="3年目です"),
    ),
)
APPLY = Item(
    id="v2",
    kind="vague",
    text="休暇について教えてください",
    gold=(
        Gold(
            path="annual.md",
            quote="年次有給休暇は、取得日の3営業日前までに勤怠システムから申請する。",
        ),
    ),
    intent="年次有給休暇の申請の期限を知りたい",
    facts=(
        Fact(about="休暇の種類", says="年次有給休暇です"),
        Fact(about="知りたいこと", says="申請は何日前までか"),
    ),
)
CLEAR = Item(
    id="c1",
    kind="clear",
    text="国内出張の宿泊費の上限はいくらですか",
    gold=(Gold(path="travel.md", quote="国内出張の宿泊費は一泊12,000円を上限とする。"),),
)
NOBODY = Item(id="u1", kind="unanswerable", text="社長の愛犬の名前は何ですか", ask="総務部総務課")
WORRY = Item(
    id="w1",
    kind="consultation",
    text="部下とうまくいかず悩んでいます",
    intent="だれかに相談したい",
    facts=(Fact(about="状況", says="よく言い合いになります"),),
)


def _file(folder: Path, *items: Item) -> Path:
    path = folder / "items.jsonl"
    lines = (item.model_dump_json(exclude_defaults=True) for item in items)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# --- items and gold passages ---------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "no JSON"),
        ('{"id": "a", "kind": "odd", "text": "x"}', "kind"),
        ('{"id": "a", "kind": "clear", "text": "x"}', "gold"),
        ('{"id": "a", "kind": "clear", "text": "x", "gold": [{"path": "p"}]}', "gold.0.quote"),
        ('{"id": "a", "kind": "unanswerable", "text": " "}', "blank"),
        ('{"id": "ok", "kind": "unanswerable", "text": "x"}', "line 1"),
        ('{"id": "a", "kind": "unanswerable", "text": "x", "more": 1}', "more"),
    ],
)
def test_a_bad_item_is_one_message_with_its_line(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    good = '{"id": "ok", "kind": "unanswerable", "text": "x"}'
    path.write_text(f"{good}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_items(str(path))
    assert error.value.place == f"{path}:3" and said in str(error.value)


def test_the_bundled_items_can_be_loaded_and_drawn_from() -> None:
    items = load_items("handbook")
    few = load_items("handbook", limit=8)
    assert len(few) == 8 and len({i.kind for i in few}) == 4
    assert few == load_items("handbook", limit=8)
    assert [i.id for i in few] == [i.id for i in items if i in few]
    with pytest.raises(InputError, match="no such file"):
        load_items("not-there.jsonl")


def test_a_chunk_holds_a_passage_whatever_its_layout() -> None:
    gold = Gold(path="a.pdf", quote="本人の結婚 5日 入籍日から6か月以内")

    def chunk(text: str, path: str = "a.pdf") -> Evidence:
        return Evidence(id="x", text=text, score=1.0, meta={"path": path})

    assert holds(chunk("| 事由 | 日数 |\n| 本人の結婚 | ５日 | 入籍日から６か月以内 |"), gold)
    assert holds(chunk("…本人の結\n婚 5日 入籍日から6か月"), gold)  # cut within it
    assert not holds(chunk("本人の結婚 5日 入籍日から6か月以内", "b.pdf"), gold)
    assert not holds(chunk("子の結婚 2日 入籍日から1か月以内"), gold)
    found = [chunk("別の話"), chunk("本人の結婚 5日 入籍日から6か月以内")]
    assert ranks(found, (gold, Gold(path="a.pdf", quote="どこにもない文"))) == (2, None)


def test_measures_by_hand() -> None:
    assert first_rank((None, 4, 2)) == 2 and first_rank((None,)) is None
    assert [recall_at((None, 4), k) for k in (1, 3, 5)] == [0.0, 0.0, 1.0]
    assert reciprocal_rank((4, None)) == 0.25 and reciprocal_rank((None,)) == 0.0


# --- the simulated user --------------------------------------------------------------


def _says(item: Item, *questions: str) -> list[str]:
    person = Person(item)
    return [person.perform(AskUser(q), Where()) for q in questions]


def test_the_person_takes_the_topic_that_is_meant() -> None:
    question = "どれですか。\n1. 慶弔休暇 › 忌引\n2. 年次有給休暇 › 申請\n3. 慶弔休暇 › 結婚"
    assert offered(question)[2] == "慶弔休暇 › 結婚"
    assert _says(VAGUE, question) == ["3"]


def test_the_person_says_when_none_fits_or_uses_own_words() -> None:
    topics = "\n1. 会議室の予約\n2. 名刺の発注"
    assert _says(VAGUE, f"どれですか。{topics}") == ["その中にはありません。"]
    told = _says(VAGUE, f"知りたいことはどれですか。番号か、ご自分の言葉で。{topics}")
    assert told == ["来月結婚します。何日休めるか。"]


def test_the_person_answers_what_is_asked_once() -> None:
    years = "勤続年数は何年ですか"
    said = _says(VAGUE, years, years, "もう少し詳しく", "ほかには？", "ほかには？")
    nothing = "特にありません。"
    assert said == ["3年目です。", nothing, "来月結婚します。", "何日休めるか。", nothing]


def test_what_the_person_says_is_in_the_item_or_was_offered() -> None:
    for item in load_items("handbook"):
        questions = ["もう少し詳しく教えてください。", "知りたいことは？", "いつのことですか"]
        own = {f.says.strip() for f in item.facts} | {"特にありません", ""}
        for said in _says(item, *questions):
            assert all(any(p in f or f in p for f in own) for p in said.split("。"))
        answers = zip(questions, _says(item, *questions), strict=True)
        assert leaked(item, [Exchange(question=q, answer=a) for q, a in answers]) == ()


def test_a_user_that_quotes_the_passage_is_caught() -> None:
    exchange = Exchange(question="どの休暇ですか", answer="本人が結婚するときは5日の休暇を取れる")
    item = VAGUE.model_copy(update={"intent": "休みたい", "facts": (Fact(about="a", says="b"),)})
    assert "結婚" in leaked(item, [exchange])
    assert leaked(VAGUE, [Exchange(question="x", answer="来月結婚します")]) == ()


def test_nothing_is_near_where_all_options_say_the_same() -> None:
    assert nearest(["休暇", "休暇"], "休暇のこと") is None
    assert nearest(["休暇 › 結婚", "休暇 › 忌引"], "葬式で休みたい") is None


def test_the_unknowing_user_knows_nothing_but_how_many_there_are() -> None:
    user = simulated_user("unknowing", VAGUE, seed=1)
    question = "どれですか。\n1. あ\n2. い\n3. う"
    said = user.perform(AskUser(question), Where())
    assert said in ("1", "2", "3") and said == user.perform(AskUser(question), Where())
    assert user.perform(AskUser("なぜですか"), Where()) == "わかりません。"
    with pytest.raises(InputError, match="known: rule"):
        simulated_user("nobody", VAGUE)


# --- runs ----------------------------------------------------------------------------


def _config(index: Path, items: Path, **more: Any) -> EvalConfig:
    return EvalConfig(data=str(items), index=str(index), **more)


def test_a_run_measures_before_and_after_asking(index: Path, tmp_path: Path) -> None:
    contacts = Contacts(contact=(Entry(department="総務部", default=True),))
    config = _config(index, _file(tmp_path, APPLY, CLEAR, NOBODY, WORRY), contacts=contacts)
    result = EVAL.run(config, RunOptions(quiet=True), run_dir=tmp_path / "run")
    found = {m.name: m for m in result.summary.metrics}
    assert found["vague/recall@1_before"].value == 0 and found["vague/recall@1_after"].value == 1
    assert found["vague/recall@1_gain"].value == 1 and found["clear/recall@1_gain"].value == 0
    assert found["clear/routing_agreement"].value == found["vague/routing_agreement"].value == 1
    assert found["vague/questions"].value >= 1 and found["clear/questions"].value == 0
    assert found["refusals_wrong"].value == 0 and found["answer_support"].value == 1
    assert found["vague/leaked"].value == 0 and found["tokens"].value == 0
    assert found["latency_median"].value > 0 and found["contact_right"].n == 1
    assert found["consultation/recall@5_after"].reason  # no passage: undefined, not 0
    assert math.isnan(found["consultation/recall@5_after"].value)
    assert "annual.md" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_a_run_that_stopped_goes_on_and_comes_to_the_same(index: Path, tmp_path: Path) -> None:
    items = _file(tmp_path, APPLY, CLEAR, NOBODY, WORRY)
    config = _config(index, items)
    whole = EVAL.run(config, RunOptions(quiet=True, concurrency=1), run_dir=tmp_path / "whole")

    class Killed(Exception):
        pass

    def kill(row: Any) -> None:
        raise Killed

    with pytest.raises(Killed):
        EVAL.run(
            config, RunOptions(quiet=True, concurrency=1), run_dir=tmp_path / "r", on_episode=kill
        )
    with RunDirectory.look(tmp_path / "r") as directory:
        assert 1 <= directory.log.counts()[0] < 4
    resumed = EVAL.run(config, RunOptions(quiet=True, concurrency=1), run_dir=tmp_path / "r")

    def results(run: Any) -> list[Any]:
        rows = [ItemResult.model_validate(row.result) for row in run.outcome.rows]
        return [row.model_copy(update={"seconds": 0.0}) for row in rows]

    assert results(resumed) == results(whole)


def test_another_index_is_another_run(index: Path, tmp_path: Path) -> None:
    items = _file(tmp_path, CLEAR)
    EVAL.run(_config(index, items), RunOptions(quiet=True), run_dir=tmp_path / "run")
    other = indexed(tmp_path / "other", {"a.md": "# 宿泊費\n\n上限は一泊9,000円です。\n"})
    with pytest.raises(InputError, match="another configuration"):
        EVAL.run(_config(other, items), RunOptions(quiet=True), run_dir=tmp_path / "run")


def test_ablations_change_one_thing_each(index: Path, tmp_path: Path) -> None:
    base = _config(index, tmp_path / "x")
    rows = ablation(EVAL, base, ["full", "no-asking", "no-rewriting", "bm25", "dense", "unknowing"])
    assert rows["full"] == base and not rows["no-asking"].rules.asking
    assert not rows["no-rewriting"].rules.rewriting and rows["unknowing"].user == "unknowing"
    assert (rows["bm25"].mode, rows["dense"].mode) == ("bm25", "dense")


def test_the_command_prints_json_and_a_study(index: Path, tmp_path: Path, naisei: Naisei) -> None:
    items = _file(tmp_path, APPLY, CLEAR)
    args = ["intent", "ablate", "--data", items, "--index", index, "--run-dir", tmp_path / "study"]
    done = naisei(*args, "--rows", "full,no-asking", "--quiet", "--json")
    assert done.code == 0, done.err
    out = done.result
    assert out["metrics"]["full"]["vague/recall@1_after"] == 1.0
    assert out["metrics"]["no-asking"]["vague/recall@1_after"] == 0.0
    assert out["metrics"]["no-asking"]["questions"] == 0.0
    assert {p.name for p in (tmp_path / "study").iterdir()} >= {"study.html", "table-1.csv", "full"}


def test_a_model_may_play_the_user(index: Path, tmp_path: Path) -> None:
    script = tmp_path / "user.jsonl"
    script.write_text(
        '{"contains": "どれに近い", "reply": "結婚の休みです"}\n{"reply": "わかりません"}\n'
    )
    config = _config(
        index,
        _file(tmp_path, VAGUE),
        user="llm",
        models={"simulator": f"scripted:{script}"},
    )
    result = EVAL.run(config, RunOptions(quiet=True), run_dir=tmp_path / "run")
    row = ItemResult.model_validate(result.outcome.rows[0].result)
    assert row.exchanges[0].answer.startswith("結婚の休み") or "結婚" in row.query
    found = {m.name: m for m in result.summary.metrics}
    assert found["tokens"].value == 0  # those of the user are not the assistant's
