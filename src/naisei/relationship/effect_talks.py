"""Conversations to be compared: from a run directory, or from an agent file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.relationship.dialogues import Dialogue, Utterance, Vectors, read_dialogue
from naisei.relationship.schemas import Conversation
from naisei.relationship.vector import RelationVector

__all__ = ["Talk", "talks_of"]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation. key: what it is matched by. injected: (session, turn) of the utterances
    that were spoken with a vector in the prompt."""

    key: str
    dialogue: Dialogue
    injected: frozenset[tuple[int, int]]

    def vector(self, line: Utterance) -> RelationVector | None:
        """The speaker's latest vector before a line: what was, or would have been, injected."""
        way = self.dialogue.speakers.index(line.speaker)
        before = [
            at for at in self.dialogue.vectors if at < (line.session, line.turn) and at[0] > 0
        ]
        for at in sorted(before, reverse=True):
            if (found := self.dialogue.vectors[at][way]) is not None:
                return found
        return None


def talks_of(path: Path) -> dict[str, Talk]:
    """Key → conversation: the episodes of a run, or the one of an agent file (or its folder).

    Raises:
        InputError: there is none.
    """
    if (path / "config.json").exists() and not _rating(path):
        from naisei.relationship.exports import conversations
        from naisei.runs.directory import RunDirectory

        with RunDirectory.look(path) as run:
            found = {
                key: _talk(key, conversation)
                for key, (_, conversation) in conversations(run).items()
                if any(session.lines for session in conversation.sessions)
            }
        if not found:
            raise InputError(say("まだ発話がありません", "nothing was said yet"), place=str(path))
        return found
    file = path / "agent_a.json" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise InputError(
            say("実行ディレクトリでも agent_a.json のあるフォルダーでもありません",
                "is no run directory, and holds no agent_a.json"),
            place=str(path),
            remedy=say("naisei relationship run の --run-dir を渡してください",
                       "give the --run-dir of naisei relationship run"),
        )  # fmt: skip
    dialogue = read_dialogue(file)
    return {"dialogue": Talk("dialogue", dialogue, dialogue.injected)}


def _rating(path: Path) -> bool:
    """Whether it is a run of `rate`, which leaves an agent file of its own."""
    from naisei.runs.frozen import Frozen

    return Frozen.read(path / "config.json").config.get("task") == "rating"


def _talk(key: str, talk: Conversation) -> Talk:
    lines, vectors, injected = [], {}, set()
    for session in talk.sessions:
        for line in session.lines:
            lines.append(Utterance(session.number, line.turn, talk.names[line.speaker], line.text))
            if line.injected:
                injected.add((session.number, line.turn))
        for moment in session.moments:
            held: Vectors = tuple(
                stance.reading.vector if (stance := moment.stances.get(way)) else None
                for way in ("a_to_b", "b_to_a")
            )  # type: ignore[assignment]
            turn = -1 if moment.at == "session_start" else moment.turn
            vectors[session.number, turn] = held
    names = (talk.names["a"], talk.names["b"])
    return Talk(key, Dialogue(key, names, tuple(lines), {}, vectors), frozenset(injected))
