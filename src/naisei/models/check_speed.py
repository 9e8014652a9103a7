"""How fast a model reads and writes, by differences of a few requests."""

from __future__ import annotations

import secrets
import time

from naisei.core import Sampling, user
from naisei.models.base import ChatReply, ChatRequest, Transient, Unusable
from naisei.models.check_report import Speed
from naisei.models.line import Line, Spent

__all__ = ["measure"]

_FILLER = "居間の明かりをつけて、窓を閉めて、湯をわかして、洗濯物をたたみました。"
_NOISE = 0.1


async def measure(line: Line) -> Speed | None:
    """Latency, and tokens a second of prompt and reply; `None` if requests fail.

    Every prompt starts with a number of its own, so that no cached prefix makes it fast.
    """
    try:
        short_s, short = await _timed(line, "一言で答えてください。", 1)
        long_s, long = await _timed(line, _FILLER * 20 + "一言で答えてください。", 1)
        write_s, written = await _timed(line, "一から百まで漢数字で数えてください。", 64)
    except (Transient, Unusable):
        return None
    return Speed(
        latency=short_s,
        prompt=_rate(long.input_tokens - short.input_tokens, long_s - short_s, short_s),
        generated=_rate(written.output_tokens - short.output_tokens, write_s - short_s, short_s),
    )


async def _timed(line: Line, text: str, max_tokens: int) -> tuple[float, ChatReply]:
    prompt = f"{secrets.randbelow(10**6)}。{text}"
    sampling = Sampling(temperature=0.0, max_tokens=max_tokens)
    began = time.perf_counter()
    reply = await line.ask(ChatRequest((user(prompt),), sampling), Spent())
    return time.perf_counter() - began, reply


def _rate(tokens: int, seconds: float, latency: float) -> float | None:
    """Tokens a second; `None` where the difference is within the noise of the latency."""
    return tokens / seconds if tokens > 0 and seconds > _NOISE * latency else None
