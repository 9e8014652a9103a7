"""Questions are taken apart, and answered from the facts of a wish, in every manner."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from naisei.clarify.data import load, load_actions
from naisei.clarify.describe import REFUSAL
from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import Facts, Instance, Manner, Scene, UserInfo
from naisei.clarify.simulator import LLMSimulator
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.clarify.tables import blind_draws
from naisei.core import AskUser, Chat, Where
from naisei.japanese.answers import Stance, understand
from naisei.japanese.questions import denied, parse

ACTIONS = load_actions()
COLD = Instance(
    id="cold",
    scene=Scene(
        id="s",
        utterance="うう、もうだめだ。",
        user=UserInfo(place="居間", posture="毛布にくるまっている"),
        surroundings={"居間": ("棚のティッシュ箱", "テーブルのコップ", "床のリモコン")},
    ),
    gold=10,
    plausible=(3, 7, 10),
    speaker="adult",
    facts=Facts(
        first="さっきからくしゃみが止まらないんだ。",
        why="朝から風邪ぎみなんだよ。",
        what_for="思いきり鼻をかみたいんだ。",
        state="鼻水が垂れてきそうだ。",
        whom="自分のためだよ。",
        name="鼻をかむやつ",
        no={3: "のどは渇いてないよ。", 7: "テレビは見ないよ。"},
        true=("風邪をひいている", "鼻がむずむずする", "鼻をかみたい", "くしゃみが出る"),
        false=("のどが渇いている", "テレビを見たい", "薬がない", "部屋が散らかっている"),
    ),
)


def said(question: str, manner: Manner = "cooperative") -> str:
    return RuleSimulator(COLD, ACTIONS, manner=manner).answer(question)


@pytest.mark.parametrize("end", ["？", "。", ""])
@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("鼻のほうですか、のどのほうですか", 2),
        ("鼻ですか？のどですか", 2),
        ("鼻をかみたいのか、のどが渇いたのか、どちらでしょう", 2),
        ("ティッシュか飲み物か、どっちの話ですか", 2),
        ("えっと、拭くものと飲むものだったら、どっちのことですか", 2),
        ("コップ、ティッシュ、リモコンのうちどれですか", 3),
        ("コップですか、ティッシュですか、それともリモコンですか", 3),
        ("もしかして飲み物ですか", 0),
        ("何か飲みたいですか", 0),
        ("使うかどうか迷っていますか", 0),
        ("疲れたので、少し休みたいのでしょうか", 0),
    ],
)
def test_alternatives_are_found_however_a_question_ends(
    question: str, sides: int, end: str
) -> None:
    assert len(parse(question + end).sides) == sides


@pytest.mark.parametrize("end", ["？", "。", ""])
@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("ティッシュのことですか", "うん|そう"),
        ("もしかして鼻をかむやつですか", "うん|そう"),
        ("コップの話ですか", "いや|ううん|そういうわけじゃ"),
        ("コップですか、ティッシュですか", "ティッシュ|あと"),
        ("のどのほうですか、鼻のほうですか", "鼻|あと"),
        ("コップですか、リモコンですか", "どっちでもない|どちらとも違う"),
        ("コップ、ティッシュ、それともリモコンですか", "ティッシュ|二番目"),
        ("リモコンとティッシュならどちらですか", "ティッシュ|あと"),
        ("風邪をひいたんですか", "うん|そう"),
        ("テレビを見たいんですか", "いや|ううん|そういうわけじゃ"),
        ("のどは渇いていないんですか", "^うん、のどが渇いている(?:わけ|って)"),
        ("鼻をかみたいわけではないんですか", "^いや、.*かみたい"),
        ("誰のためですか", "自分のため"),
        ("なぜなんですか", "風邪ぎみ"),
        ("どうしたんですか", "くしゃみ"),
        ("これから何をするつもりですか", "鼻をかみたい"),
    ],
)
def test_answers_come_from_the_facts(question: str, right: str, end: str) -> None:
    assert re.search(right, said(question + end)), said(question + end)


@pytest.mark.parametrize(
    ("question", "right"),
    [
        # Part of the words, another time, a wish for a state: none of them settles the question.
        ("薬をのみたいんですか？", "わか"),
        ("母の鼻をかみたいんですか？", "わか|どうだろう|はっきり"),
        ("昨日鼻をかみたかったんですか？", "わか|どうだろう|はっきり"),
        ("鼻をかみたくないんですか？", "^いや、.*かみたい"),
        ("鼻がむずむずしていないんですか？", "^いや、.*むずむず"),
        ("テレビは見なくていいんですか？", "^うん、.*見な"),
    ],
)
def test_only_what_a_fact_settles_is_assented_to(question: str, right: str) -> None:
    assert re.search(right, said(question)), said(question)


def test_who_does_not_know_tells_a_fact_and_takes_no_side() -> None:
    answer = said("薬をのみたいんですか？")
    assert re.search("わから?ないけど、.+。", answer), answer
    assert understand(answer, "薬をのみたいんですか？").stance is Stance.UNSURE


def test_what_is_unknown_is_said_to_be_and_what_is_useless_refused() -> None:
    assert re.search("わからない|何とも言えない", said("風邪は長いんですか？"))
    for question in ("好きな季節はいつですか？", "ティッシュはありますか？"):
        assert said(question) == REFUSAL
    assert broken_rule("さっぱりした味とこくのある味のどちらにしたいですか。", ACTIONS) is None


def test_negation_is_read_at_the_end_of_what_is_said() -> None:
    for text in (
        "渇いてないよ",
        "飲まん",
        "知らんのじゃ",
        "もういらない",
        "渇いているわけではないのですか",
    ):
        assert denied(text), text
    for text in ("痛いんだ", "足りないですか", "眠いのではないですか", "Aren't you thirsty?"):
        assert not denied(text), text


@pytest.mark.parametrize("manner", get_args(Manner))
def test_every_manner_tells_the_truth(manner: Manner) -> None:
    yes = understand(said("ティッシュのことですか？", manner), "ティッシュのことですか？")
    no = understand(said("コップのことですか？", manner), "コップのことですか？")
    assert (yes.stance, no.stance) == (Stance.YES, Stance.NO)


def test_the_mistaken_slip_once_and_the_terse_say_no_more_than_the_word() -> None:
    user = RuleSimulator(COLD, ACTIONS, manner="mistaken")
    first = user.perform(AskUser("ティッシュのことですか？"), Where("i", 0))
    again = user.perform(AskUser("鼻をかみたいのですか？"), Where("i", 0))
    assert re.search("間違え|違った|逆だ", first) and not re.search("間違え|違った|逆だ", again)
    assert len(said("ティッシュのことですか？", "terse")) < 12
    assert "ティッシュ" not in said("ティッシュですか、コップですか、リモコンですか？", "elder")


def test_the_language_model_gets_the_same_facts() -> None:
    flow = LLMSimulator(COLD, ACTIONS, manner="hurried").respond(
        AskUser("どうしたの？"), Where("i", 0)
    )
    effect = next(flow)
    assert isinstance(effect, Chat)
    told = effect.messages[0].content
    assert "のどは渇いてないよ。" in told and "急いで" in told and "作らずに" in told


def test_every_instance_has_its_facts_in_both_languages() -> None:
    for name in ("open", "open-en", "hard", "hard-en"):
        for one in load(f"ambigact40-{name}", split="all").instances:
            facts = one.facts
            assert facts is not None, one.id
            told = (facts.first, facts.why, facts.what_for, facts.state, facts.whom, facts.name)
            assert all(told) and len(facts.true) == len(facts.false) == 4, one.id
            assert not one.wanted & set(facts.no), one.id


def test_the_hard_scenes_cannot_be_settled_without_asking() -> None:
    hard = load("ambigact40-hard", split="all").instances
    scenes: dict[str, list[Instance]] = {}
    for one in hard:
        scenes.setdefault(one.scene_id, []).append(one)
    assert len(hard) >= 240 and len(scenes) >= 60
    assert min(len(i.plausible) for i in hard) >= 4
    assert sum(len(i.plausible) for i in hard) / len(hard) >= 5
    assert {len({i.scene.model_dump_json() for i in twins}) for twins in scenes.values()} == {1}
    assert all(len({i.wanted for i in twins}) == len(twins) > 2 for twins in scenes.values())
    assert all(i.wanted <= set(i.plausible) for i in hard)
    assert sum(bool(i.also) for i in hard) >= 10
    assert {a for i in hard for a in i.wanted} == set(range(1, 41))
    drawn = [blind_draws(i, 3) for i in hard]
    assert sum(passed for passed, _, _ in drawn) / len(drawn) <= 0.62


def test_blind_draws_are_what_a_guesser_would_get() -> None:
    one = COLD.model_copy(update={"plausible": (1, 3, 7, 10)})
    assert blind_draws(one, 1) == (0.25, 0.25, 0.75)
    assert blind_draws(one, 2) == (0.5, (1 + 0.5) / 4, 1.25)
    assert blind_draws(one.model_copy(update={"also": (3,)}), 3)[0] == 0.5


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("そのロールは、焼くときに敷くほうですか、水気をふくほうですか、包むほうですか。", "焼く"),
        ("お弁当を包むなら、紙のようなものと透きとおったもののどちらがお好みですか。", "紙"),
        ("あの白い点は、グラスのことですか、紙のことですか、それとも汚れのことですか。", "グラス"),
    ],
)
def test_what_leads_up_to_the_alternatives_is_none_of_them(question: str, first: str) -> None:
    assert parse(question).sides[0].startswith(first)
    # Of 「コップは？水筒は？」 each is one.
    assert len(parse("コップは？水筒は？").sides) == 2


def _with_facts(gold: int, **facts: str) -> Instance:
    assert COLD.facts is not None
    kept = COLD.facts.model_dump() | {"no": {}, "true": (), "false": ()} | facts
    return COLD.model_copy(update={"gold": gold, "facts": Facts.model_validate(kept)})


def test_a_mere_mention_is_no_assent() -> None:
    full = _with_facts(2, first="電池がもう少ないんだ。", state="おなかも気分も満ち足りてるよ。")
    asked = "おなかのほうですか、それとも退屈なのでしょうか。"
    answer = RuleSimulator(full, ACTIONS).answer(asked)
    assert understand(answer, asked).stance is not Stance.FIRST, answer


def test_what_the_wish_has_to_do_with_is_not_denied() -> None:
    tin = _with_facts(21, state="爪でやっても開かないんだ。", why="ふたに輪がないんだ。")
    seen = {"台所": ("缶詰", "さんま", "鍋")}
    tin = tin.model_copy(update={"scene": tin.scene.model_copy(update={"surroundings": seen})})
    asked = "さんまのことですか、缶のことですか、それとも鍋のことですか。"
    answer = RuleSimulator(tin, ACTIONS).answer(asked)
    assert understand(answer, asked).stance is not Stance.NEITHER, answer
