"""The gate round generate functions: plain, async, streaming; with and without a judge."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from both_languages import refused
from naisei.core import InputError
from naisei.director import Gate, JudgeQuestion, Scores, Turn, check, gate
from servers.openai_server import OpenAIServer

GOOD = "明日は晴れるでしょう。洗濯の目安は午前です。"
APART = "つまり別居しているので、洗濯は別々です。"
LONG = "\n".join(["つまり洗濯です。"] * 8)
SCORES = {"frame": 4, "roleplay": 4, "connection": 4, "density": 4, "naturalness": 4}


class Writer:
    """Gives its drafts in order, and keeps the reasons that it was told."""

    def __init__(self, *drafts: str) -> None:
        self.drafts = list(drafts)
        self.told: list[tuple[str, ...]] = []

    def __call__(self, prompt: str = "", *, reasons: Sequence[str] = ()) -> str:
        self.told.append(tuple(reasons))
        return self.drafts[len(self.told) - 1]


def test_a_rejected_draft_is_written_again_with_the_reasons() -> None:
    writer = Writer(APART, LONG, GOOD)
    assert Gate(character="ayu", language="ja")(writer)("天気は？") == GOOD
    assert writer.told[0] == ()
    assert "一緒に暮らしている" in writer.told[1][0]
    assert "8行" in writer.told[2][0]


def test_verdicts_show_themselves_in_a_notebook() -> None:
    shown = check("一人暮らし<b>だよ。", character="ayu")._repr_html_()
    assert shown.index("setting") < shown.rindex("RETRY") and "&lt;b&gt;" in shown
    turns: list[Turn] = []
    Gate(character="ayu", language="ja", judge=lambda _: Scores(**SCORES), on_turn=turns.append)(
        Writer(APART, GOOD)
    )("天気は？")
    shown = turns[0]._repr_html_()
    assert shown.index("RETRY") < shown.index(GOOD) < shown.rindex("PASS")


def test_a_function_without_the_keyword_is_called_as_it_is() -> None:
    drafts = iter([APART, GOOD])

    @gate(character="あゆ")
    def reply(prompt: str, **options: str) -> str:
        assert (prompt, options) == ("天気", {"tone": "plain"})
        return next(drafts)

    assert reply("天気", tone="plain") == GOOD
    assert reply.__name__ == "reply"


@pytest.mark.parametrize(
    ("options", "answer", "outcome"),
    [
        ({}, LONG, "best"),
        ({"policy": "refuse"}, "", "refused"),
        ({"policy": "refuse", "otherwise": "（沈黙）"}, "（沈黙）", "refused"),
        ({"policy": "person", "person": lambda question: "そうねえ。"}, "そうねえ。", "person"),
        ({"policy": "person", "person": lambda question: " "}, "", "refused"),
    ],
)
def test_policies(options: dict[str, Any], answer: str, outcome: str) -> None:
    turns: list[Turn] = []
    blank_first = Writer("", LONG, f"{LONG}\n別居", "never asked for")
    gated = Gate(character="ayu", on_turn=turns.append, **options)(blank_first)
    assert gated() == answer
    assert [t.outcome for t in turns] == [outcome]
    assert [d.status.value for d in turns[0].drafts] == ["RETRY"] * 3


def test_safe_mends_are_made_and_recorded() -> None:
    turns: list[Turn] = []
    gated = Gate(character="yana", on_turn=turns.append)(lambda: "「えー！！」\n")
    assert gated() == "えー！"
    assert turns[0].status.value == "MODIFY"
    assert turns[0].diff[-2:] == ("-「えー！！」", "+えー！")


def test_history_is_read_at_each_call() -> None:
    lines = ["洗濯をする", GOOD]
    turns: list[Turn] = []
    gated = Gate(character="ayu", on_turn=turns.append, history=lambda: lines)(lambda: GOOD)
    gated()
    assert [c.name for c in turns[0].drafts[0].checks] == ["loop"]
    lines.clear()
    gated()
    assert turns[1].drafts[0].checks == ()


def test_streams_are_kept_back_until_a_draft_is_accepted() -> None:
    begun = 0

    @gate(character="ayu")
    def reply() -> Iterator[str]:
        nonlocal begun
        begun += 1
        yield from [APART[:4], APART[4:]] if begun == 1 else [GOOD[:3], GOOD[3:]]

    assert list(reply()) == [GOOD[:3], GOOD[3:]]
    assert list(gate()(lambda: iter(["えー", "！！"]))()) == ["えー！"]  # mended: one piece


def test_async_functions_and_streams() -> None:
    drafts = iter([APART, GOOD, APART, GOOD, APART, GOOD])

    @gate(character="ayu")
    async def reply() -> str:
        return next(drafts)

    @gate(character="ayu")
    async def stream() -> AsyncIterator[str]:
        text = next(drafts)
        yield text[:5]
        await asyncio.sleep(0)
        yield text[5:]

    async def opened() -> AsyncIterator[str]:
        async def pieces() -> AsyncIterator[str]:
            yield next(drafts)

        return pieces()

    async def go() -> None:
        assert await reply() == GOOD
        assert [part async for part in stream()] == [GOOD[:5], GOOD[5:]]
        later = await gate(character="ayu")(opened)()
        assert [part async for part in later] == [GOOD]

    asyncio.run(go())


def test_partials_methods_and_objects_keep_their_kind() -> None:
    class Bot:
        async def __call__(self, text: str) -> str:
            return text

        @gate(character="ayu")
        def line(self, text: str) -> str:
            return text

    async def echo(text: str) -> str:
        return text

    assert Bot().line(GOOD) == GOOD
    assert asyncio.run(gate(character="ayu")(Bot())(GOOD)) == GOOD
    assert asyncio.run(gate(character="ayu")(partial(echo, GOOD))()) == GOOD


@pytest.mark.parametrize("given", [Scores(**SCORES), SCORES, [4] * 5, '{"frame":4,"roleplay":4,'
                                   '"connection":4,"density":4,"naturalness":4}'])  # fmt: skip
def test_a_judge_may_answer_in_several_forms(given: Any) -> None:
    turns: list[Turn] = []
    asked: list[JudgeQuestion] = []

    def judge(question: JudgeQuestion) -> Any:
        asked.append(question)
        return given

    gated = Gate(character="ayu", judge=judge, on_turn=turns.append, topic="洗濯")(lambda: GOOD)
    assert gated() == GOOD
    assert turns[0].judged and turns[0].drafts[0].judgement is not None
    assert turns[0].drafts[0].judgement.mean == 4.0
    assert (asked[0].text, asked[0].character.id, asked[0].topic) == (GOOD, "ayu", "洗濯")
    assert GOOD in asked[0].messages[-1].content


def _raises(question: JudgeQuestion) -> Any:
    raise RuntimeError("down")


async def _late_malformed_reply(question: JudgeQuestion) -> Any:
    return {"frame": 9}


@pytest.mark.parametrize(
    "judge",
    [lambda q: None, lambda q: "多分いいと思う", lambda q: [0] * 5, lambda q: [True] * 5,
     lambda q: {**SCORES, "frame": 3.5}, _raises, _late_malformed_reply],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_judge_that_fails_leaves_the_line_to_the_hard_rules(judge: Any, kind: str) -> None:
    turns: list[Turn] = []
    made = Gate(character="ayu", judge=judge, on_turn=turns.append)

    async def later() -> str:
        return GOOD

    assert (asyncio.run(made(later)()) if kind == "async" else made(lambda: GOOD)()) == GOOD
    assert not turns[0].judged and "twice" in turns[0].drafts[0].judge_failure
    assert turns[0].status.value == "PASS"


def test_a_judge_rejects_and_the_writer_is_told_why() -> None:
    answers = iter([{**SCORES, "density": 1, "comment": "中身がない。"}, SCORES])
    writer = Writer(GOOD, GOOD)
    assert Gate(character="ayu", judge=lambda q: next(answers), language="ja")(writer)() == GOOD
    assert "3.4" in writer.told[1][0] and "情報密度 1" in writer.told[1][0]
    assert "中身がない" in writer.told[1][0]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_model_judges_by_its_name(
    openai_server: Callable[..., OpenAIServer], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = openai_server(lambda messages, schema: Scores(**SCORES).model_dump_json())
    turns: list[Turn] = []
    made = Gate(
        character="ayu",
        judge=f"openai-compatible:test@{server.url}",
        repeats=3,
        on_turn=turns.append,
    )

    async def later() -> str:
        return GOOD

    for _ in range(2):  # each in a loop of its own
        assert (asyncio.run(made(later)()) if kind == "async" else made(lambda: GOOD)()) == GOOD
    assert [t.judged for t in turns] == [True, True]
    found = turns[0].drafts[0].judgement
    assert found is not None and len(found.scores) == 3 and found.spread == 0
    assert server.calls == 6


def test_what_the_function_raises_passes_through() -> None:
    def broken() -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        gate()(broken)()
    with pytest.raises(TypeError, match="gives text, not int"):
        gate()(lambda: 3)()

    async def later() -> str:
        return GOOD

    with pytest.raises(TypeError, match="async def"):
        gate()(lambda: later())()


@pytest.mark.parametrize(
    "options", [{"character": "nobody"}, {"policy": "person"}, {"policy": "x"}, {"retries": -1}]
)
def test_wrong_options_are_refused_at_once(options: dict[str, Any]) -> None:
    refused(lambda: gate(**options))


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_sentences_are_let_out_as_they_end(kind: str) -> None:
    read: list[str] = []
    turns: list[Turn] = []
    pieces = ["明日は晴れ", "ます。洗濯", "は午前に", "しましょう。", "一人暮らしですから。"]
    options = {"character": "ayu", "hold": "sentence", "on_turn": turns.append}

    def draft() -> Iterator[str]:
        for piece in pieces:
            read.append(piece)
            yield piece

    async def adraft() -> AsyncIterator[str]:
        for piece in draft():
            yield piece

    async def all_of(stream: AsyncIterator[str]) -> list[tuple[str, int]]:
        return [(out, len(read)) async for out in stream]

    if kind == "plain":
        heard = [(out, len(read)) for out in Gate(**options)(draft)()]
    else:
        heard = asyncio.run(all_of(Gate(**options)(adraft)()))
    assert heard == [("明日は晴れます。", 2), ("洗濯は午前にしましょう。", 5)]
    (turn,) = turns
    assert turn.text == "明日は晴れます。洗濯は午前にしましょう。", (
        "the broken setting was kept back"
    )
    assert turn.latency is not None and turn.drafts[-1].status == "RETRY"


def test_a_first_sentence_that_is_rejected_is_written_again() -> None:
    drafts = iter(["一人暮らしですので。はい。", "二人分あります。どうぞ。"])
    stream = Gate(character="ayu", hold="sentence")

    @stream
    def reply() -> Iterator[str]:
        yield next(drafts)

    assert "".join(reply()) == "二人分あります。どうぞ。"
    with pytest.raises(InputError, match="hold"):
        Gate(character="ayu", hold="sentence", judge="openai:x")
