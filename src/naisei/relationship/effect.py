"""Measures whether an injected vector changes speech: paired runs with and without injection.

A unit is an utterance with the same conversation, session, turn and speaker in both runs. Its value
is the speaker's stance, estimated without a model from the session's speech so far
(`naisei.relationship.speech`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.relationship.metrics import blocks
from naisei.relationship.recorder import toward
from naisei.relationship.schemas import Conversation, Direction, Line
from naisei.relationship.speech import SpeechEstimator
from naisei.relationship.vector import DIMENSIONS, RelationVector
from naisei.runs.report import plain_number
from naisei.runs.significance import Difference, paired_difference
from naisei.runs.task import Table
from naisei.system.config import Printed, flag, seed_flag

#: Session and turn of an utterance.
Place = tuple[int, int]


def talks_of(path: Path) -> dict[str, Conversation]:
    """Episode → conversation of a run.

    Raises:
        InputError: the path is not a run of conversations, or has no utterance yet.
    """
    from naisei.relationship.exports import conversations
    from naisei.runs.directory import RunDirectory

    with RunDirectory.look(path) as run:
        found = {
            key: talk
            for key, (_, talk) in conversations(run).items()
            if any(session.lines for session in talk.sessions)
        }
    if not found:
        raise InputError(
            say("まだ発話がありません", "there are no utterances yet"), place=str(path)
        )
    return found


@dataclass(frozen=True, slots=True)
class DimensionEffect:
    """The effect on one dimension.

    first, second: mean estimates with and without injection. shift: first − second. toward: the
    shift times the sign of the injected number, over units with a non-zero number; above 0, speech
    follows the vector. follows, follows_without: Spearman's ρ between vector and estimate in each
    run; NaN if undefined.
    """

    dimension: str
    first: float
    second: float
    shift: Difference
    toward: Difference
    follows: float
    follows_without: float


@dataclass(frozen=True, slots=True)
class InjectionEffect:
    """Effects on the three dimensions. units: compared utterances. injected: those with a vector
    in the first run's prompt. notes: warnings for the reader."""

    lines: tuple[DimensionEffect, ...]
    units: int
    injected: int
    notes: tuple[str, ...]

    def tables(self) -> tuple[Table, Table]:
        """The two tables to print."""
        shift = Table(
            say("発話からの推定: 注入あり − 注入なし", "Speech: with − without injection"),
            ("dimension", "with", "without", "shift", "shift low", "shift high", "p", "n"),
            tuple(
                (x.dimension, x.first, x.second, d.value, d.low, d.high, d.p, d.n)
                for x in self.lines
                for d in [x.shift]
            ),
            note=say(
                "同じ会話・回・発話ごとの差 (対応あり)。95 % 区間、符号反転検定",
                "Paired by conversation, session and turn; 95 % intervals, sign-flip tests.",
            ),
        )
        toward = Table(
            say("注入した値の向きへの変化と、値と推定の順位相関", "Toward the injected number"),
            (
                "dimension",
                "toward",
                "toward low",
                "toward high",
                "p",
                "n",
                "rho with",
                "rho without",
            ),
            tuple(
                (x.dimension, d.value, d.low, d.high, d.p, d.n, x.follows, x.follows_without)
                for x in self.lines
                for d in [x.toward]
            ),
        )
        return shift, toward

    def to_json(self) -> dict[str, JsonValue]:
        """Convert to JSON; an undefined number is null, with its reason."""
        return {
            "units": self.units,
            "injected": self.injected,
            "dimensions": {
                x.dimension: {
                    "with": plain_number(x.first),
                    "without": plain_number(x.second),
                    "shift": _difference(x.shift),
                    "toward": _difference(x.toward),
                    "rho_with": plain_number(x.follows),
                    "rho_without": plain_number(x.follows_without),
                }
                for x in self.lines
            },
            "notes": list(self.notes),
        }


def effect_of(run_with: Path, run_without: Path, *, seed: int = 0) -> InjectionEffect:
    """Compare two runs.

    Raises:
        InputError: a run is unreadable, the runs share no utterance, or only the second has
            injected utterances.
    """
    first, second = talks_of(run_with), talks_of(run_without)
    if not _injected(first.values()) and _injected(second.values()):
        raise InputError(
            say("注入があるのは二つ目のほうです", "the second run was injected"),
            place=str(run_with),
            remedy=say("注入ありの実行を先に書いてください", "name the run with injection first"),
        )
    return effect(first, second, seed=seed, place=f"{run_with}, {run_without}")


