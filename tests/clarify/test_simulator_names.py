"""The rule user and things by name: as the scene prints them, and as one's own actions do."""

import pytest

from naisei.clarify.audit.questions import Probe
from naisei.clarify.audit.readings import interpret_answer
from naisei.clarify.data import load
from naisei.clarify.describe import is_refusal
from naisei.clarify.schemas import Action, ActionSet, Facts, Instance, Scene, UserInfo
from naisei.clarify.simulator.rule import RuleSimulator
from naisei.clarify.things import mentioned, names_of, thing_of
from naisei.japanese.answers import Stance, understand
from naisei.japanese.morph import normalise

PLACES = ("最初", "さいしょ"), ("二番目", "二ばんめ"), ("三番目", "三ばんめ")
DATA = load("ambigact40-open", split="dev")


def printed(instance):
    """The entries of a scene that name one known thing each: the wanted one's, and others'."""
    gold = {thing_of(a) for a in DATA.actions if a.id in instance.wanted}
    scene = instance.scene
    listed = (scene.user.holding, scene.user.reach, *scene.surroundings.values())
    entries = [e for part in listed for e in part if len(set(mentioned(e))) == 1]
    by_thing = {mentioned(e)[0]: e for e in reversed(entries)}
    own = [e for thing, e in by_thing.items() if thing in gold]
    return own, [e for thing, e in sorted(by_thing.items()) if thing not in gold]


def asked(sides):
    return (
        "、".join(f"{s}のことですか" for s in sides[:-1]) + f"、それとも{sides[-1]}のことですか？"
    )


def test_of_three_things_as_printed_the_wanted_one_is_taken_and_none_is_said_of_none():
    right = total = none = total_none = 0
    for n, instance in enumerate(DATA.instances):
        own, others = printed(instance)
        user = RuleSimulator(instance, DATA.actions)
        if own and len(others) > 1:
            sides = [*others[:2]]
            sides.insert(n % 3, own[0])
            said = user.answer(asked(sides)).split("。")[0]
            named = [
                k
                for k, side in enumerate(sides)
                if normalise(side) in said or any(word in said for word in PLACES[k])
            ]
            right, total = right + (named == [n % 3]), total + 1
        if len(others) > 2:
            said = user.answer(asked(others[:3]))
            none += understand(said).stance is Stance.NEITHER
            total_none += 1
    assert total > 90 and total_none > 90
    assert right / total > 0.97 and none / total_none > 0.97


#: Of the wanted thing and another one, by everyday names and as the scene prints them.
EITHER = {
    "ja": (
        "{}ですか、{}ですか？",
        "{}ですか。それとも{}ですか。",
        "{}のほうですか、それとも{}のほうですか",
        "{}と{}なら、どちらですか？",
        "{}か{}か、どっちの話でしょう？",
        "もしかして{}のこと？それか{}のこと？",
    ),
    "en": (
        "Is it the {} or the {}?",
        "Do you mean the {}, or the {}?",
        "Is it about the {}, or rather about the {}?",
        "Which is it, the {} or the {}?",
        "The {} or the {}?",
        "Would it be the {}, or is it the {}?",
    ),
}


def either_or(data, language):
    """The instance, a question, its sides and the place of the wanted one: of 40 scenes, in each
    of the forms, the order turned."""
    scenes = {i.scene_id: i for i in data.instances if len(i.wanted) == 1}
    thing = {a.id: thing_of(a) for a in data.actions}
    for n, one in enumerate(list(scenes.values())[:40]):
        assert one.facts is not None
        own, shown = thing[one.gold], {}
        for part in (
            one.scene.user.holding,
            one.scene.user.reach,
            *one.scene.surroundings.values(),
        ):
            for entry in part:
                if len(set(mentioned(entry))) == 1:
                    shown.setdefault(mentioned(entry)[0], entry)
        near = [thing[a] for a in (*one.facts.no, *one.plausible)]
        others = [t for t in dict.fromkeys((*near, *shown)) if t and t != own]
        for at, form in enumerate(EITHER[language]):
            pair = [own, others[at % len(others)]][:: -1 if (n + at // 2) % 2 else 1]
            names = [names_of(t, language)[0] for t in pair]
            seen = [shown.get(t, name) for t, name in zip(pair, names, strict=True)]
            sides = tuple(seen if at % 2 else names)
            yield one, form.format(*sides), sides, pair.index(own)


@pytest.mark.parametrize("name", ["ambigact40-open", "ambigact40-open-en"])
def test_of_either_or_the_wanted_one_is_taken(name):
    data = load(name, split="dev")
    found = []
    for one, question, sides, at in either_or(data, data.instances[0].scene.language):
        answer = RuleSimulator(one, data.actions).answer(question)
        said = interpret_answer(answer, Probe("either-or", question, truth=str(at), sides=sides))
        found.append("refused" if is_refusal(answer) else "right" if said == str(at) else said)
    assert len(found) == 240
    assert found.count("refused") <= 0.05 * len(found)
    assert found.count("neither") + found.count("no") <= 0.01 * len(found)
    assert found.count("right") >= 0.95 * len(found)


OFFICE = ActionSet(
    name="office",
    actions=tuple(
        Action(id=n, text=t)
        for n, t in enumerate(
            [
                "窓を開ける",
                "ブラインドを下ろす",
                "照明をつける",
                "コーヒーをいれる",
                "加湿器をつける",
            ],
            1,
        )
    ),
)
DARK = Instance(
    id="dark",
    scene=Scene(
        id="dark",
        utterance="ここ、ちょっと暗くない？",
        user=UserInfo(posture="椅子に座っている", holding=("書類",)),
        surroundings={"壁": ("照明のスイッチ",), "窓際": ("ブラインド",)},
    ),
    gold=3,
    facts=Facts(
        first="字が読みにくくて。",
        what_for="細かい字を読みたい。",
        state="椅子に座っている。",
        name="明かり",
        true=("字が読みにくい",),
        false=("まぶしい",),
    ),
)


@pytest.mark.parametrize(
    ("question", "has"),
    [
        ("ブラインドのことですか、照明のことですか？", "照明のほう"),
        ("明かりのことですか？", "細かい字を読みたい"),
        ("コーヒーのことですか、窓のことですか、それとも加湿器のことですか？", "どれ"),
        ("字が読みにくいですか？", "字が読みにくいんだ"),
        ("細かい字を読むつもりですか？", "細かい字を読みたい"),
    ],
)
def test_a_scene_of_ones_own_answers_by_its_actions_and_facts(question, has):
    assert has in RuleSimulator(DARK, OFFICE).answer(question)


def test_how_somebody_sits_is_no_answer_and_one_register_is_kept():
    user = RuleSimulator(DARK, OFFICE)
    said = [
        user.answer(q) for q in ("どんな具合ですか？", "まぶしいですか？", "どうなさいましたか？")
    ]
    assert not any("座っている" in answer for answer in said)
    assert not any("です" in answer or "ます" in answer for answer in said)
