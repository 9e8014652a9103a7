"""The judge: a model's five scores, their mean, and the verdict.

Source: the retry-judgement specification, §7. Interpretation of the thresholds:
docs/design/0005-director.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import Chat, Check, Flow, Gather, InstrumentFailure, Message, Status
from naisei.director.schemas import ASPECTS, Judgement, Scores
from naisei.system.config import Options, flag

#: Thresholds of §7.1: a mean below the first is RETRY, from the second PASS, between them WARN.
RETRY_BELOW, PASS_FROM = 3.5, 4.0
#: A mean can hide one bad aspect: an aspect at or below this score gives at least WARN.
FLOOR = 2
#: Tolerance for floating-point means.
_DUST = 1e-9
#: The writer's feedback lists aspects with this score or less.
_LOW = 3


class Judging(Options):
    """How the judge is asked.

    A single judgement has means in steps of 0.2, none of which lies in the default margin; the
    margin matters with repeats.
    """

    repeats: int = flag(
        1,
        "一つの案を判定する回数 (平均をとる)",
        "Judgements of a draft, side by side; the mean over all of them counts.",
        needs="rules.judge",
        ge=1,
        le=25,
    )
    margin: float = flag(
        0.1,
        "境目のヒステリシス: 前に上だった人物は境目からこの幅まで上とみなす",
        "Hysteresis: who was above a cut stays above it down to, and without, cut − margin.",
        needs="rules.judge",
        ge=0,
        le=0.5,
    )


def status_of(mean: float, previous: Status | None = None, *, margin: float = 0.1) -> Status:
    """Return PASS, WARN or RETRY for a mean of 1 to 5.

    previous: the judge's last status for this speaker (the previous draft of this turn, else their
    last line), if any.

    >>> [status_of(m).value for m in (3.4, 3.5, 3.8, 3.95, 4.0)]
    ['RETRY', 'WARN', 'WARN', 'WARN', 'PASS']
    >>> status_of(3.95, Status.PASS).value, status_of(3.9, Status.PASS).value
    ('PASS', 'WARN')
    """
    passed = previous is Status.PASS
    stood = passed or previous is Status.WARN
    if mean >= PASS_FROM or (passed and mean > PASS_FROM - margin + _DUST):
        return Status.PASS
    if mean >= RETRY_BELOW or (stood and mean > RETRY_BELOW - margin + _DUST):
        return Status.WARN
    return Status.RETRY


def judge(
    messages: Sequence[Message], judging: Judging, *, previous: Status | None = None
) -> Flow[Judgement]:
    """Ask the judge `judging.repeats` times concurrently.

    Raises:
        InstrumentFailure: no judgement was usable, even after one repair each.
    """
    if judging.repeats == 1:
        return _judgement([(yield from Chat("judge", messages, Scores))], judging, previous, 0)
    answers = yield from Gather([_ask_judge(messages) for _ in range(judging.repeats)])
    heard = [answer for answer in answers if isinstance(answer, Scores)]
    failures = len(answers) - len(heard)
    if not heard:
        raise InstrumentFailure(f"none of {failures} judgements was usable; first: {answers[0]}")
    return _judgement(heard, judging, previous, failures)


def _ask_judge(messages: Sequence[Message]) -> Flow[Scores | str]:
    """Return one judgement, or the reason for its failure."""
    try:
        return (yield from Chat("judge", messages, Scores))
    except InstrumentFailure as failure:
        return str(failure)


def _judgement(
    heard: Sequence[Scores], judging: Judging, previous: Status | None, failures: int
) -> Judgement:
    mean = sum(sum(s.points) for s in heard) / (len(heard) * len(ASPECTS))
    means = [s.mean for s in heard]
    weakest = min(sum(s.points[i] for s in heard) / len(heard) for i in range(len(ASPECTS)))
    rejecting = sum(s.verdict == "RETRY" for s in heard) * 2 > len(heard)
    status = status_of(mean, previous, margin=judging.margin)
    if status is Status.PASS and (weakest <= FLOOR or rejecting):
        status = Status.WARN
    return Judgement(
        scores=tuple(heard),
        mean=mean,
        spread=max(means) - min(means),
        status=status,
        failures=failures,
    )


def judge_check(found: Judgement, language: str) -> Check:
    """The judgement as a check; its reason names the mean and the weak aspects."""
    if found.status is Status.PASS:
        return Check(name="judge", status=Status.PASS)
    points = {aspect: found.aspect(aspect) for aspect in ASPECTS}
    weakest = min(points.values())
    low = {a: p for a, p in points.items() if p <= max(_LOW, weakest)}
    ja = language == "ja"
    named = [f"{ASPECTS[a] if ja else a} {round(p, 1):g}" for a, p in low.items()]
    listed = ("、" if ja else ", ").join(named)
    # Truncated, since 3.47 is below the threshold of 3.5.
    mean = int(found.mean * 10 + _DUST) / 10
    said = found.comment
    ask = ("弱い点を直してください: ", "Mend what is weak: ")[not ja] + listed
    return Check(
        name="judge",
        status=found.status,
        reason=f"総合評価が{mean:.1f}です。" if ja else f"The judge's mean is {mean:.1f}.",
        suggestion=f"{ask}{('。' if ja else '. ')}{said}" if said else ask,
        evidence=tuple(named),
    )
