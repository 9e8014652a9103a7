"""A conversation in plain words: lines, and how the two stand after each."""

from __future__ import annotations

from naisei.lang import say
from naisei.relationship.clock import dated
from naisei.relationship.degrees import signed
from naisei.relationship.schemas import Conversation, Moment, Reflection
from naisei.relationship.vector import DIMENSIONS

__all__ = ["moment_lines", "reading_line", "transcript"]


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
