"""The audit finds what is wrong with a user, and nothing wrong with a good one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

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
from naisei.clarify.config import AuditConfig
from naisei.clarify.data import Dataset, load, load_actions
from naisei.clarify.describe import REFUSAL
from naisei.clarify.schemas import Action, ActionSet, Facts, Instance, Scene
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.core import AskUser, World, run
from naisei.runs.task import EpisodeRow, Summary

ACTIONS = load_actions()
CUP = Action(id=3, text="コップを持ってくる")


def instance(gold: int, *things: str) -> Instance:
    return Instance(
        id=f"i{gold}",
        scene=Scene(id="s", utterance="うーん", surroundings={"居間": things}),
        gold=gold,
    )


def audit_rule(instances: Sequence[Instance], actions: ActionSet) -> Summary:
    task = AuditTask(AuditConfig(), Dataset(tuple(instances), actions, "made", ""))
    rows = []
    for where in task.episodes():
        flow, world = task.start(where, World({}))
        rows.append(EpisodeRow(where, run(flow, world, where=where).model_dump(mode="json")))
    return task.summarise(rows)


def audited(answer: Callable[[str], str], *instances: Instance) -> Summary:
    task = AuditTask(AuditConfig(), Dataset(instances, ACTIONS, "made", ""))
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
    task = AuditTask(AuditConfig(), data)
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
    alone = audit_rule([instance(1)], some)
    assert "have no facts" in alone.notes[0]
    facts = Facts(first="体を温めたい")
    found = audit_rule([instance(1).model_copy(update={"facts": facts})], some)
    assert value(found, "refused-fair") < value(alone, "refused-fair")
    assert "have no facts" not in found.notes[0]


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
