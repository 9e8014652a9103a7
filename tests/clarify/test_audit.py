"""The audit finds what is wrong with a user, and nothing wrong with a good one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from naisei.clarify.audit import AuditTask
from naisei.clarify.audit.questions import conversations, probes
from naisei.clarify.audit.readings import (
    asks_for_wish,
    level_claimed,
    levels_seen,
    names_action,
    names_object,
    polarity,
)
from naisei.clarify.config import AuditConfig, ClarifyConfig
from naisei.clarify.data import load, load_actions
from naisei.clarify.describe import REFUSAL
from naisei.clarify.schemas import Action, ActionSet, Instance, Scene
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.clarify.system import AUDIT, RUN
from naisei.core import AskUser, InputError, World, run
from naisei.runs.task import EpisodeRow, Summary
from naisei.system.execute import RunOptions

ACTIONS = load_actions()
CUP = Action(id=3, text="コップを持ってくる")


def instance(gold: int, *things: str) -> Instance:
    return Instance(
        id=f"i{gold}",
        scene=Scene(id="s", utterance="うーん", surroundings={"居間": things}),
        gold=gold,
    )


def audit_rule(
    instances: Sequence[Instance],
    actions: ActionSet,
    paraphrases: Callable[[Instance], dict[int, tuple[str, ...]]] | None = None,
) -> Summary:
    task = AuditTask(AuditConfig(), instances, actions, paraphrases=paraphrases)
    rows = []
    for where in task.episodes():
        flow, world = task.start(where, World({}))
        rows.append(EpisodeRow(where, run(flow, world, where=where).model_dump(mode="json")))
    return task.summarise(rows)


def audited(answer: Callable[[str], str], *instances: Instance) -> Summary:
    task = AuditTask(AuditConfig(), instances, ACTIONS)
    rows = []
    for where in task.episodes():
        flow, world = task.start(where, World({}))
        result = run(flow, world.having({AskUser: lambda ask: answer(ask.question)}), where=where)
        rows.append(EpisodeRow(where, result.model_dump(mode="json")))
        assert instances[0].scene.utterance in task.transcript(rows[-1])
    return task.summarise(rows)


def value(summary: Summary, name: str) -> float:
    return next(m.value for m in summary.metrics if m.name == name)


def test_a_leaking_user_is_found() -> None:
    found = audited(lambda q: "コップを持ってきてほしい。", instance(3))
    assert value(found, "leak") == 1
    assert value(found, "object-named") == 1
    assert value(found, "refused-useless") == 0
    assert found.tables[2].rows[0][0] == "leak"


def test_a_forgetful_user_is_found() -> None:
    said: list[str] = []

    def forgetful(question: str) -> str:
        said.append(question)
        return "はい、空です。" if len(said) % 2 else "いいえ、まだ残っています。"

    found = audited(forgetful, instance(7, "空のコップ"))
    assert value(found, "contradiction") > 0


def test_a_user_who_denies_what_is_there_is_found() -> None:
    assert (
        value(audited(lambda q: "コップはないよ。", instance(7, "空のコップ")), "against-scene")
        == 1
    )


def test_a_user_who_refuses_everything_is_no_good() -> None:
    found = audited(lambda q: REFUSAL, instance(7, "空のコップ"))
    assert (value(found, "refused-fair"), value(found, "refused-useless")) == (1, 1)
    assert math.isnan(value(found, "leak"))


@pytest.mark.slow
def test_the_rule_simulator_passes_on_the_data_set() -> None:
    data = load("ambigact40-open", split="dev")
    found = audit_rule(data.instances, data.actions)
    for name in ("leak", "false-denial", "false-assent", "against-scene"):
        assert value(found, name) <= 0.01, name
    # Asked by the names that scenes print: stricter than by those of the table.
    assert value(found, "evasion") <= 0.02
    for name in ("contradiction", "inconsistent"):
        assert value(found, name) <= 0.01, name
    assert value(found, "refused-fair") <= 0.05
    assert value(found, "refused-useless") >= 0.85


def _broken(answer: Callable[[str, str], str]) -> Summary:
    """The audit of the rule simulator with its answers spoilt: (question, answer) → answer."""
    data = load("ambigact40-open", split="dev", limit=6)
    task = AuditTask(AuditConfig(), data.instances, data.actions)
    rows = []
    for where in task.episodes():
        flow, world = task.start(where, World({}))
        honest = RuleSimulator(
            next(i for i in data.instances if i.id == where.instance), data.actions
        )

        def spoilt(ask: AskUser, user: RuleSimulator = honest) -> str:
            return answer(ask.question, user.answer(ask.question))

        result = run(flow, world.having({AskUser: spoilt}), where=where)
        rows.append(EpisodeRow(where, result.model_dump(mode="json")))
    return task.summarise(rows)


@pytest.mark.parametrize(
    ("column", "spoil"),
    [
        ("false-denial", lambda q, a: "いいえ、違います。"),
        ("false-denial", lambda q, a: "どちらでもないですね。" if "それとも" in q else a),
        ("false-assent", lambda q, a: "はい、そうです。"),
        ("evasion", lambda q, a: "さあ、どうでしょう。"),
        ("against-scene", lambda q, a: f"{a}おろし器と缶切りとレモンがあるので。"),
        ("refused-fair", lambda q, a: REFUSAL),
    ],
)
def test_a_broken_user_shows_in_its_column(column: str, spoil: Callable[[str, str], str]) -> None:
    assert value(_broken(lambda q, a: a), column) <= 0.02
    assert value(_broken(spoil), column) > 0.1


def test_other_action_sets_get_the_questions_that_need_no_table() -> None:
    some = ActionSet(
        name="arta2",
        actions=(Action(id=1, text="温泉を検索する"), Action(id=2, text="電話をかける")),
    )
    names = conversations(some)
    assert 0 < len(names) < len(conversations(ACTIONS))
    found = audit_rule([instance(1)], some, paraphrases=lambda i: {1: ("体を温めたい",)})
    assert value(found, "refused-fair") < 1
    assert "have no facts" in found.notes[0] and "nobody else" not in found.notes[0]

    alone = audit_rule([instance(1)], some)
    assert value(alone, "refused-fair") > value(found, "refused-fair")
    assert "For 1 of them there is nobody else" in alone.notes[0]


def test_with_a_limit_the_user_still_borrows_the_words_of_all(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"idx": n, "utterance": said, "category": wanted, "function": "スポット検索"}
        for n, (said, wanted) in enumerate(
            [
                ("体を温めたい", "温泉"),
                ("肩まで浸かりたい", "温泉"),
                ("魚を眺めたい", "水族館"),
                ("イルカに会いたい", "水族館"),
            ]
        )
    ]
    data = tmp_path / "arta.jsonl"

    def write() -> None:
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    write()
    config = AuditConfig(data=f"arta:{data}", split="all", limit=1)
    done = AUDIT.run(config, RunOptions(quiet=True), run_dir=tmp_path / "audit")
    assert value(done.summary, "refused-fair") == 0

    run = ClarifyConfig(data=f"arta:{data}", split="all", limit=1, agent="random", embedder="ngram")
    result = RUN.run(run, RunOptions(quiet=True), run_dir=tmp_path / "run")
    assert not any("nobody else" in note for note in result.summary.notes)
    (chosen,) = load(f"arta:{data}", split="all", limit=1).instances
    for row in rows:  # what others say is part of the data that a run depends on
        if f"arta-{row['idx']}" != chosen.id:
            row["utterance"] = f"{row['utterance']}な"
    write()
    with pytest.raises(InputError, match="data: "):
        RUN.run(run, RunOptions(quiet=True), run_dir=tmp_path / "run")


def test_what_is_wanted_is_named_without_the_word_for_nearby() -> None:
    aquarium = Action(id=1, text="周辺の水族館を検索する")
    assert names_object("水族館に行きたい。", aquarium)
    assert not names_object("イルカに会いたい。", aquarium)


def test_questions_about_containers_name_one_of_the_scene() -> None:
    numbers = conversations(ACTIONS)
    asked = [p for n in numbers for p in probes(n, instance(3, "飲みかけのグラス"), ACTIONS)]
    contents = [p for p in asked if p.kind == "container"]
    assert contents and all("グラス" in p.question for p in contents)
    assert not any("$" in p.question for p in asked)
    bare = [p for n in numbers for p in probes(n, instance(3), ACTIONS)]
    assert not any(p.kind == "container" for p in bare)


@pytest.mark.parametrize(
    ("answer", "named", "action"),
    [
        ("コップを持ってきて。", True, True),
        ("コップで飲みたい。", True, False),
        ("のどが渇いた。", False, False),
    ],
)
def test_leaks(answer: str, named: bool, action: bool) -> None:
    assert (names_object(answer, CUP), names_action(answer, CUP)) == (named, action)


def test_readings() -> None:
    assert polarity("はい、渇いています。", "渇いていますか？") == "yes"
    assert polarity("どうでしょう。", "渇いていますか？") == ""
    assert asks_for_wish("何が飲みたいですか？") and not asks_for_wish("飲みたいですか？")
    assert level_claimed("もう空っぽなの。", "残っていますか？", "full") == "empty"
    assert level_claimed("まだ少し残っている。", "空ですか？", "empty") == "full"
    assert level_claimed("いいえ。", "空ですか？", "empty") == "full"
    assert levels_seen("コップ", instance(3, "空のコップ", "飲みかけのコップ")) == {"empty", "full"}
