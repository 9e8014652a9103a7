"""What was found out about a model, in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from naisei.lang import say

__all__ = ["CheckReport", "Finding", "Speed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a model can do or not. works: `None` where it could not be found out."""

    name: str
    works: bool | None
    ja: str
    en: str

    def __str__(self) -> str:
        mark = {True: "○", False: "×", None: "？"}[self.works]
        return f"{mark} {say(self.ja, self.en)}"


@dataclass(frozen=True, slots=True)
class Speed:
    """latency: seconds to a reply of one token. prompt, generated: tokens a second; `None`
    where the endpoint counts no tokens or the difference drowned in the noise."""

    latency: float
    prompt: float | None = None
    generated: float | None = None

    def __str__(self) -> str:
        prompt, generated = _rate(self.prompt), _rate(self.generated)
        return say(
            f"速さ：1トークンの返事まで{self.latency:.2f}秒、入力{prompt}、生成{generated}",
            f"speed: {self.latency:.2f} s to a reply of one token, prompt {prompt}, "
            f"generated {generated}",
        )


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings about one model. context: tokens, `None` if the endpoint does not tell."""

    model: str
    findings: tuple[Finding, ...]
    context: int | None = None
    speed: Speed | None = None

    @property
    def usable(self) -> bool:
        """Whether it answers at all."""
        return any(f.name == "chat" and f.works for f in self.findings)

    def lines(self) -> list[str]:
        """The report in the user's language, a line each."""
        window = f"{self.context}" if self.context else say("不明", "unknown")
        out = [self.model, *(f"  {f}" for f in self.findings)]
        out.append(
            f"  {say('文脈長', 'context window')}{say('：', ': ')}{window}"
            + (say("トークン", " tokens") if self.context else "")
        )
        if self.speed is not None:
            out.append(f"  {self.speed}")
        return out

    def to_json(self) -> dict[str, JsonValue]:
        """The same for programs: `null` is unknown."""
        speed = self.speed
        return {
            "model": self.model,
            **{f.name: f.works for f in self.findings},
            "context": self.context,
            "latency_s": speed.latency if speed else None,
            "prompt_tokens_per_s": speed.prompt if speed else None,
            "generated_tokens_per_s": speed.generated if speed else None,
        }


def _rate(value: float | None) -> str:
    return say("不明", "unknown") if value is None else f"{value:.1f} tok/s"
