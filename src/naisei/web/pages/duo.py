"""Two characters talk; every line is checked before it is spoken."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from naisei.core import AskUser, Chat, Event, Flow, Remember, Say, Status, Where
from naisei.director.character import Character, parse_character, shipped, shipped_profile
from naisei.director.config import TalkRules
from naisei.director.describe import writer_messages
from naisei.director.draft import checked
from naisei.director.flow import Writer, turn
from naisei.director.lines import turn_lines
from naisei.director.schemas import Draft, TalkResult, Turn
from naisei.director.state import TalkRecorder, TalkState
from naisei.director.voice_learning import exchanges
from naisei.lang import language, say
from naisei.lengths import FIELD
from naisei.runs.conversation import Prepared
from naisei.runs.lines import Line, folded
from naisei.system.config import Parameters
from naisei.web.conversations.kind import (
    INSTRUMENT,
    ConversationContext,
    ConversationKind,
    NotingHandler,
    PageConversation,
    Panel,
)
from naisei.web.conversations.routes import model_field, number_field, page_routes
from naisei.web.html import Refused, check_length
from naisei.web.pages import Page
from naisei.web.pages.profiles import profile_field
from naisei.web.replays.director import spoken_lines, talk_state

#: Maximum number of turns.
LONGEST = 40


class DuoConfig(BaseModel):
    """profiles: the two as TOML, in the order in which they speak. played: ids of characters whose
    lines the person writes; the model writes the others'."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profiles: tuple[str, str]
    played: tuple[str, ...] = ()
    topic: str = ""
    scene: str = ""
    turns: int = Field(default=8, ge=1, le=LONGEST)
    rules: TalkRules
    model: str | None = None

    @property
    def cast(self) -> tuple[Character, ...]:
        """Return the characters of the profiles. Raises `InputError` for an invalid one."""
        return tuple(_parsed(text) for text in self.profiles)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Character:
    return parse_character(text, place="profile")


#: Name of the memory with the turns.
TURNS = "turns"


def duo(config: DuoConfig, recorder: TalkRecorder) -> Flow[TalkResult]:
    """Run the director's loop for each line, written by the user or the model."""
    done: tuple[Turn, ...] = ()
    cast = config.cast
    while len(done) < config.turns:
        speaker = cast[len(done) % len(cast)]
        write = _writer(config, speaker, recorder.state)
        done += (
            (yield from turn(speaker, write, recorder.state, config.rules, number=len(done) + 1)),
        )
        yield from Remember(done[-1].model_dump(mode="json"), TURNS)
    return TalkResult(turns=done, state=recorder.state)


def _writer(config: DuoConfig, speaker: Character, state: TalkState) -> Writer:
    def person(rejected: Sequence[Draft]) -> Flow[str]:
        reasons = rejected[-1].reasons if rejected else ()
        return (yield from AskUser("\n".join((speaker.name, *reasons))))

    def model(rejected: Sequence[Draft]) -> Flow[str]:
        return (
            yield from Chat(
                "speaker", writer_messages(speaker, state, rejected, config.rules.language)
            )
        )

    return person if speaker.id in config.played else model


_ROLES: dict[str, Parameters] = {"speaker": {}, "judge": INSTRUMENT}


