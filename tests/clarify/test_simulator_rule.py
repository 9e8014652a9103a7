"""The rule simulator: truthful, discreet, consistent, in its own register."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from naisei.clarify.data import load_actions
from naisei.clarify.describe import REFUSAL
from naisei.clarify.schemas import Action, ActionSet, Facts, Instance, Language, Scene, UserInfo
from naisei.clarify.simulator.containers import level
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.clarify.things import all_known
from naisei.core import AskUser, Flow, MemoryLog, Where, World, run
from naisei.japanese.questions import parse

ACTIONS = load_actions()
GROUPS = {
    "B": [*range(1, 11), *range(21, 31)],
    "T": [*range(11, 20)],
    "S": [31, 32, 33, 34, 35, 37, 40],
    "R": [36, 39],
    "D": [3, 6, 23, 30],
    "E": [1, 9],
    "C": [21, 22, 24, 25, 26, 27, 28],
}
YES = re.compile(r"(うん|はい|ええ|そう(そう|だよ)|ああ、|Yes|Yeah|That's right)")
NO = re.compile(r"(いや|ううん|いいえ|いえ|そういうわけ|ちがう|No|Not really)")

#: What this person would say of any wish.
SAID = {
    "ja": ("ちょっと落ち着かなくて。", "どうにかしたいんだよね。"),
    "en": ("I can't settle down.", "Something must be done."),
}


def user(
    gold: int,
    *,
    speaker: str = "",
    language: Language = "ja",
    seed: int = 0,
    facts: bool = True,
    **scene: object,
) -> RuleSimulator:
    one = Instance(
        id=f"i{gold}",
        scene=Scene(id="s", utterance="うーん", language=language, **scene),  # type: ignore[arg-type]
        gold=gold,
        speaker=speaker,
        facts=Facts(first=SAID[language][0], state=SAID[language][1]) if facts else None,
    )
    return RuleSimulator(one, ACTIONS, seed=seed)


def ids(listed: str) -> set[int]:
    return {i for part in listed.split(",") if part for i in GROUPS.get(part) or [int(part)]}


def battery() -> list[list[str]]:
    text = (Path(__file__).parent / "battery" / "questions.txt").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [[*row, "", ""][:4] for row in rows]


def stance(answer: str) -> str:
    if answer == REFUSAL:
        return "refused"
    return "yes" if YES.match(answer) else "no" if NO.match(answer) else "open"


def test_who_knows_only_the_action_says_nothing_wrong_and_refuses_what_is_useless() -> None:
    counts: Counter[str] = Counter()
    rows = battery()
    assert len(rows) >= 200
    for kind, question, yes, maybe in rows:
        language: Language = "ja" if parse(question).japanese else "en"
        for gold in ACTIONS.ids:
            got = stance(user(gold, language=language).answer(question))
            counts[f"{kind} {'refused' if got == 'refused' else 'answered'}"] += 1
            if kind == "polar" and gold not in ids(maybe) and got in ("yes", "no"):
                counts["right"] += got == ("yes" if gold in ids(yes) else "no")
                counts["told"] += 1
    assert counts["told"] > 350 and counts["right"] / counts["told"] > 0.99
    for kind, least in (("polar", 0.99), ("wh", 0.95), ("either", 0.95)):
        answered, refused = counts[f"{kind} answered"], counts[f"{kind} refused"]
        assert answered / (answered + refused) > least
    refused = counts["useless refused"]
    assert refused / (refused + counts["useless answered"]) > 0.9


@pytest.mark.parametrize(
    "question",
    [
        "コップはありますか？",
        "どの行動をしてほしいですか？",
        "コップを持ってきましょうか？",
        "好きな色は？",
        "株価は？",
    ],
)
def test_useless_and_forbidden_questions_are_refused(question: str) -> None:
    assert user(3).answer(question) == REFUSAL


@pytest.mark.parametrize(
    ("question", "of_bring", "of_tidy"),
    [
        ("何か持ってきてほしいのですか？", "yes", "no"),
        ("片付けたいものがありますか？", "no", "yes"),
        ("Do you want something brought to you?", "yes", "no"),
        ("のどが渇いていますか？", "open", "open"),
    ],
)
def test_what_becomes_of_the_thing_is_known_from_the_action(
    question: str, of_bring: str, of_tidy: str
) -> None:
    assert [stance(user(g).answer(question)) for g in (3, 12)] == [of_bring, of_tidy]


def test_auxiliaries_and_idioms_are_not_taken_at_their_word() -> None:
    question = "つい食べてしまうのが気になりますか？"
    assert stance(user(31).answer(question)) != "yes"


def test_containers_keep_their_contents() -> None:
    scene = {"surroundings": {"リビング": ("飲みかけのグラス", "空のペットボトル", "カップ麺")}}
    one = user(15, **scene)
    world = World({AskUser: one})

    def talk() -> Flow[list[str]]:
        return [
            (yield from AskUser("ペットボトルは空ですか？")),
            (yield from AskUser("ペットボトルに中身は残っていますか？")),
            (yield from AskUser("グラスは空ですか？")),
        ]

    first, second, third = run(talk(), world)
    assert (stance(first), stance(second), stance(third)) == ("yes", "no", "no")
    assert stance(user(7).answer("水筒は空ですか？")) == "open"
    assert (
        stance(user(40, user=UserInfo(holding=("空の水筒",))).answer("水筒は空ですか？")) == "yes"
    )


def test_open_questions_are_answered_with_something_new() -> None:
    one = user(12, speaker="visitor")

    def talk() -> Flow[set[str]]:
        first = yield from AskUser("どんな気分ですか？")
        second = yield from AskUser("今の気分をもう一度教えてください。")
        return {first, second}

    assert len(run(talk(), World({AskUser: one}))) == 2


def test_an_alternative_is_answered_by_the_side_that_holds() -> None:
    question = "持ってきてほしいのですか、それとも片付けてほしいのですか？"
    bring, tidy = user(3).answer(question), user(12).answer(question)
    assert re.search("最初|持って", bring) and re.search("後|あと|片付け", tidy)


def test_registers() -> None:
    flask = UserInfo(holding=("空の水筒",))
    by_speaker = {
        speaker: user(40, speaker=speaker, facts=False, user=flask).answer("水筒は空ですか？")
        for speaker in ("child", "visitor", "student")
    }
    assert by_speaker["visitor"].endswith(("です。", "ですよ。", "ですよね。", "ます。"))
    assert not by_speaker["child"].endswith("です。")
    assert len(set(by_speaker.values())) == 3


def test_english() -> None:
    assert stance(user(3, language="en").answer("Is it the cup?")) == "yes"
    assert stance(user(7, language="en").answer("Is it the cup?")) == "no"
    assert user(1, language="en").answer("What is your favourite colour?") == REFUSAL


def test_same_questions_same_answers_after_a_resume() -> None:
    def talk() -> Flow[list[str]]:
        return [
            (yield from AskUser("どんな気分ですか？")),
            (yield from AskUser("どんな気分ですか？")),
            (yield from AskUser("何か飲みたいですか？")),
        ]

    log = MemoryLog()
    whole = run(talk(), World({AskUser: user(9)}), log=log, where=Where("i9", 1))
    cut = MemoryLog()
    for event in log.events[:2]:
        cut.append(event)
    assert run(talk(), World({AskUser: user(9)}), log=cut, where=Where("i9", 1)) == whole
    assert [user(9, seed=s).answer("どんな気分ですか？") for s in range(8)] != [
        user(9, seed=0).answer("どんな気分ですか？")
    ] * 8


def test_truth_does_not_depend_on_the_seed() -> None:
    stances = {stance(user(3, seed=s).answer("コップのことですか？")) for s in range(20)}
    assert stances == {"yes"}


def test_action_sets_are_recognised_by_their_texts() -> None:
    assert all_known(ActionSet(name="mine", actions=ACTIONS.actions[:5]))
    assert all_known(load_actions(language="en"))
    assert not all_known(ActionSet(name="mine", actions=(Action(id=1, text="窓を開ける"),)))


ARTA = ActionSet(
    name="arta3",
    actions=(
        Action(id=1, text="周辺の温泉を検索する"),
        Action(id=2, text="周辺のカフェを検索する"),
        Action(id=3, text="電話をかける"),
    ),
)


def test_other_action_sets_are_answered_by_the_words_of_facts_and_actions() -> None:
    one = Instance(id="a", scene=Scene(id="a", utterance="疲れたなあ"), gold=1, plausible=(1,))
    made = RuleSimulator(one.model_copy(update={"facts": Facts(first="体を温めたい")}), ARTA)
    assert made.answer("どんな気分ですか？").endswith("体を温めたい")
    assert stance(made.answer("温泉に入るような気分ですか？")) == "yes"
    assert stance(made.answer("カフェのような所がいいですか？")) == "no"
    assert made.answer("何か気になることはありますか？").endswith("体を温めたい")
    assert made.answer("明日は晴れますか？") == REFUSAL
    assert made.answer("時計を見せてもらえますか？") == REFUSAL
    assert "あと" in made.answer("カフェがいいですか、それとも温泉がいいですか？")
    bare = RuleSimulator(one, ARTA)
    assert bare.answer("どんな気分ですか？") == REFUSAL


@pytest.mark.parametrize(
    ("language", "bottle", "other"),
    [
        ("ja", "飲みかけのペットボトル", "空のサラダ油のボトル"),
        ("en", "half-drunk plastic bottle", "empty bottle of salad oil"),
    ],
)
def test_another_bottle_is_not_the_one_asked_about(
    language: Language, bottle: str, other: str
) -> None:
    one = Instance(
        id="i",
        scene=Scene(
            id="s",
            utterance="うーん" if language == "ja" else "Hmm",
            language=language,
            user=UserInfo(holding=(other,)),
            surroundings={"living room": (bottle,)},
        ),
        gold=27,
    )
    assert level("ペットボトル", one) == "part"
