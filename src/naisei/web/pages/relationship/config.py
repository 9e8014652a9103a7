"""What a conversation at the page depends on, frozen when it begins."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from naisei.core import InputError
from naisei.lang import say
from naisei.relationship.pairs import parse, shipped
from naisei.relationship.persona import Pair
from naisei.relationship.rules import Rules
from naisei.relationship.schemas import AgentId

__all__ = ["PairConfig", "pair_of"]


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
