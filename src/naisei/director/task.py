"""Talks as a task of the run engine, one episode per talk; a person may write a line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import AskUser, Flow, Handler, InputError, Say, Where, World, fingerprint
from naisei.director import flow, metrics
from naisei.director.character import Character, load_character
from naisei.director.config import TalkConfig
from naisei.director.lines import turn_lines
from naisei.director.schemas import TalkResult
from naisei.director.state import TalkRecorder, TalkState
from naisei.lang import say
from naisei.lengths import MESSAGE, too_long
from naisei.runs.lines import Line
from naisei.runs.task import EpisodeRow, Summary, Task


class Terminal(Handler):
    """Prints the question on stderr and reads one line from stdin."""

    async def perform(self, effect: AskUser, where: Where) -> str:
        """Raises `InputError` at the end of stdin."""
        told = effect.question
        while told:
            print(f"{told}\n> ", end="", file=sys.stderr, flush=True)
            answer = await asyncio.to_thread(sys.stdin.readline)
            told = too_long(answer, MESSAGE)
        if not answer:
            raise InputError(
                say("端末で誰も答えませんでした", "nobody answered at the terminal"),
                place="--policy person",
                remedy=say(
                    "端末で `naisei runs resume DIR` として続けるか、"
                    "--policy best か --policy refuse で始め直してください",
                    "go on with `naisei runs resume DIR` at a terminal, or begin anew with "
                    "--policy best or --policy refuse",
                ),
            )
        return str(answer).rstrip("\r\n")


class TalkTask(Task[TalkConfig]):
    """Talks under one configuration.

    Raises:
        InputError: a character cannot be loaded, or two have the same id.
    """

    system = "director"
    each = "turns"

    def __init__(self, config: TalkConfig) -> None:
        self.config = config
        if config.rules.policy == "person":
            self.concurrency = 1  # a person answers one question at a time
        self.cast: tuple[Character, ...] = tuple(load_character(name) for name in config.cast)
        ids = [character.id for character in self.cast]
        if len(set(ids)) < len(ids):
            raise InputError(
                say(
                    f"同じ id のキャラクターが二人います: {', '.join(ids)}",
                    f"two characters have one id: {', '.join(ids)}",
                ),
                place="--cast",
                remedy=say("一人ずつ一度だけ指定してください", "name each character once"),
            )
        self.data_hash = fingerprint([c.model_dump(mode="json") for c in self.cast])

    @property
    def names(self) -> dict[str, str]:
        """Character id → name to show."""
        return {character.id: character.name for character in self.cast}

    def stage(self) -> TalkRecorder:
        """A fresh state and its recorder."""
        state = TalkState(topic=self.config.topic, scene=self.config.scene, names=self.names)
        partners = (c.partner.names for c in self.cast if c.partner is not None)
        excluded = {name for names in (*partners, *(c.names for c in self.cast)) for name in names}
        return TalkRecorder(state, excluded=excluded)

    def episodes(self) -> list[Where]:
        return [Where("talk", number + 1) for number in range(self.config.talks)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        stage = self.stage()
        world = base.having({Say: stage, AskUser: Terminal()})
        return flow.talk(self.cast, stage, self.config.turns, self.config.rules), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return metrics.summarise(self.config, self.names, rows, self.model_notes())

    def instances(self, where: Where, result: JsonValue) -> tuple[str, list[dict[str, Any]]]:
        """Return the spoken lines as good examples."""
        made, before = [], ""
        for turn in TalkResult.model_validate(result).turns:
            if turn.text is None:
                continue
            id = fingerprint([turn.speaker, before, turn.text])[:10]
            row = {"id": id, "part": "dev", "character": turn.speaker, "partner_line": before}
            topic = self.config.topic
            made.append({**row, "topic": topic, "line": turn.text, "kind": "good", "why": ""})
            before = turn.text
        return "director-lines/natural", made

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        turns, names = TalkResult.model_validate(result).turns, self.names
        return [line for t in turns for line in turn_lines(t, names.get(t.speaker, t.speaker))]
