"""Two personas talk; how each stands toward the other is drawn as they do."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import Request

from naisei.core import Chat, Event, Handler, HandlerWrapper, InputError, Where
from naisei.http import ThreadHandler
from naisei.lang import language, say
from naisei.memory.stream import StreamHandler
from naisei.models.embedders import EmbedHandler, open_embedder, resolve
from naisei.relationship import schemas
from naisei.relationship.config import Rules
from naisei.relationship.flow import converse, upcoming
from naisei.relationship.pairs import Pair, pair_text, parse, shipped
from naisei.relationship.recorder import Recorder, recorded, replayed, streams_of
from naisei.relationship.schemas import AgentId, Line, Moment, Reflection
from naisei.relationship.speech import course
from naisei.relationship.vector import DIMENSIONS, NAMES_JA, RelationVector, degree, signed
from naisei.runs.conversation import Prepared
from naisei.system.config import Parameters
from naisei.web.conversations.kind import (
    INSTRUMENT,
    ConversationContext,
    ConversationKind,
    PageConversation,
)
from naisei.web.conversations.routes import model_field, number_field, page_routes
from naisei.web.conversations.script import SCRIPT, shipped_script
from naisei.web.html import fragment
from naisei.web.pages import Page
from naisei.web.pages.conversation_file import ROUTES
from naisei.web.pages.profiles import Profiles, profile_field


class PairConfig(BaseModel):
    """pair: id of a shipped pair, or the TOML text of one. played: those whose lines the person
    writes. embedder: for the relevance of memories."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair: str
    played: tuple[AgentId, ...] = ()
    rules: Rules
    model: str | None = None
    embedder: str = "ngram"


@lru_cache(maxsize=64)
def pair_of(given: str) -> Pair:
    """The pair of an id or a TOML text; no file of this machine is ever read.

    Raises:
        InputError: neither.
    """
    if (found := shipped().get(given)) is not None:
        return found
    place = say("人物の組", "pair")
    made = parse(given, place=place)
    if not isinstance(made, Pair):
        raise InputError(
            say("人物ひとりではなく、ふたりの組が要ります", "two are needed, not one persona"),
            place=place,
            remedy=say("naisei.pair.v1 の TOML にしてください", "give a TOML of naisei.pair.v1"),
        )
    return made


_WIDTH, _HEIGHT = 300, 84
_WAYS = ("a_to_b", "b_to_a")


@dataclass(frozen=True, slots=True)
class Curve:
    """way: `a_to_b` or `b_to_a`. points: of an SVG polyline. last: −3…3, `None` if
    unknown, or too near to 0 to be told of speech."""

    way: str
    points: tuple[tuple[float, float], ...]
    last: float | None

    @property
    def line(self) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True, slots=True)
class Panel:
    """One dimension. name: to show."""

    dimension: str
    name: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """estimated: the curves are by how the two talk, since no model reflects. moments: with the
    reflections made after a line, by its id; those of a session's start under the session."""

    conversation: schemas.Conversation
    panels: tuple[Panel, ...]
    estimated: bool
    made: dict[str, tuple[Reflection, ...]]
    width: int = _WIDTH
    height: int = _HEIGHT

    @property
    def lines(self) -> list[Line]:
        return [line for session in self.conversation.sessions for line in session.lines]

    def way(self, direction: str) -> str:
        """`高橋 → 佐藤`."""
        a, b = self.conversation.names["a"], self.conversation.names["b"]
        return f"{a} → {b}" if direction == "a_to_b" else f"{b} → {a}"

    @staticmethod
    def named(dimension: str) -> str:
        """A dimension in the reader's language."""
        return say(NAMES_JA[dimension], dimension)

    @staticmethod
    def worded(vector: RelationVector, dimension: str) -> str:
        """`+1 やや優位`."""
        value = getattr(vector, dimension)
        return f"{signed(value)} {degree(dimension, value, language())}"

    @classmethod
    def of(cls, config: PairConfig, events: Iterable[Event]) -> Picture:
        return cls.drawn(pair_of(config.pair), config.rules, events)

    @classmethod
    def drawn(cls, pair: Pair, rules: Rules, events: Iterable[Event]) -> Picture:
        """Of a pair's conversation under some rules, so far as the events tell."""
        talk = replayed(pair, events).conversation
        estimated = rules.reflection == "off"
        series = _estimates(talk) if estimated else _readings(talk)
        total = max(rules.sessions * rules.turns, 1)
        names = NAMES_JA if language() == "ja" else {name: name for name in DIMENSIONS}
        panels = tuple(
            Panel(
                name,
                names[name],
                tuple(_curve(way, series[way, name], total) for way in _WAYS),
            )
            for name in DIMENSIONS
        )
        return cls(talk, panels, estimated, _made(talk))


