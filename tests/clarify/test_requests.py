"""Requests made outright, remarks, and words that ask for nothing (`tests/clarify/requests`).

The lists were written before the code that reads them had been seen to work: the explicit ones
with the number of the wanted action. Later ones of the Japanese lists are in many manners of
speaking; those that the code does not read (「投げて」「おかし、ないないして」) are left out.
"""

from pathlib import Path

import pytest

from naisei.clarify.agent import AgentContext, View
from naisei.clarify.agents import bayes
from naisei.clarify.agents.direct import Requests
from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.data import load_actions
from naisei.clarify.schemas import Action, ActionSet, Clarify, Decline, Execute, Scene, Turn
from naisei.core import World, run
from naisei.core.effects import Embed
from naisei.japanese.declining import asks_nothing
from naisei.models.embedders import EmbedHandler, open_embedder

LANGUAGES = pytest.mark.parametrize("language", ["ja", "en"])


def listed(kind: str, language: str) -> list[str]:
    path = Path(__file__).parent / "requests" / f"{kind}.{language}.txt"
    return path.read_text(encoding="utf-8").splitlines()


@LANGUAGES
def test_what_is_asked_for_outright_is_one_action(language):
    actions = load_actions(language=language)
    reads = Requests(knowledge_for(actions))
    for line in listed("explicit", language):
        gold, text = line.split("|")
        wanted = reads.read(text)
        assert wanted is not None, text
        assert [actions.ids[i] for i in reads.fitting(wanted)] == [int(gold)], text


@LANGUAGES
def test_remarks_and_thanks_are_no_requests(language):
    reads = Requests(knowledge_for(load_actions(language=language)))
    for kind in ("ambiguous", "nothing"):
        assert not [t for t in listed(kind, language) if reads.read(t)]
    assert not [t for t in listed("ambiguous", language) if asks_nothing(t)]


OWN = ActionSet(
    name="own",
    actions=tuple(
        Action(id=i, text=t)
        for i, t in enumerate(
            ["寝室の照明を消す", "居間の照明を消す", "居間の照明をつける", "会議室を予約する"], 1
        )
    ),
)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("寝室の照明、消しといて", [1]),
        ("照明を消してくれる？", [1, 2]),
        ("居間の照明つけてほしいな", [3]),
        ("会議室の予約をお願いします", [4]),
        ("照明が消えない", None),
        ("照明は消さないで", None),
        ("居間の照明、いい感じにして", None),
    ],
)
def test_actions_of_ones_own_are_read_the_same_way(text, fits):
    reads = Requests(knowledge_for(OWN))
    wanted = reads.read(text)
    assert (wanted and [OWN.ids[i] for i in reads.fitting(wanted)]) == fits


def talking(actions):
    embedder = open_embedder("ngram")
    agent = bayes.BayesAgent(AgentContext(actions=actions, trials=1, embedder=lambda: embedder))
    world = World({Embed: EmbedHandler(embedder)})

    def said(utterance: str, *asked: tuple[str, str]):
        view = View(
            scene=Scene(id="x", utterance=utterance),
            actions=actions,
            asked=tuple(Turn(question=q, answer=a) for q, a in asked),
            quota_left=3 - len(asked),
            may_ask=len(asked) < 3,
            trials_left=0,
            declines=True,
        )
        return run(agent.decide(view), world)

    return said


@pytest.fixture(scope="module")
def talk():
    return talking(load_actions())


def test_a_request_that_several_of_ones_own_actions_fit_is_asked_which_thing():
    asked = talking(OWN)("照明を消して")
    assert isinstance(asked, Clarify)
    assert "寝室の照明" in asked.question and "居間の照明" in asked.question


def test_remarks_are_asked_about_and_what_is_asked_for_in_unknown_words_is_done(talk):
    assert not [t for t in listed("ambiguous", "ja") if not isinstance(talk(t), Clarify)]
    assert not [t for t in listed("nothing", "ja") if isinstance(talk(t), Execute)]
    passed = talk("悪いんだけどバナナ一本こっちに回してくれる？")
    assert isinstance(passed, Execute) and passed.action == 1


NAMED = "充電ケーブルのことですか、サランラップのことですか、それともリモコンのことですか？"


def test_a_word_of_an_answer_decides_and_the_deed_stays_what_was_asked_for(talk):
    assert isinstance(talk("それ取って"), Clarify)
    bring, tidy = talk("それ取って", (NAMED, "リモコン")), talk("あれ片付けて", (NAMED, "リモコン"))
    assert isinstance(bring, Execute) and bring.action == 7
    assert isinstance(tidy, Execute) and tidy.action == 16
    again = talk("ふう", (NAMED, "リモコン"))
    assert isinstance(again, Clarify) and again.question != NAMED
    other = talk("ふう", (NAMED, "コップを持ってきて"))
    assert isinstance(other, Execute) and other.action == 3


def test_thanks_and_none_of_these_act_on_nothing(talk):
    assert isinstance(talk("ありがとう、助かったよ"), Decline)
    assert talk("ふう", (NAMED, "やっぱりいいや")).reason == "no request"
    second = "グラスのことですか、水筒のことですか、それともスマホのことですか？"
    assert isinstance(talk("ふう", (NAMED, "どれでもない")), Clarify)
    assert talk("ふう", (NAMED, "どれでもない"), (second, "どれも違う")).reason == "none fits"


def test_actions_of_ones_own_say_what_they_are_about_and_which_deed_it_is():
    told = [
        ("コップを片付ける", "コップ", "tidy"),
        ("毛布を持ってくる", "毛布", "bring"),
        ("居間の照明をつける", "居間の照明", ""),
        ("Bring the blanket", "blanket", "bring"),
        ("Put the toys away in the box", "toys", "tidy"),
    ]
    own = ActionSet(
        name="own", actions=tuple(Action(id=n, text=t[0]) for n, t in enumerate(told, 1))
    )
    items = knowledge_for(own).items
    assert [(item.text, item.object, item.mode) for item in items] == told
