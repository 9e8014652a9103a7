"""Measures whether an injected vector changes speech: paired runs with and without injection.

A unit is an utterance with the same conversation, session, turn and speaker in both runs. Its value
is the speaker's stance, estimated without a model from the session's speech so far
(`naisei.relationship.speech`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.relationship.dialogues import Dialogue, Utterance, Vectors, read_dialogue
from naisei.relationship.metrics import blocks
from naisei.relationship.schemas import WAYS, Conversation
from naisei.relationship.speech import SpeechEstimator
from naisei.relationship.vector import DIMENSIONS, RelationVector
from naisei.runs.report import plain_number
from naisei.runs.significance import Difference, paired_difference
from naisei.runs.task import Table
from naisei.system.config import Printed, flag, seed_flag


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation. key: matches conversations of two runs. injected: (session, turn) of
    utterances spoken with a vector in the prompt. prompt_vectors: those vectors, if recorded."""

    key: str
    dialogue: Dialogue
    injected: frozenset[tuple[int, int]]
    prompt_vectors: Mapping[tuple[int, int], RelationVector] = field(default_factory=dict)

    def vector(self, line: Utterance) -> RelationVector | None:
        """The speaker's latest vector before a line, whether or not it was injected."""
        if (known := self.prompt_vectors.get((line.session, line.turn))) is not None:
            return known
        way = self.dialogue.speakers.index(line.speaker)
        before = [
            at for at in self.dialogue.vectors if at < (line.session, line.turn) and at[0] > 0
        ]
        for at in sorted(before, reverse=True):
            if (found := self.dialogue.vectors[at][way]) is not None:
                return found
        return None


def talks_of(path: Path) -> dict[str, Talk]:
    """Key → conversation: the episodes of a run, or the one in an agent file (or its folder).

    Raises:
        InputError: no conversation there.
    """
    if (path / "config.json").exists() and not _rating(path):
        from naisei.relationship.exports import conversations
        from naisei.runs.directory import RunDirectory

        with RunDirectory.look(path) as run:
            found = {
                key: _talk(key, conversation)
                for key, (_, conversation) in conversations(run).items()
                if any(session.lines for session in conversation.sessions)
            }
        if not found:
            raise InputError(
                say("まだ発話がありません", "there are no utterances yet"), place=str(path)
            )
        return found
    file = path / "agent_a.json" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise InputError(
            say("実行ディレクトリでも agent_a.json のあるフォルダーでもありません",
                "is no run directory, and holds no agent_a.json"),
            place=str(path),
            remedy=say("naisei relationship run の --run-dir を渡してください",
                       "give the --run-dir of naisei relationship run"),
        )  # fmt: skip
    dialogue = read_dialogue(file)
    return {"dialogue": Talk("dialogue", dialogue, dialogue.injected)}


def _rating(path: Path) -> bool:
    """Whether it is a run of `rate`, which writes its own agent file."""
    from naisei.runs.frozen import Frozen

    return Frozen.read(path / "config.json").config.get("task") == "rating"


def _talk(key: str, talk: Conversation) -> Talk:
    lines, vectors, injected, prompt_vectors = [], {}, set(), {}
    for session in talk.sessions:
        for line in session.lines:
            lines.append(Utterance(session.number, line.turn, talk.names[line.speaker], line.text))
            if line.injected:
                injected.add((session.number, line.turn))
            if line.prompt_vector is not None:
                prompt_vectors[session.number, line.turn] = line.prompt_vector
        for moment in session.moments:
            vectors_now: Vectors = tuple(
                stance.reading.vector if (stance := moment.stances.get(way)) else None
                for way in WAYS
            )  # type: ignore[assignment]
            turn = -1 if moment.at == "session_start" else moment.turn
            vectors[session.number, turn] = vectors_now
    names = (talk.names["a"], talk.names["b"])
    dialogue = Dialogue(key, names, tuple(lines), {}, vectors)
    return Talk(key, dialogue, frozenset(injected), prompt_vectors)


