"""With a scripted model in every role: calls a turn, and nothing left of a rejected draft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent.talking import last, lines, talked
from naisei.agent.opening import ROLES, TalkConfig
from naisei.agent.options import AgentRules
from naisei.agent.persona import load_persona
from naisei.director.schemas import ASPECTS

SAYS = ["おはよう", "リモコンを取ってきて", "いい天気だね", "ありがとう"]


def scripted(
    folder: Path, speaker: str, *roles: str, persona: str = "robot", **rules: Any
) -> TalkConfig:
    remote = {"execute": 14, "thought": "はっきりしている"}
    script = [
        {
            "schema": "Understood",
            "contains": "リモコン",
            "regex": "リモコンを取ってきて$",
            "fill": {"kind": "act", "words": "リモコンを取ってきて"},
        },
        {"schema": "Understood", "fill": {"kind": "chat", "words": "雑談"}},
        {"schema": "Scores", "fill": dict.fromkeys(ASPECTS, 5)},
        {"schema": "", "reply": speaker},
        {"fill": remote},
    ]
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps(rule, ensure_ascii=False) + "\n" for rule in script))
    models = dict.fromkeys(roles, f"scripted:{path}")
    return TalkConfig(persona=load_persona(persona), rules=AgentRules(**rules), models=models)


def test_two_calls_a_turn_without_judge_and_reflection(tmp_path: Path) -> None:
    roles = [role for role in ROLES if role not in ("judge", "reflector")]
    talk = scripted(tmp_path, "はい、そうですね。", *roles, reflecting=False)
    events = talked(talk, SAYS, tmp_path)
    calls = sum(event.kind == "chat" for event in events)
    assert calls <= 2 * len(SAYS)
    assert lines(events)[0] == "はい、そうですね。"


def test_four_calls_a_turn_with_everything_on(tmp_path: Path) -> None:
    talk = scripted(tmp_path, "はい、そうですね。", *ROLES)
    says = [*SAYS, "違う、バナナのほう"]
    events = talked(talk, says, tmp_path)
    calls = [event.request["role"] for event in events if event.kind == "chat"]  # type: ignore[index,call-overload]
    assert {"understanding", "agent", "speaker", "judge"} <= {*calls}
    assert len(calls) <= 4 * len(says)


def test_nothing_is_left_of_a_rejected_draft(tmp_path: Path) -> None:
    wrong = "私は一人暮らしをしています。家では誰とも話しません。"
    talk = scripted(tmp_path, wrong, "understanding", "speaker", persona="sister")
    events = talked(talk, ["おはよう", "いい天気だね"], tmp_path)
    said = lines(events)
    assert len(said) == 2
    assert not any("一人暮らし" in line for line in said)
    shown = [json.dumps(e.request, ensure_ascii=False) for e in events if e.kind == "remember"]
    assert shown
    assert not any("一人暮らし" in item for item in shown)
    drafts = last(events)["drafts"]
    assert len(drafts) > 1
    assert {draft["status"] for draft in drafts} == {"RETRY"}


def test_the_person_is_not_called_you_to_a_model_that_is_told_who_it_is(tmp_path: Path) -> None:
    talk = scripted(tmp_path, "はい。", "understanding", "speaker")
    events = talked(talk, ["おはよう"], tmp_path)
    asked = json.dumps([e.request for e in events if e.kind == "chat"], ensure_ascii=False)
    assert "相手: おはよう" in asked
    assert "あなた: おはよう" not in asked
