"""The talk as a flow, with each turn told as it ends: its line, its verdicts, its drafts."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import AskUser, Chat, Flow, Remember
from naisei.director.flow import Writer, turn
from naisei.director.profile import Character
from naisei.director.schemas import Draft, TalkResult, Turn
from naisei.director.state import Stage, TalkState
from naisei.director.words import writer_messages
from naisei.web.pages.duo.config import DuoConfig

__all__ = ["TURNS", "duo"]

#: The memory that the turns are told to.
TURNS = "turns"


def duo(config: DuoConfig, stage: Stage) -> Flow[TalkResult]:
    """The director's loop for each line, whoever writes it."""
    done: tuple[Turn, ...] = ()
    cast = config.cast
    while len(done) < config.turns:
        speaker = cast[len(done) % len(cast)]
        write = _writer(config, speaker, stage.state)
        done += (
            (yield from turn(speaker, write, stage.state, config.rules, number=len(done) + 1)),
        )
        yield from Remember(done[-1].model_dump(mode="json"), TURNS)
    return TalkResult(turns=done, state=stage.state)


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