@asynccontextmanager
async def _open(config: DuoConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    models = dict.fromkeys(_ROLES, config.model) if config.model else {}
    # A malformed judgement is repaired once; then only the rules decide.
    base = await context.world(models, resends_of={"judge": 0})
    recorder = _recorder(config)
    handlers: dict[Any, Any] = {
        Say: recorder,
        AskUser: context.human(None),
        Remember: lambda effect: None,
    }
    if config.model:
        handlers[Chat] = NotingHandler(base.handler(Chat("speaker", ())), context, _doing)
    yield Prepared(duo(config, recorder), base.having(handlers))


def _recorder(config: DuoConfig) -> TalkRecorder:
    names = {character.id: character.name for character in config.cast}
    partners = (c.partner.names for c in config.cast if c.partner is not None)
    excluded = {name for all in (*partners, *(c.names for c in config.cast)) for name in all}
    state = TalkState(topic=config.topic, scene=config.scene, names=names)
    return TalkRecorder(state, excluded=excluded)


def _doing(effect: Chat[Any]) -> str:
    if effect.role == "judge":
        return say("台詞を判定しています…", "Judging the line…")
    return say("台詞を書いています…", "Writing a line…")


def _lines(config: DuoConfig, id: str, event: Event) -> Sequence[Line]:
    if event.kind != "remember":
        return ()
    request: Any = event.request
    told = Turn.model_validate(request["item"])
    names = {character.id: character.name for character in config.cast}
    return folded(turn_lines(told, names[told.speaker], mine=told.speaker == config.cast[1].id))


def _panels(config: DuoConfig, events: Sequence[Event]) -> Sequence[Panel]:
    recorder = _recorder(config)
    for said in spoken_lines(events):
        recorder.perform(said, Where())
    return (Panel("state", say("会話の流れ", "Where the talk stands"), talk_state(recorder.state)),)


def _about(config: DuoConfig) -> str:
    return say("場面: ", "Place: ") + config.scene if config.scene else ""


#: Maximum number of ready lines offered at a time.
_READY = 3


def _template_context(here: PageConversation) -> Mapping[str, Any]:
    """persona: the next speaker. ready: sample lines of that speaker, an answer to the last line
    first. failing: a line of the other character that the check rejects. None for the visitor's own
    profile."""
    requests: list[Any] = [e.request for e in here.events if e.kind == "remember"]
    told = [Turn.model_validate(request["item"]) for request in requests]
    cast: tuple[Character, ...] = here.config.cast
    speaker, other = cast[len(told) % 2], cast[1 - len(told) % 2]
    last = told[-1].text if told else None
    answers = [line for before, line in exchanges(speaker.id) if before and before == last]
    openings = [before for before, _ in exchanges(other.id) if before]
    at = len(told) * _READY % max(1, len(openings))
    ready = [*answers, *openings[at:], *openings][:_READY]
    rules: TalkRules = here.config.rules
    state = _recorder(here.config).state
    failing = (
        line
        for _, line in exchanges(other.id)
        if checked(line, speaker, state, rules.language, rules.rules).status is Status.RETRY
    )
    return {"persona": speaker.persona.strip(), "ready": ready, "failing": next(failing, "")}


KIND: ConversationKind[DuoConfig] = ConversationKind(
    name="duo",
    config=DuoConfig,
    open=_open,
    lines=_lines,
    panels=_panels,
    about=_about,
    writes=lambda config: bool(config.played),
    placeholder=("台詞を書いて送る", "Write the line, in Japanese"),
    shown=_template_context,
    roles=_ROLES,
)


def _sample() -> str:
    return shipped_profile(shipped()[0].id)


async def _start(request: Request) -> dict[str, Any]:
    return {"characters": shipped(), "longest": LONGEST, "sample": _sample()}


async def _begin(request: Request, fields: Mapping[str, str]) -> tuple[DuoConfig, str]:
    model = model_field(request, fields)
    chosen = [fields.get(place, "") for place in ("first", "second")]
    own = profile_field(fields, _sample(), used="own" in chosen)
    profiles = _profile(chosen[0], own), _profile(chosen[1], own)
    cast = tuple(parse_character(text, place=say("プロフィール", "profile")) for text in profiles)
    if cast[0].id == cast[1].id:
        raise Refused(
            422,
            f"ふたりとも id が {cast[0].id} です。別のふたりを選ぶか、id を変えてください",
            f"both have the id {cast[0].id}: choose two characters, or change the id",
        )
    topic, scene = fields.get("topic", ""), fields.get("place", "")
    for given in (topic, scene):
        check_length(given, FIELD)
    config = DuoConfig(
        profiles=profiles,
        played=_played(fields.get("played", "none"), cast, model),
        topic=topic,
        scene=scene,
        turns=number_field(fields, "turns", LONGEST, say("行数", "lines")),
        rules=TalkRules(judge=bool(model and fields.get("judge")), language=language()),
        model=model,
    )
    names = say("と", " and ").join(character.name for character in cast)
    return config, f"{names} · {topic}" if topic else names


def _profile(name: str, own: str) -> str:
    """Return the text of a bundled profile, or the submitted one; never a local file."""
    if name == "own":
        return own
    if name not in {character.id for character in shipped()}:
        raise Refused(422, "そのキャラクターはいません", "no such character")
    return shipped_profile(name)


def _played(given: str, cast: tuple[Character, ...], model: str | None) -> tuple[str, ...]:
    everyone = tuple(character.id for character in cast)
    if model is None:
        return everyone
    return {"first": everyone[:1], "second": everyone[1:], "both": everyone}.get(given, ())


PAGE = Page(
    name="duo",
    title=("ふたりの会話", "Duo"),
    about=(
        "キャラクターふたりの会話を、一行ずつ確かめてから出します。",
        "Two characters talk, and every line is checked before it is said.",
    ),
    icon="M3 5h11v7H8l-4 3zM17 9h4v11l-4-3h-6v-2",
    order=20,
    routes=page_routes(KIND, start=_start, begin=_begin),
    kinds=(KIND,),
)