@dataclass(frozen=True, slots=True)
class DimensionEffect:
    """The effect on one dimension.

    first, second: mean estimates with and without injection. shift: first − second. toward: the
    shift times the sign of the injected number, over units where that is not 0; above 0, speech
    follows the vector. follows, follows_without: Spearman's ρ between vector and estimate in each
    run; NaN where undefined.
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
        """As JSON; an undefined figure is null with its reason."""
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
    """Compare two runs, or two agent files.

    Raises:
        InputError: a run cannot be read, they share no utterance, or the first has no
            injected utterance while the second has.
    """
    first, second = talks_of(run_with), talks_of(run_without)
    if not _injected(first) and _injected(second):
        raise InputError(
            say("注入があるのは二つ目のほうです", "the second run was injected"),
            place=str(run_with),
            remedy=say("注入ありの実行を先に書いてください", "name the run with injection first"),
        )
    return effect(first, second, seed=seed, place=f"{run_with}, {run_without}")


def effect(
    first: Mapping[str, Talk], second: Mapping[str, Talk], *, seed: int = 0, place: str = ""
) -> InjectionEffect:
    """Compare conversations with equal keys; `first` are those with injection.

    Raises:
        InputError: they share no utterance.
    """
    units = [
        (key, at, first[key], second[key])
        for key in first
        if key in second
        for at in sorted(_speaker_by_turn(first[key]).keys() & _speaker_by_turn(second[key]).keys())
    ]
    if not units:
        raise InputError(
            say("対応する発話がありません", "they share no utterance"),
            place=place,
            remedy=say(
                "同じ人物・回数・発話数の二つの実行を比べてください",
                "compare runs of the same personas, sessions and turns",
            ),
        )
    read = {id(t): _estimates(t) for talks in (first, second) for t in talks.values()}
    clusters, notes = blocks([(key, at[0]) for key, at, *_ in units])
    lines = []
    for name in DIMENSIONS:
        with_, without = (
            np.array([read[id(u[side])][u[1]][name] for u in units]) for side in (2, 3)
        )
        injected_values = np.array([_number(a, at, name) for _, at, a, _ in units])
        other_values = np.array([_number(b, at, name) for _, at, _, b in units])
        sign = np.where(np.nan_to_num(injected_values) != 0, np.sign(injected_values), math.nan)
        lines.append(
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
    injected = sum(at in a.injected for _, at, a, _ in units)
    return InjectionEffect(
        tuple(lines), len(units), injected, (*notes, *_warnings(first, second, injected))
    )


def _speaker_by_turn(talk: Talk) -> dict[tuple[int, int], str]:
    return {(x.session, x.turn): x.speaker for x in talk.dialogue.lines}


def _estimates(talk: Talk) -> dict[tuple[int, int], dict[str, float]]:
    """(session, turn) → the speaker's stance, estimated from the session's speech so far."""
    out: dict[tuple[int, int], dict[str, float]] = {}
    course, session = SpeechEstimator(talk.dialogue.speakers), 0
    for line in talk.dialogue.lines:
        if line.session != session:
            course, session = SpeechEstimator(talk.dialogue.speakers), line.session
        course.add(line.speaker, line.text)
        reading = course.reading(line.speaker)
        out[line.session, line.turn] = {name: reading[name].score for name in DIMENSIONS}
    return out


def _number(talk: Talk, at: tuple[int, int], dimension: str) -> float:
    """The speaker's number before the utterance `at`; NaN without one."""
    line = next(x for x in talk.dialogue.lines if (x.session, x.turn) == at)
    vector = talk.vector(line)
    return math.nan if vector is None else float(getattr(vector, dimension))


def _warnings(first: Mapping[str, Talk], second: Mapping[str, Talk], injected: int) -> list[str]:
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
    if _injected(second):
        out.append(say("二つ目にも注入がある", "the second was injected, too"))
    return out


def _injected(talks: Mapping[str, Talk]) -> int:
    return sum(len(talk.injected) for talk in talks.values())


def _mean(values: np.ndarray) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


def _rank(a: np.ndarray, b: np.ndarray) -> float:
    defined = ~(np.isnan(a) | np.isnan(b))
    return spearman(a[defined], b[defined])


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation ρ, ties by their mean rank; NaN where undefined."""
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
        "注入ありの実行ディレクトリ (または agent_a.json)",
        "Run directory with injection (or an agent_a.json).",
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
