"""Rates an existing dialogue: both directions after every turn, by speech or a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median, pstdev
from typing import Any, Literal

from naisei.core import InputError
from naisei.japanese.morph import is_japanese
from naisei.lang import Language, say
from naisei.relationship.config import RatedLine, RatingConfig
from naisei.relationship.dialogues import Dialogue, Utterance
from naisei.relationship.schemas import WAYS, Conversation, Direction
from naisei.relationship.speech import SpeechEstimator, SpeechReading
from naisei.relationship.vector import DIMENSIONS, Reading, RelationVector, away_from_zero
from naisei.runs.significance import krippendorff_alpha
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric
from naisei.system.config import Options, flag


def median_reading(readings: Sequence[Reading]) -> Reading:
    """Self-consistency: the median of the usable readings in each dimension.

    With an even number, the mean of the two middle values, rounded away from 0. Includes the
    repairs of all readings. If no reading is usable, the result is the first failure.
    """
    vectors = [r.vector for r in readings if r.vector is not None]
    repairs = tuple(repair for r in readings for repair in r.repairs)
    if not vectors:
        return Reading(
            repairs=repairs,
            failure=next((r.failure for r in readings if r.failure), "nothing was read"),
        )
    middle = {
        name: away_from_zero(median(getattr(vector, name) for vector in vectors))
        for name in DIMENSIONS
    }
    # A dimension's reason is from the reading nearest to the median.
    reasons = []
    for name in DIMENSIONS:
        near = sorted(readings, key=lambda r: _distance(r, name, middle[name]))
        reasons += [one for r in near for one in r.reasons if one.dimension == name][:1]
    return Reading(vector=RelationVector(**middle), reasons=tuple(reasons), repairs=repairs)


def _distance(reading: Reading, name: str, value: int) -> int:
    return 99 if reading.vector is None else abs(getattr(reading.vector, name) - value)


def stability(
    repeats: Sequence[Sequence[dict[Direction, RelationVector | None]]], *, seed: int = 0
) -> list[Metric]:
    """Measure the agreement of repeated ratings.

    repeats: per repetition, the vectors after each turn, all of the same length; `None` for a
    failed reading. For each dimension: `alpha.D`, Krippendorff's α for interval data over turns ×
    directions, resampled by turn; `sd.D`, the mean population standard deviation within a unit, in
    scale points; `agreed.D`, the share of units on which all repetitions agree. NaN with a reason
    if fewer than two repetitions are usable.
    """
    out: list[Metric] = []
    turns = len(repeats[0]) if repeats else 0
    for name in DIMENSIONS:
        units: list[list[int | None]] = []
        clusters: list[int] = []
        for turn in range(turns):
            for way in WAYS:
                vectors = [one[turn].get(way) for one in repeats]
                units.append([None if v is None else int(getattr(v, name)) for v in vectors])
                clusters.append(turn)
        out.append(
            krippendorff_alpha(
                units,
                distance=lambda a, b: float((a - b) ** 2),
                clusters=clusters,
                name=f"alpha.{name}",
                seed=seed,
            )
        )
        read = [
            present for unit in units if len(present := [v for v in unit if v is not None]) >= 2
        ]
        why = "" if read else "no turn was read twice"
        same = [float(len(set(unit)) == 1) for unit in read]
        for kind, values in (("sd", [pstdev(unit) for unit in read]), ("agreed", same)):
            one = [0] * len(read)  # a single dialogue: no interval
            out.append(mean_metric(f"{kind}.{name}", values, clusters=one, reason=why))
    return out


@dataclass(frozen=True, slots=True)
class Score:
    """One number of one direction after one turn.

    value: the estimate, or the mean of the repetitions; NaN with a `reason` if missing. repeats:
    the number from each repetition, `None` if it failed.
    """

    value: float
    reason: str = ""
    repeats: tuple[int | None, ...] = ()

    @property
    def rounded(self) -> int | None:
        """The value rounded to an integer, halves away from 0."""
        return None if math.isnan(self.value) else away_from_zero(self.value)


@dataclass(frozen=True, slots=True)
class RatedTurn:
    """The scores after one utterance. marks: direction → dimension → score. speech: the
    estimator's readings with their evidence, if the rater is speech."""

    line: Utterance
    next_speaker: str
    marks: dict[Direction, dict[str, Score]]
    speech: dict[Direction, SpeechReading] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rating:
    """A rated dialogue. rater: `speech`, or a model's name."""

    dialogue: Dialogue
    rater: str
    turns: tuple[RatedTurn, ...]
    repeats: int = 1

    def name(self, way: Direction) -> tuple[str, str]:
        """The names of a direction: (from, to)."""
        a, b = self.dialogue.speakers
        return (a, b) if way == "a_to_b" else (b, a)

    def of(self, dialogue: Dialogue) -> Rating:
        """The same rating with the lines of `dialogue` (same dialogue, other names)."""
        pairs = zip(self.turns, dialogue.lines, strict=True)
        turns = tuple(replace(turn, line=line) for turn, line in pairs)
        return replace(self, dialogue=dialogue, turns=turns)


def rate_by_speech(dialogue: Dialogue) -> Rating:
    """Rate with the speech estimator; each turn uses all lines so far, across sessions."""
    estimator = SpeechEstimator(dialogue.speakers)
    turns = []
    for at, line in enumerate(dialogue.lines):
        estimator.add(line.speaker, line.text)
        readings: dict[Direction, SpeechReading] = {
            way: estimator.reading(src) for way, src in zip(WAYS, dialogue.speakers, strict=True)
        }
        marks = {
            way: {n: Score(r[n].value, r[n].reason) for n in DIMENSIONS}
            for way, r in readings.items()
        }
        turns.append(RatedTurn(line, next_speaker(dialogue, at), marks, readings))
    return Rating(dialogue, "speech", tuple(turns))


