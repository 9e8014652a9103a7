"""Conversations as a task of the run engine: one episode a conversation; shown as text and as it
happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, JsonValue
from rich.text import Text

from naisei.core import Embed, Event, Flow, Where, World, fingerprint
from naisei.lang import say
from naisei.memory.stream import StreamHandler
from naisei.relationship import flow, metrics
from naisei.relationship.config import RelationshipConfig, Rules
from naisei.relationship.messages import dated
from naisei.relationship.pairs import Pair, load_pairs
from naisei.relationship.recorder import RECORD, Recorder, recorded, streams_of
from naisei.relationship.schemas import Conversation, Line, Moment, Reflection, Session
from naisei.relationship.vector import DIMENSIONS, signed
from naisei.runs.task import Digest, EpisodeRow, Summary, Task
from naisei.terminal import Console

if TYPE_CHECKING:
    from naisei.runs.directory import RunDirectory
    from naisei.runs.result import RunResult


def digest(result: Any) -> Digest:
    """A conversation for lists: who talked, and how much was read."""
    talk = Conversation.model_validate(result)
    lines = sum(len(session.lines) for session in talk.sessions)
    read = sum(len(session.moments) for session in talk.sessions)
    did = say(
        f"{len(talk.sessions)} 回、{lines} 発話、読み取り {read} 回",
        f"{len(talk.sessions)} sessions, {lines} lines, {read} readings",
    )
    return Digest(did=did, title=say("と", " and ").join(talk.names.values()))


def transcript(talk: Conversation) -> str:
    """All sessions; under a line, what was read after it."""
    out: list[str] = []
    for session in talk.sessions:
        head = say(f"第{session.number}回", f"Session {session.number}")
        out += ["", f"{head}  {dated(session.start, talk.language)}"]
        opening = [m for m in session.moments if m.at == "session_start"]
        out += [text for moment in opening for text in moment_lines(talk, moment)]
        after = {m.turn: m for m in session.moments if m.at == "after_turn"}
        for line in session.lines:
            told = " *" if line.injected else ""
            out.append(f"{line.turn:>3} {talk.names[line.speaker]}{told}: {_row(line.text)}")
            if line.turn in after:
                out += moment_lines(talk, after[line.turn])
        if session.summary:
            out.append(say("    要約: ", "    Summary: ") + session.summary)
        elif session.summary_failure:
            out.append(say("    要約の失敗: ", "    No summary: ") + session.summary_failure)
    if any(line.injected for session in talk.sessions for line in session.lines):
        mark = say("* 関係値を伝えられて話した", "* spoken with the reading in the prompt")
        out += ["", mark]
    return "\n".join(out).strip()


def moment_lines(talk: Conversation, moment: Moment) -> list[str]:
    """The reflections made at a moment, one row each."""
    return [f"      {reading_line(talk, made)}" for made in moment.reflections]


def reading_line(talk: Conversation, made: Reflection) -> str:
    """`田中 → 高橋  Power -2  Intimacy +1  TaskOriented -2`, or why there is none."""
    ends = ("a", "b") if made.direction == "a_to_b" else ("b", "a")
    way = " → ".join(talk.names[end] for end in ends)  # type: ignore[index]
    vector = made.reading.vector
    if vector is None:
        return f"{way}  " + say("読めませんでした: ", "no reading: ") + made.reading.failure
    shown = "  ".join(
        f"{name} {signed(value)}" for name, value in zip(DIMENSIONS, vector.values, strict=True)
    )
    mended = "".join(
        f"  [{repair.dimension}: {repair.given} → {repair.used}, {repair.why}]"
        for repair in made.reading.repairs
    )
    return f"{way}  {shown}{mended}"


def _row(text: str) -> str:
    return " ⏎ ".join(text.splitlines())


class ConversationTask(Task[RelationshipConfig]):
    """Conversations under one configuration.

    Raises:
        InputError: personas that cannot be loaded.
    """

    system = "relationship"
    each = "sessions.lines"

    def __init__(self, config: RelationshipConfig) -> None:
        self.config = config
        first = config.rules.clock.start
        found = load_pairs(config.personas)
        self.pairs: dict[str, Pair] = {pair.id: pair.on(first) for pair in found}
        self.data_hash = fingerprint([p.model_dump(mode="json") for p in self.pairs.values()])

    def episodes(self) -> list[Where]:
        return [Where(id, n + 1) for id in self.pairs for n in range(self.config.dialogues)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        pair, rules = self.pairs[where.instance], self.config.rules
        record = Recorder(pair)
        world = remembering(base, record, rules, self.config.embedder)
        return flow.converse(pair, rules, record), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return metrics.summarise(self.config, rows, self.model_notes())

    def shown(self, where: Where, result: JsonValue) -> str:
        return transcript(Conversation.model_validate(result))

    def export(self, directory: RunDirectory, result: RunResult) -> None:
        """The agent files and prompt traces of the document, §5."""
        from naisei.relationship.exports import export

        export(directory, task=self)


def remembering(base: World, record: Recorder, rules: Rules, embedder: str) -> World:
    """`base`, with a record, and streams that find by its embeddings, unless `none`."""
    embed = None if embedder == "none" else base.handler(Embed(()))
    return recorded(base, record, StreamHandler(streams_of(rules), embed))


class Live:
    """Prints what is logged: an `on_event` of the run engine, for a single conversation."""

    def __init__(self, pair: Pair, console: Console) -> None:
        self._talk, self._console = Recorder(pair).conversation, console

    def __call__(self, event: Event) -> None:
        request = cast(dict[str, Any], event.request)
        if event.kind == "say":
            line = Line.model_validate(
                {**request["meta"], "speaker": request["speaker"], "text": request["text"]}
            )
            name, mark = self._talk.names[line.speaker], " *" if line.injected else ""
            self._print(Text(f"{name}{mark}: {' ⏎ '.join(line.text.splitlines())}", style="bold"))
        elif event.kind == "remember" and request["memory"] == RECORD:
            self._noted(request["item"])

    def _noted(self, item: dict[str, Any]) -> None:
        if "session" in item:
            session = Session.model_validate(item["session"])
            head = say(f"第{session.number}回", f"Session {session.number}")
            self._print(Text(f"── {head}  {dated(session.start, self._talk.language)}", "cyan"))
        elif "moment" in item:
            moment = Moment.model_validate(item["moment"])
            failed = any(made.reading.vector is None for made in moment.reflections)
            for row in moment_lines(self._talk, moment):
                self._print(Text(row, style="red" if failed else "dim"))
        elif "summary" in item:
            self._print(Text(say("要約: ", "Summary: ") + item["summary"], style="dim"))
        elif "summary_failure" in item:
            why = say("要約の失敗: ", "No summary: ") + item["summary_failure"]
            self._print(Text(why, style="red"))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)