def effect(
    first: Mapping[str, Conversation],
    second: Mapping[str, Conversation],
    *,
    seed: int = 0,
    place: str = "",
) -> InjectionEffect:
    """Compare conversations with equal keys; `first`: with injection.

    Raises:
        InputError: the conversations share no utterance.
    """
    shared = [key for key in first if key in second]
    lines = [{key: _lines(talks[key]) for key in shared} for talks in (first, second)]
    units = [(k, at) for k in shared for at in sorted(lines[0][k].keys() & lines[1][k].keys())]
    if not units:
        raise InputError(
            say("対応する発話がありません", "they share no utterance"),
            place=place,
            remedy=say(
                "同じ人物・回数・発話数の二つの実行を比べてください",
                "compare runs of the same personas, sessions and turns",
            ),
        )
    vectors = [{key: _vectors(talks[key]) for key in shared} for talks in (first, second)]
    speech = [{key: _estimates(talks[key]) for key in shared} for talks in (first, second)]
    clusters, notes = blocks([(key, at[0]) for key, at in units])
    found = []
    for name in DIMENSIONS:
        with_, without = (np.array([read[k][at][name] for k, at in units]) for read in speech)
        injected_values, other_values = (
            np.array([_number(read[k][at], name) for k, at in units]) for read in vectors
        )
        sign = np.where(np.nan_to_num(injected_values) != 0, np.sign(injected_values), math.nan)
        found.append(
            DimensionEffect(
                name,
                _mean(with_),
                _mean(without),
                paired_difference(without, with_, clusters=clusters, seed=seed),
                paired_difference(without * sign, with_ * sign, clusters=clusters, seed=seed),
                _rank(injected_values, with_),
                _rank(other_values, without),
            )
        )
    injected = sum(lines[0][k][at].injected for k, at in units)
    notes += _warnings(first, second, injected)
    return InjectionEffect(tuple(found), len(units), injected, tuple(notes))


def _lines(talk: Conversation) -> dict[Place, Line]:
    return {(s.number, line.turn): line for s in talk.sessions for line in s.lines}


def _vectors(talk: Conversation) -> dict[Place, RelationVector | None]:
    """The speaker's vector at each utterance: from the prompt, or else the latest one."""
    found: dict[Place, RelationVector | None] = {}
    latest: dict[Direction, RelationVector] = {}
    for session in talk.sessions:
        moments = [(-1 if m.at == "session_start" else m.turn, m) for m in session.moments]
        for line in (*session.lines, None):
            turn = len(session.lines) if line is None else line.turn
            for at, moment in moments:
                if at == turn - 1:
                    read = {way: one.reading.vector for way, one in moment.stances.items()}
                    latest |= {way: vector for way, vector in read.items() if vector is not None}
            if line is not None:
                own = latest.get(toward(line.speaker))
                found[session.number, turn] = line.prompt_vector or own
    return found


def _estimates(talk: Conversation) -> dict[Place, dict[str, float]]:
    """The speaker's stance at each utterance, estimated from the session's speech so far."""
    out: dict[Place, dict[str, float]] = {}
    names = {str(agent): name for agent, name in talk.names.items()}
    for session in talk.sessions:
        course = SpeechEstimator(("a", "b"), names=names)
        for line in session.lines:
            course.add(line.speaker, line.text)
            reading = course.reading(line.speaker)
            out[session.number, line.turn] = {name: reading[name].score for name in DIMENSIONS}
    return out


def _number(vector: RelationVector | None, dimension: str) -> float:
    return math.nan if vector is None else float(getattr(vector, dimension))


def _warnings(
    first: Mapping[str, Conversation], second: Mapping[str, Conversation], injected: int
) -> list[str]:
    out = []
    alone = sorted(first.keys() ^ second.keys())
    if alone:
        shown = ", ".join(alone[:5])
        out.append(
            say(f"片方にしかない会話は除いた: {shown}", f"in one run only, left out: {shown}")
        )
    if not injected:
        out.append(
            say("一つ目にも注入された発話がない", "no utterance of the first was injected either")
        )
    if _injected(second.values()):
        out.append(say("二つ目にも注入がある", "the second was injected, too"))
    return out


def _injected(talks: Iterable[Conversation]) -> bool:
    return any(line.injected for talk in talks for line in _lines(talk).values())


def _mean(values: np.ndarray) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


def _rank(a: np.ndarray, b: np.ndarray) -> float:
    defined = ~(np.isnan(a) | np.isnan(b))
    return spearman(a[defined], b[defined])


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation ρ, with mean ranks for ties; NaN if undefined."""
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[back]


def _difference(d: Difference) -> dict[str, JsonValue]:
    return {
        "value": plain_number(d.value),
        "interval": [plain_number(d.low), plain_number(d.high)],
        "p": plain_number(d.p),
        "n": d.n,
        "reason": d.reason,
    }


class CompareOptions(Printed):
    """Flags of `naisei relationship compare`."""

    run_with: Path = flag(
        ...,
        "注入ありの実行ディレクトリ",
        "Run directory with injection.",
        argument=True,
        metavar="RUN_WITH",
    )
    run_without: Path = flag(
        ...,
        "注入なしのほう",
        "The one without injection.",
        argument=True,
        metavar="RUN_WITHOUT",
    )
    seed: int = seed_flag()
