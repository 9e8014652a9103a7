"""One thing is asked of a person, and only where the answer depends on it."""

import json

import pytest

from intent.corpus import KINDS, write_index
from naisei.cli.flags import configurations
from naisei.intent.chat import AskOptions, ask_command
from naisei.intent.dialogue import Dialogue
from naisei.intent.inquiry import reply_in_memory
from naisei.intent.person_kinds import person_kinds, self_told
from naisei.intent.rules import Profile
from naisei.intent.system import ASSIST
from naisei.retrieval.index import Index
from naisei.system.execute import RunOptions


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("kinds"), KINDS, embedder=None)


@pytest.fixture
def ask(index, monkeypatch):
    monkeypatch.setenv("NAISEI_LANG", "ja")
    (config,) = configurations(ASSIST, index=str(index)).values()

    def go(dialogue, **profile):
        setting = config.setting.model_copy(update={"profile": Profile(**profile)})
        with Index.open(index) as opened:
            own = config.model_copy(update={"setting": setting})
            return reply_in_memory(own, opened, dialogue)

    return go


@pytest.mark.parametrize(
    ("question", "kinds", "second"),
    [
        ("年次有給休暇は何日ですか", ("常勤職員", "非常勤職員"), "年10日"),
        ("図書は何冊借りられますか", ("学部生", "大学院生", "教職員"), "20冊1か月"),
        ("プールの使用料はいくらですか", ("市内の方", "市外の方"), "600円"),
        ("ジムの料金はいくらですか", ("会員", "一般"), "1,500円"),
        ("休学は何年までできますか", ("学部生", "大学院生"), "通算2年"),
    ],
)
def test_what_the_answer_depends_on_is_asked_once_with_choices(ask, question, kinds, second):
    first = Dialogue(utterance=question)
    reply = ask(first)
    assert (reply.route, reply.case, reply.options) == ("ask", 2, kinds)
    assert f"2. {kinds[1]}" in reply.message
    answered = ask(first.answered(reply.message, "2", reply.options))
    assert answered.route == "search" and second in answered.answer
    assert "10冊2週間" not in answered.answer  # another's column
    lost = ask(first.answered(reply.message, "わかりません", reply.options))
    assert lost.route == "search" and lost.answer


@pytest.mark.parametrize(
    "question",
    [
        "忌引休暇は何日ですか",  # the same for both
        "ジムの駐車場は無料ですか",
        "プールの休館日はいつですか",
        "図書館は何時まで開いていますか",
        "市外に住んでいます。プールの使用料はいくらですか",  # said
        "非常勤の年次有給休暇は何日ですか",
        "学部と大学院で休学の年数の違いはありますか",  # all of it is wanted
        "プールの使用料は市内と市外でそれぞれいくらですか",
    ],
)
def test_nothing_is_asked_where_it_changes_nothing_or_is_known(ask, question):
    assert ask(Dialogue(utterance=question)).route == "search"


def test_the_profile_answers_in_the_persons_place(ask):
    reply = ask(Dialogue(utterance="年次有給休暇は何日ですか"), employment="非常勤講師")
    assert reply.route == "search" and "非常勤職員" in reply.query
    assert "「非常勤講師」とうかがっている" in reply.message


def test_the_model_is_told_what_the_answer_depends_on(index, openai_server, monkeypatch, tmp_path):
    monkeypatch.setenv("NAISEI_LANG", "ja")
    monkeypatch.chdir(tmp_path)
    names = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")
    told = dict(zip(names, (1, 1, 5, 1, 5), strict=True))
    server = openai_server(lambda messages, schema: json.dumps(told))
    model = f"openai-compatible:t@{server.url}"
    (config,) = configurations(ASSIST, index=str(index), evaluator_model=model).values()
    for said, depends in (
        ("プールの使用料はいくらですか", True),
        ("市外の者です。プールの使用料は？", False),
    ):
        ask_command(config, RunOptions(), asked=AskOptions(text=said))
        sent = server.requests[-1]["messages"][-1]["content"]
        assert ("市内の方 / 市外の方" in sent) is depends


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("市外在住ですが、CDは何枚まで借りられますか。", ("市外在住です",)),
        ("私は非常勤です。有給は何日ですか", ("私は非常勤です",)),
        ("大学院の2年生です。奨学金は？", ("大学院の2年生です",)),
        ("会員なので割引はありますか", ("会員なので",)),
        ("山手に住んでいます。収集は何曜日？", ("山手に住んでいます",)),
        ("I'm a part-time employee. How many days?", ("I'm a part-time employee",)),
        ("非常勤でも休めますか", ()),
        ("市外の人ならいくらですか", ()),
        ("母は市外に住んでいます", ()),
        ("学部生ですか、大学院生ですか", ()),
        ("友人が会員です", ()),
    ],
)
def test_what_somebody_says_that_they_are(text, told):
    assert self_told(text) == told


def test_kinds_are_told_apart():
    fields = {(k.field, k.kind) for k in person_kinds("市民以外 市民")}
    assert fields == {("residence", 0), ("residence", 1)}
    for text in ("市民税", "一般ごみ", "個人情報", "学生課", "会員証", "市内の病院"):
        assert not person_kinds(text), text