#: (utterances so far, value, whether it is told as a number).
_Series = dict[tuple[str, str], list[tuple[int, float, bool]]]


def _readings(talk: schemas.Conversation) -> _Series:
    found: _Series = {(way, name): [] for way in _WAYS for name in DIMENSIONS}
    before = 0
    for session in talk.sessions:
        for moment in session.moments:
            at = before + (moment.turn + 1 if moment.at == "after_turn" else 0)
            for way, stance in moment.stances.items():
                vector = stance.reading.vector
                for n, name in enumerate(DIMENSIONS):
                    line = found[way, name]
                    if vector is not None:
                        line.append((at, float(vector.values[n]), True))
                    elif line:  # an older number is not the state of now
                        line.append((at, line[-1][1], False))
        before += len(session.lines)
    return found


def _estimates(talk: schemas.Conversation) -> _Series:
    found: _Series = {(way, name): [] for way in _WAYS for name in DIMENSIONS}
    said = [(line.speaker, line.text) for session in talk.sessions for line in session.lines]
    names = {str(agent): name for agent, name in talk.names.items()}
    for at, both in enumerate(course(said, ("a", "b"), names=names), 1):
        for way, reading in zip(_WAYS, both, strict=True):
            for name in DIMENSIONS:
                one = reading[name]
                if not math.isnan(one.score):
                    found[way, name].append((at, one.score, not math.isnan(one.value)))
    return found


def _curve(way: str, series: Sequence[tuple[int, float, bool]], total: int) -> Curve:
    points = tuple(
        (at / total * (_WIDTH - 8) + 4, (3 - value) / 6 * (_HEIGHT - 12) + 6)
        for at, value, _ in series
    )
    _, last, told = series[-1] if series else (0, 0.0, False)
    return Curve(way, points, last if told else None)


def _made(talk: schemas.Conversation) -> dict[str, tuple[Reflection, ...]]:
    return {
        _place(moment, session.lines): moment.reflections
        for session in talk.sessions
        for moment in session.moments
        if moment.reflections
    }


def _place(moment: Moment, lines: Sequence[Line]) -> str:
    if moment.at == "session_start":
        return f"session-{moment.session}"
    return lines[moment.turn].id


_INSTRUMENTS = ("questioner", "reflector", "summariser", "rater")
_ROLES: dict[str, Parameters] = {"speaker": {}, **dict.fromkeys(_INSTRUMENTS, INSTRUMENT)}
#: What is malformed is asked for once more, then counts as a failed reading.
_RESENDS = dict.fromkeys(_INSTRUMENTS, 0)


