"""benchmarks/injection.py: it sees a speaker who heeds the vector, and none in one who does not."""

import asyncio
import random
from typing import Any

from benchmarks.injection import measure, talks

from naisei.core import Chat, World

POLITE = ("承知いたしました。", "申し訳ありません。", "お願いいたします。", "恐れ入ります。")
BOSSY = ("早く決めろ。", "それでいい。やっておいて。", "だめだ。やり直せ。", "ちゃんとしろよ。")
MILD = ("そうですね。", "うん、いいよ。", "どうかな、たぶん大丈夫。", "分かりました。")


def speaker(*, heeds: bool) -> Any:
    draw = random.Random(0)

    def speak(chat: Chat[Any]) -> str:
        told = chat.messages[-1].content
        words = MILD
        if heeds and "Power: -2" in told:
            words = POLITE
        elif heeds and "Power: +2" in told:
            words = BOSSY
        return " ".join(draw.sample(words, 2))

    return speak


def figures(heeds: bool) -> dict[str, Any]:
    found = asyncio.run(talks(World({Chat: speaker(heeds=heeds)}), 6))
    return {one.name: one for one in measure(found)}


def test_who_heeds_the_vector_is_seen_and_who_does_not_is_not() -> None:
    heeding, deaf = figures(True), figures(False)
    assert heeding["toward.Power"].low > 1
    assert heeding["distance.Power -2"].low > heeding["distance.floor"].high
    assert abs(deaf["toward.Power"].value) < 0.5
    assert deaf["distance.Power -2"].value < 1.3 * deaf["distance.floor"].value
    assert heeding["recognised"].value > deaf["recognised"].value
