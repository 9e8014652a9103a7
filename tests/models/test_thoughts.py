"""What a model thinks aloud is acted on, spoken and shown nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from models.helpers import Choice, gateway, perform
from naisei.core import Chat, InputError, Sampling, Where, user
from naisei.models.thoughts import parted, visible_so_far
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]
DRAFT, GOOD = '{"thought": "迷う", "action": 9}', '{"thought": "暑い", "action": 3}'
#: What comes before the answer, and after it.
FORMS = [
    (f"まず{DRAFT}かな。\n</think>\n\n", ""),
    (f"<think>\n{DRAFT}\n</think>\n\n", ""),
    (f"<THINK lang='ja'>{DRAFT}</think >", ""),
    (f"<thinking>{DRAFT} <reflection>{DRAFT}</reflection> で</thinking>", ""),
    (f"<reasoning>{DRAFT}</reasoning>\n<answer>", "</answer>"),
    (f'<thought>彼は 5" と {DRAFT}</thought>', ""),
    (f"<seed:think>{DRAFT}</seed:think>", ""),
    (f"◁think▷{DRAFT}◁/think▷", ""),
    (f"[THINK]{DRAFT}[/THINK]", ""),
    (
        f"<|begin_of_thought|>{DRAFT}<|end_of_thought|>\n<|begin_of_solution|>",
        "<|end_of_solution|>",
    ),
    (f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    (
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final "
        "<|constrain|>json<|message|>",
        "<|return|>",
    ),
    (f"<|channel|>analysis<|message|>{DRAFT}<|start|>assistant<|channel|>final<|message|>", ""),
    (f"<|channel>thought\n{DRAFT}<channel|>", ""),
    (f"analysisWe weigh {DRAFT}.assistantfinal", ""),
    (f"<think>{DRAFT}</think>\n<think>{DRAFT}</think>", "</think>"),
]


@pytest.mark.parametrize(("before", "after"), FORMS)
def test_the_answer_is_what_stands_beside_the_thoughts(
    openai_server: Start, before: str, after: str
) -> None:
    server = openai_server(lambda m, schema: f"{before}{GOOD if schema else 'はい。'}{after}")
    assert perform(gateway(server), schema=Choice).value == Choice(thought="暑い", action=3)
    assert perform(gateway(server)).value == "はい。"
    assert server.calls == 2


@pytest.mark.parametrize(("before", "after"), FORMS)
def test_thoughts_are_not_shown_while_they_come(
    openai_server: Start, before: str, after: str
) -> None:
    server = openai_server(lambda m, schema: f"{before}はい、そうします。{after}")
    through, heard = gateway(server), list[str]()

    async def twice() -> None:
        # Thoughts that begin in the prompt are known by the first reply that has them.
        await through.perform(Chat("agent", [user("？")]), Where("1"))
        effect: Chat[str] = Chat("agent", [user("？")], on_text=heard.append)
        done = await through.perform(effect, Where("2"))
        await through.aclose()
        assert done.value == "はい、そうします。"

    asyncio.run(twice())
    assert server.requests[1]["stream"] and len(set(heard)) > 1
    assert all("はい、そうします。".startswith(said) for said in heard)


@pytest.mark.parametrize(
    "text",
    [
        "タグ「<think>」で始まり、「</think>」で終わります。",
        "`<think>` は `</think>` で閉じます。",
        '"</think>" と書きます。',
        "```html\n<think>x</think>\n```",
        '{"thought": "the tag </think> ends it", "action": 3}',
        "The <think> tag opens a thought.",
        "私は <reasoning> という題で考えました。",
        "I think so. Reasoning: none. analysis of [1].",
    ],
)
def test_an_answer_that_speaks_of_marks_is_left_whole(text: str) -> None:
    assert parted(text).answer == text and not parted(text).thought


@pytest.mark.parametrize("reply", [f"<think>{DRAFT}", f"<|channel|>analysis<|message|>{DRAFT}"])
@pytest.mark.parametrize("schema", [Choice, None])
def test_a_thought_that_never_ends_is_no_answer_and_the_remedy_is_told(
    openai_server: Start, reply: str, schema: type[Choice] | None
) -> None:
    server = openai_server(lambda m, s: reply)
    with pytest.raises(InputError) as failed:
        perform(gateway(server, sampling=Sampling(max_tokens=50)), schema=schema)
    assert failed.value.place == server.url and "max_tokens" in str(failed.value.remedy)
    assert server.calls == 2


def test_a_mark_that_is_half_written_is_not_shown() -> None:
    text = "はい。<think>迷う</think>そうします。"
    shown = [visible_so_far(text[:n], headless=False) for n in range(len(text) + 1)]
    assert all("はい。そうします。".startswith(said) for said in shown)
    assert shown[-1] == "はい。そうします。"