def from_conversations(dialogue: Dialogue, rater: str, talks: Sequence[Conversation]) -> Rating:
    """Collect a model's ratings from one conversation per repetition, possibly incomplete."""
    found: list[dict[tuple[int, int], dict[Direction, tuple[RelationVector | None, str]]]] = []
    for talk in talks:
        read: dict[tuple[int, int], dict[Direction, tuple[RelationVector | None, str]]] = {}
        for session in talk.sessions:
            for moment in session.moments:
                read[session.number, moment.turn] = {
                    way: (stance.reading.vector, stance.reading.failure)
                    for way, stance in moment.stances.items()
                }
        found.append(read)
    turns = []
    for at, line in enumerate(dialogue.lines):
        marks: dict[Direction, dict[str, Score]] = {}
        for way in WAYS:
            rated = [read.get((line.session, line.turn)) for read in found]
            answered = [one[way] for one in rated if one is not None and way in one]
            if any(one is not None for one in rated) and not answered:
                marks[way] = _marks([], say("まだ話していません", "has not spoken yet"))
                continue
            missing = [(None, "not rated")] * (len(found) - len(answered))
            every = [*answered, *missing]
            why = next((failure for vector, failure in every if vector is None), "")
            marks[way] = _marks([vector for vector, _ in every], why or "not rated")
        turns.append(RatedTurn(line, next_speaker(dialogue, at), marks))
    return Rating(dialogue, rater, tuple(turns), len(talks))


def _marks(vectors: Sequence[RelationVector | None], why: str) -> dict[str, Score]:
    out = {}
    for name in DIMENSIONS:
        values = tuple(None if v is None else int(getattr(v, name)) for v in vectors)
        read = [v for v in values if v is not None]
        mean = sum(read) / len(read) if read else math.nan
        out[name] = Score(mean, "" if read else why, values)
    return out


def next_speaker(dialogue: Dialogue, at: int) -> str:
    """The speaker after line `at`; after the last line of a session, the other speaker."""
    a, b = dialogue.speakers
    line = dialogue.lines[at]
    after = dialogue.lines[at + 1] if at + 1 < len(dialogue.lines) else None
    if after is not None and after.session == line.session:
        return after.speaker
    return b if line.speaker == a else a


class RateOptions(Options):
    """Flags of `naisei relationship rate` besides those of `RatingConfig`."""

    file: Path = flag(
        ...,
        "会話のファイル (読める形式は naisei data forms)",
        "A conversation file; `naisei data forms` lists the formats.",
        argument=True,
        metavar="FILE",
    )
    speakers: str | None = flag(
        None,
        "読む二人、A を先に (三人以上なら必要)",
        "The two speakers to rate, A first; required if there are more.",
        panel="input",
        metavar="A,B",
    )
    dialogue: str | None = flag(
        None,
        "何本も入ったファイルのうちの一本",
        "One dialogue of a file with several.",
        panel="input",
        metavar="ID",
    )
    form: str = flag(
        "",
        "ファイルの形式 (既定: 自動)",
        "Format of the file (default: detect).",
        panel="input",
        metavar="NAME",
    )
    rater: Literal["auto", "speech", "model"] = flag(
        "auto",
        "発話から推定する (モデル不要、日本語) か、モデルに読ませる。auto: 指定があればモデル",
        "Rate from speech (no model, Japanese) or with a model; auto: with a model if "
        "one is given.",
        panel=("採点", "Rating"),
    )
    pseudonyms: bool = flag(
        False,
        "名前・地名・住所・電話番号・メールを置き換えてから保存・送信する (本名は画面の表だけ)",
        "Replace names, places, addresses, numbers and mail addresses before anything is stored or "
        "sent; only the printed table has the originals.",
        panel="input",
    )
    out: Path | None = flag(
        None,
        "agent_a.json と同じ形で書く (plot で読める)",
        "Write it in the format of agent_a.json, for plot.",
        short="-o",
        panel="output",
        metavar="FILE.json",
    )
    csv: Path | None = flag(None, "CSV で書く", "Write CSV.", panel="output", metavar="FILE.csv")

    @property
    def chosen(self) -> list[str]:
        """The two speakers from `--speakers`; empty without it."""
        return [s.strip() for s in (self.speakers or "").replace("、", ",").split(",") if s.strip()]


def language_of(dialogue: Dialogue) -> Language:
    """The language of a dialogue, and of the prompts that rate it."""
    return "ja" if any(is_japanese(line.text) for line in dialogue.lines) else "en"


def config_fields(dialogue: Dialogue) -> dict[str, Any]:
    """The fields of `RatingConfig` from the dialogue."""
    return {
        "name": dialogue.name,
        "speakers": dialogue.speakers,
        "personas": dialogue.personas,
        "language": language_of(dialogue),
        "lines": tuple(
            RatedLine(session=x.session, turn=x.turn, speaker=x.speaker, text=x.text)
            for x in dialogue.lines
        ),
    }


def refuse_for_speech(config: RatingConfig) -> None:
    """Raises `InputError` for options that need a model."""
    for option, count in (("--repeats", config.repeats), ("--self-consistency", config.votes)):
        if count > 1:
            raise InputError(
                say(
                    "発話からの推定は何度しても同じです",
                    "the estimate from speech is deterministic",
                ),
                place=option,
                remedy=say("--model でモデルを指定してください", "choose a model with --model"),
            )
