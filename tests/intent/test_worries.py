"""Worries that cannot wait get what helps at once; ordinary questions about the same things do
not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from intent.corpus import write_index
from naisei.core import Where, World, run
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import document_world
from naisei.intent.flow import assist
from naisei.intent.rules import Contacts, Entry, Setting
from naisei.intent.schemas import Reply
from naisei.intent.worries import Worried, Worry, WorryHandler
from naisei.retrieval.index import Index

DOCUMENTS = {
    "safety.md": "# 安全の手引き\n\n## けがをしたとき\n\n意識がないなど程度の重いけがは、守衛所"
    "（内線 7119）に電話する。\n\n## 保護めがね\n\n保護めがねは入口で借りる。\n",
    "cards.md": "# 入館カード\n\n## なくしたとき\n\nカードをなくしたら、すぐに総務課（内線 2105）に"
    "電話して止める。\n\n## 再発行\n\n再発行の手数料は2,000円とする。\n",
    "visit.md": "# 診療所の予約\n\n## 予約の受付\n\n予約は電話（0887-00-1234）で受け付けます。"
    "発熱のある方は、来院の前に医師の診療について電話をしてください。\n\n"
    "## 休診\n\n休日と夜間は休診です。\n\n## 負担\n\n救急車で来院された方に負担はありません。\n",
    "leave.md": "# 休暇\n\n## 日数\n\n年次有給休暇は年20日とする。\n",
}


@pytest.fixture(scope="module", params=[None, "fast"])
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("worries")
    with Index.open(write_index(folder, DOCUMENTS, request.param)) as opened:
        yield opened


def _told(index: Index, text: str) -> Worried:
    return WorryHandler(index).perform(Worry(text), Where("x"))


def _reply(index: Index, text: str) -> Reply:
    contacts = Contacts(contact=(Entry(department="総務課", address="内線 2105", default=True),))
    setting = Setting(contacts=contacts)
    return run(assist(Dialogue(utterance=text), setting), document_world(World({}), index))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("死にたいです", "life"),
        ("夫に殴られています。逃げたい", "violence"),
        ("機械から煙が出て燃えています", "fire"),
        ("指を挟んで血が止まりません", "accident"),
        ("入館カードを落としてしまいました", "lost"),
        ("同僚がトラックにはねられました", "accident"),
        ("子どもがけいれんしています", "accident"),
        ("名簿を誤送信してしまいました", "fraud"),
        ("上司が部屋から出してくれません", "violence"),
        ("同僚が急に倒れて泡を吹いています", "accident"),
        ("胸が締めつけられて冷や汗が止まりません", "illness"),
        ("祖母が熱中症かもしれません", "illness"),
        ("Someone stole my card", ""),
        ("My laptop was stolen", "lost"),
    ],
)
def test_a_worry_is_told_with_vectors_and_without(index: Index, text: str, kind: str) -> None:
    assert _told(index, text).kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "入館カードをなくしたときの再発行の手数料はいくらですか",
        "虐待を防ぐ講演会の申し込み方法を教えてください",
        "自殺対策計画はどこで読めますか",
        "避難訓練は年に何回ありますか",
        "年次有給休暇は何日ですか",
        "On which days can I get advice in Vietnamese?",
        "Where may I smoke?",
        "会議室の電球が切れました",
        "熱中症になったときの連絡先は",
        "応答がおかしい電話機の交換は",
        "企画の叩き台はどこに置けばいいですか",
        "広報の投稿が炎上したときの窓口はどこですか",
        "倒れた自転車は誰が起こしますか",
    ],
)
def test_questions_about_the_same_things_are_no_worries(index: Index, text: str) -> None:
    assert _told(index, text) == Worried()


def test_the_number_to_call_comes_with_what_to_do(index: Index) -> None:
    reply = _reply(index, "入館カードを落としてしまいました")
    assert reply.urgent == "lost" and reply.band == "answer"
    assert "内線 2105" in reply.answer and reply.citations[0].path == "cards.md"


def test_a_public_number_where_a_life_is_at_stake_and_the_desk_where_the_documents_have_nothing(
    index: Index,
) -> None:
    hurt = _reply(index, "同僚が倒れて意識がありません")
    assert "7119" in hurt.answer and hurt.message.index("内線 7119") < hurt.message.index("119 番")
    told = _reply(index, "夫に殴られています。逃げたい")
    assert "110" in told.message.split("\n")[0]
    assert told.evidence or "総務課" in told.message
    # Asked in another spelling it would be asked back about: an urgent reply is not given up.
    assert _reply(index, "もう生きているのがつらいです").urgent == "life"


@pytest.mark.parametrize("text", ["胸が痛くて動けない", "息が苦しい", "子どもが熱を出した"])
def test_an_emergency_begins_with_119_and_nothing_of_another_matter(
    index: Index, text: str
) -> None:
    reply = _reply(index, text)
    assert "119" in reply.message.split("\n")[0] and reply.urgent == "illness"
    assert not any(other in reply.message for other in ("予約", "休診", "救急車で"))
    assert reply.evidence or "総務課" in reply.message
