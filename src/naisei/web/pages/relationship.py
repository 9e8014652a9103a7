"""Two personas talk; charts of their relationship are updated live."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from naisei.core import Chat, Event, Handler, HandlerWrapper, InputError, Where
from naisei.http import ThreadHandler
from naisei.lang import say
from naisei.memory.stream import StreamHandler
from naisei.models.embedders import EmbedHandler, open_embedder, resolve
from naisei.relationship.config import Rules
from naisei.relationship.curves import curves, heard
from naisei.relationship.flow import converse, upcoming
from naisei.relationship.lines import event_lines
from naisei.relationship.pairs import Pair, pair_text, parse, shipped
from naisei.relationship.recorder import Recorder, recorded, replayed, streams_of
from naisei.relationship.schemas import AgentId
from naisei.relationship.standing import on_demand, talk_standing
from naisei.runs.charts import Chart
from naisei.runs.conversation import Prepared
from naisei.runs.lines import Line
from naisei.system.config import Parameters
from naisei.web.conversations.kind import (
    INSTRUMENT,
    ConversationContext,
    ConversationKind,
    PageConversation,
    Panel,
)
from naisei.web.conversations.routes import model_field, number_field, page_routes
from naisei.web.html import Refused, fragment
from naisei.web.pages import Page
from naisei.web.pages.conversation_file import ROUTES
from naisei.web.pages.profiles import profile_field


class PairConfig(BaseModel):
    """pair: id of a shipped pair, or the TOML text of one. played: agents whose lines the person
    writes. embedder: for the relevance of memories."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair: str
    played: tuple[AgentId, ...] = ()
    rules: Rules
    model: str | None = None
    embedder: str = "ngram"


@lru_cache(maxsize=64)
def pair_of(given: str) -> Pair:
    """Return the pair with an id, or from a TOML text; never reads a file on this machine.

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


def drawn(pair: Pair, rules: Rules, events: Iterable[Event]) -> str:
    """Render the relationship from the events as HTML."""
    talk = replayed(pair, events).conversation
    speech = heard(talk) if rules.reflection == "off" else None
    return curves_html(curves(talk, speech=speech), talk_standing(talk, speech), speech is not None)


def curves_html(charts: Sequence[Chart], lines: Sequence[Line], estimated: bool) -> str:
    """Render the relationship of two personas: in sentences, then as charts."""
    given = {"charts": charts, "lines": on_demand(lines), "estimated": estimated, "empty": ""}
    return fragment("relationship/_curves.html", **given)


_INSTRUMENTS = ("questioner", "reflector", "summariser", "rater")
_ROLES: dict[str, Parameters] = {"speaker": {}, **dict.fromkeys(_INSTRUMENTS, INSTRUMENT)}
#: A malformed reply is requested once more, then counts as a failed rating.
_RESENDS = dict.fromkeys(_INSTRUMENTS, 0)


@asynccontextmanager
async def _open(config: PairConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    rules = config.rules
    pair = pair_of(config.pair).on(rules.clock.start)
    models = dict.fromkeys(_ROLES, config.model) if config.model else {}
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
    """Takes the user's lines from the user, and everything else from the model."""

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
        raise Refused(422, "何か書いてください", "please write something")
    return text


def speaker_of(here: PageConversation) -> str:
    """Return the name of the next speaker."""
    config: PairConfig = here.config
    pair = pair_of(config.pair)
    record = replayed(pair, here.events)
    return pair.names[upcoming(config.rules, record)] if record.conversation.sessions else ""


def _lines(config: PairConfig, id: str, event: Event) -> Sequence[Line]:
    pair = pair_of(config.pair)
    return event_lines(event, pair.names, pair.language)


def _panels(config: PairConfig, events: Sequence[Event]) -> Sequence[Panel]:
    title = say("関係の移り変わり", "Relationship")
    return (Panel("curves", title, drawn(pair_of(config.pair), config.rules, events)),)


def _template_context(here: PageConversation) -> Mapping[str, Any]:
    return {"speaker": speaker_of(here)}


KIND: ConversationKind[PairConfig] = ConversationKind(
    name="relationship",
    config=PairConfig,
    open=_open,
    lines=_lines,
    panels=_panels,
    about=lambda config: pair_of(config.pair).setting,
    writes=lambda config: bool(config.played),
    placeholder=("台詞を書いて送る", "Write the line, in Japanese"),
    shown=_template_context,
    roles=_ROLES,
)


#: Maximum number of sessions, of turns per session, and of characters of a pair's TOML.
_SESSIONS, _TURNS = 5, 40
_PLAYED: dict[str, tuple[AgentId, ...]] = {"a": ("a",), "b": ("b",), "both": ("a", "b")}


def _sample() -> str:
    return pair_text(next(iter(shipped())))


async def _start(request: Request) -> dict[str, Any]:
    return {
        "pairs": list(shipped().values()),
        "most": (_SESSIONS, _TURNS),
        "sample": _sample(),
    }


async def _begin(request: Request, fields: Mapping[str, str]) -> tuple[PairConfig, str]:
    model = model_field(request, fields)
    given = fields.get("pair", "")
    own = profile_field(fields, _sample(), used=given == "own")
    if given == "own":
        given = own
    elif given not in shipped():
        raise Refused(422, "その組はありません", "no such pair")
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


PAGE = Page(
    name="relationship",
    title=("関係の内省", "Relationship"),
    about=(
        "ふたりの会話や手元のチャットから、力関係・親密度・タスク指向の移り変わりを描きます。",
        "Draws power, intimacy and task orientation, of two personas or of a chat of yours.",
    ),
    icon="M8 11a3 3 0 100-6 3 3 0 000 6zM16 11a3 3 0 100-6 3 3 0 000 6zM3 20c0-4 3-6 5-6s3 1 4 2c1-1 2-2 4-2s5 2 5 6",  # noqa: E501
    order=30,
    routes=[*ROUTES, *page_routes(KIND, start=_start, begin=_begin)],
    kinds=(KIND,),
)
