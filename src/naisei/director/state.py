"""The state of a talk: a fold over the spoken lines.

Source: the retry-judgement specification, §9.
"""

from __future__ import annotations

from collections.abc import Collection

from pydantic import BaseModel, ConfigDict

from naisei.core import Handler, Say, Status, Where
from naisei.director.line_checks import spoken_words
from naisei.director.wording.noun_phrases import new_topic, turns
from naisei.japanese.folding import fold

#: Number of remembered past topics, and of characters read per line.
_MEMORY, _READ = 20, 2000


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Spoken(_Frozen):
    """A spoken line. speaker: the character's id."""

    speaker: str
    text: str


class Note(_Frozen):
    """An instruction after a warning. to: a character's id; empty: the next speaker."""

    to: str
    text: str


class TalkState(_Frozen):
    """All that a rejected line must not touch.

    scene, names (character id → name to show): as the talk began.
    topic: what is being talked about; depth: lines in a row on it (hook depth). loops: word →
    lines in a row that hold it. history: every line, oldest first. memory: topics left behind,
    oldest first. notes: instructions that wait for their turn. judged: speaker → the judge's
    status of their last line, if any.
    """

    topic: str = ""
    scene: str = ""
    names: dict[str, str] = {}
    depth: int = 0
    loops: dict[str, int] = {}
    history: tuple[Spoken, ...] = ()
    memory: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    judged: dict[str, Status] = {}

    @property
    def lines(self) -> tuple[str, ...]:
        """The texts of the history."""
        return tuple(line.text for line in self.history)

    def instructions(self, speaker: str) -> tuple[str, ...]:
        """Instructions for this speaker's next turn."""
        return tuple(note.text for note in self.notes if note.to in ("", speaker))

    def after(self, said: Say, excluded: Collection[str] = ()) -> TalkState:
        """The state after a line. excluded: words that are not topics (the speakers' names)."""
        text = fold(said.text[:_READ])
        words = set(spoken_words(text)) - set(excluded)
        topic, memory = self.topic, self.memory
        # A topic continues until a line or the judge changes it.
        raised = str(said.meta.get("topic") or "")
        if not raised and (not topic or turns(text)):
            raised = new_topic(text, excluded)
        moved = bool(raised) and bool(topic) and raised not in topic
        if moved or not topic:
            topic = raised
            memory = (*memory, *([self.topic] if moved else []))[-_MEMORY:]
        left = (note for note in self.notes if note.to not in ("", said.speaker))
        new = (Note.model_validate(note) for note in said.meta.get("notes") or ())  # type: ignore[union-attr]
        judged = {who: status for who, status in self.judged.items() if who != said.speaker}
        if level := said.meta.get("judge"):
            judged[said.speaker] = Status(str(level))
        return TalkState(
            topic=topic,
            scene=self.scene,
            names=self.names,
            depth=1 if moved else self.depth + 1,
            loops={word: self.loops.get(word, 0) + 1 for word in sorted(words)},
            history=(*self.history, Spoken(speaker=said.speaker, text=said.text)),
            memory=memory,
            notes=(*left, *new),
            judged=judged,
        )


class TalkRecorder(Handler):
    """Performs `Say`, also on replay: only this changes a talk's state."""

    def __init__(self, state: TalkState, *, excluded: Collection[str] = ()) -> None:
        self.state = state
        self._hollow = frozenset(excluded)

    def perform(self, effect: Say, where: Where) -> None:
        self.state = self.state.after(effect, self._hollow)

    def restore(self, effect: Say, result: None, where: Where) -> None:
        self.perform(effect, where)