@asynccontextmanager
async def _open(config: PairConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    rules = config.rules
    pair = pair_of(config.pair).on(rules.clock.start)
    model = shipped_script("relationship_demo/script.jsonl", config.model)
    models = dict.fromkeys(_ROLES, model) if model else {}
    base = await context.world(models, embedder=config.embedder, resends_of=_RESENDS)
    record = Recorder(pair)
    embed = EmbedHandler(open_embedder(config.embedder))
    streams = ThreadHandler(StreamHandler(streams_of(rules), embed))
    speech = _Speech(config, record, context, base.handler(Chat("speaker", ())))
    yield Prepared(
        converse(pair, rules, record),
        recorded(base, record, streams).having({Chat: speech}),
    )


class _Speech(HandlerWrapper):
    """A line comes from the person where it is theirs to speak, all else from the model."""

    def __init__(
        self, config: PairConfig, record: Recorder, context: ConversationContext, model: Handler
    ) -> None:
        super().__init__(model)
        self._config, self._record, self._context = config, record, context
        self._person = context.human(_line_of)

    def perform(self, effect: Chat[Any], where: Where) -> Any:
        if effect.role == "speaker" and self._next() in self._config.played:
            return self._person.perform(effect, where)
        self._context.note(
            say("台詞を書いています…", "Writing a line…")
            if effect.role == "speaker"
            else say("ふたりの関係をふり返っています…", "Reflecting on the relationship…")
        )
        return super().perform(effect, where)

    def _next(self) -> AgentId:
        return upcoming(self._config.rules, self._record)


def _line_of(effect: Chat[Any], fields: Mapping[str, str]) -> str:
    text = " ".join(fields.get("text", "").split())
    if not text:
        raise HTTPException(422, say("何か書いてください", "please write something"))
    return text


def speaker_of(here: PageConversation) -> str:
    """The name of whoever speaks next."""
    config: PairConfig = here.config
    pair = pair_of(config.pair)
    record = replayed(pair, here.events)
    return pair.names[upcoming(config.rules, record)] if record.conversation.sessions else ""


def _line(here: PageConversation, event: Event) -> str:
    if event.kind not in ("say", "remember"):
        return ""
    config: PairConfig = here.config
    picture = Picture.of(config, here.upto(event))
    return fragment("relationship/_event.html", event=event, picture=picture, config=config)


def _shown(here: PageConversation) -> Mapping[str, Any]:
    return {"speaker": speaker_of(here)}


KIND: ConversationKind[PairConfig] = ConversationKind(
    name="relationship",
    config=PairConfig,
    open=_open,
    line=_line,
    shown=_shown,
    roles=_ROLES,
)


#: Most sessions and turns of one, and characters of a pair's TOML.
_SESSIONS, _TURNS = 5, 40
_PLAYED: dict[str, tuple[AgentId, ...]] = {"a": ("a",), "b": ("b",), "both": ("a", "b")}


def _read(profile: str) -> str:
    pair = pair_of(profile)
    return f"{pair.title} ({pair.a.name}, {pair.b.name})"


_PROFILES = Profiles(
    page="relationship",
    samples=lambda: {pair.id: pair.title for pair in shipped().values()},
    text=pair_text,
    read=_read,
)


async def _start(request: Request) -> dict[str, Any]:
    return {
        "pairs": list(shipped().values()),
        "most": (_SESSIONS, _TURNS),
        "profiles": _PROFILES,
    }


#: The pair and the length of the script that ships.
_SCRIPTED = {"pair": "engineers", "sessions": "2", "turns": "6"}


async def _begin(request: Request, fields: Mapping[str, str]) -> tuple[PairConfig, str]:
    model = model_field(request, fields)
    if fields.get("script"):
        model, fields = SCRIPT, _SCRIPTED
    given = fields.get("pair", "")
    own = profile_field(fields, used=given == "own")
    if given == "own":
        given = own
    elif given not in shipped():
        raise HTTPException(422, say("その組はありません", "there is no such pair"))
    pair = pair_of(given)
    played = _PLAYED.get(fields.get("played", "none"), ()) if model else _PLAYED["both"]
    config = PairConfig(
        pair=given,
        played=played,
        rules=Rules(
            sessions=number_field(fields, "sessions", _SESSIONS, say("日数", "sessions")),
            turns=number_field(fields, "turns", _TURNS, say("発話の数", "utterances")),
            reflection="turn" if model else "off",
            summary=model is not None,
        ),
        model=model,
        embedder=resolve("auto") if model else "ngram",
    )
    return config, pair.title


def _show(request: Request, conversation: PageConversation) -> dict[str, Any]:
    config: PairConfig = conversation.config
    return {
        "speaker": speaker_of(conversation),
        "pair": pair_of(config.pair),
        "picture": Picture.of(config, conversation.events),
    }


PAGE = Page(
    name="relationship",
    title=("関係の内省", "Relationship"),
    about=(
        "ふたりの会話から、力関係・親密度・タスク指向の移り変わりを描きます。",
        "Draws power, intimacy and task orientation as two personas talk.",
    ),
    icon="M8 11a3 3 0 100-6 3 3 0 000 6zM16 11a3 3 0 100-6 3 3 0 000 6zM3 20c0-4 3-6 5-6s3 1 4 2c1-1 2-2 4-2s5 2 5 6",  # noqa: E501
    order=30,
    routes=[
        *ROUTES,
        *_PROFILES.routes(),
        *page_routes(KIND, start=_start, begin=_begin, show=_show),
    ],
    kinds=(KIND,),
)
