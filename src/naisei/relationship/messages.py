"""Builds prompts, and extracts the spoken text from replies.

The constant part comes first, so that providers can cache the prefix: instructions, the growing
conversation, then the changing part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from naisei.core import Message, assistant, system, user
from naisei.lang import render
from naisei.memory.stream import Entry
from naisei.relationship.config import DAYTIME
from naisei.relationship.pairs import Pair, Persona
from naisei.relationship.recorder import other
from naisei.relationship.schemas import AgentId, Line, Questions, Session, Stance
from naisei.relationship.vector import DIMENSIONS, Reading, scale, worded

_PACKAGE = "naisei.relationship"
#: Maximum number of session summaries in a speaker's prompt.
_REMEMBERED = 6
_WEEKDAYS = "月火水木金土日"


def speaker_messages(
    pair: Pair, who: AgentId, sessions: Sequence[Session], reading: Reading | None
) -> tuple[Message, ...]:
    """Messages for the next speaker in the last of `sessions`.

    The speaker's own lines have the role assistant, the partner's the role user. The reading with
    its reasons comes last, so that prompts in a session share a prefix.
    """
    messages = [system(_instructions(pair, who, sessions))]
    lines = sessions[-1].lines
    if not lines or lines[0].speaker == who:
        # Endpoints require the first turn to be the user's.
        messages.append(user(render(_PACKAGE, "opening.v1", pair.language)))
    messages += [assistant(line.text) if line.speaker == who else user(line.text) for line in lines]
    if reading is None or reading.vector is None:
        return tuple(messages)
    reasons = {one.dimension: f" {one.text}" for one in reading.reasons if one.text}
    degrees = worded(reading.vector, pair.language)
    attitude = render(
        _PACKAGE,
        "attitude.v3",
        pair.language,
        partner=_persona(pair, other(who)).name,
        degrees="\n".join(
            f"- {degree}{reasons.get(name, '')}"
            for name, degree in zip(DIMENSIONS, degrees, strict=True)
        ),
    )
    return (*messages[:-1], user(f"{messages[-1].content}\n\n{attitude}"))


def questions_messages(pair: Pair, src: AgentId, memories: Sequence[Entry]) -> tuple[Message, ...]:
    """Prompt for the three questions about `src` toward the other. memories: oldest first."""
    listed = "\n".join(f"- {entry.line}" for entry in memories)
    return (
        system(render(_PACKAGE, "questions.v3", pair.language)),
        user(
            render(
                _PACKAGE,
                "questions-input.v3",
                pair.language,
                src=pair.names[src],
                dst=pair.names[other(src)],
                memories=listed or _none(pair),
            )
        ),
    )


def evidence_line(entry: Entry, language: str, *, newest: bool = False) -> str:
    """One line of evidence. An utterance starts with its date, session and turn (`2026-04-06 第1回3
    [田中] …`), a summary with its date, a persona's fact with neither. newest: mark it as the
    latest utterance."""
    if entry.kind != "utterance" or not isinstance(entry.source, dict):
        return entry.line
    session, turn = (int(str(entry.source.get(key, 0))) for key in ("session", "turn"))
    mark = ("（最新）" if language == "ja" else " (newest)") if newest else ""
    return f"{_timestamp(entry.time, session, turn, language)} {entry.line}{mark}"


def _timestamp(time: datetime, session: int, turn: int, language: str) -> str:
    at = f"第{session}回{turn + 1}" if language == "ja" else f"{session}-{turn + 1}"
    return f"{time:%Y-%m-%d} {at}"


def vector_messages(
    pair: Pair,
    src: AgentId,
    questions: Questions | None,
    evidence: str,
    *,
    now: datetime,
    former: tuple[datetime, Stance] | None = None,
) -> tuple[Message, ...]:
    """Prompt for the vector of `src` toward the other at `now`. former: time and value of the
    previous reading, included with its date but not as evidence."""
    return (
        system(
            render(
                _PACKAGE,
                "vector.v4",
                pair.language,
                power=scale("Power", pair.language),
                intimacy=scale("Intimacy", pair.language),
                task=scale("TaskOriented", pair.language),
                a=pair.a.name,
                a_persona=_line(pair.a.persona),
                b=pair.b.name,
                b_persona=_line(pair.b.persona),
            )
        ),
        user(
            render(
                _PACKAGE,
                "vector-input.v4",
                pair.language,
                now=dated(now, pair.language),
                former=_former(former, pair.language),
                src=pair.names[src],
                dst=pair.names[other(src)],
                questions=_asking(questions, pair.language),
                evidence=evidence or _none(pair),
            )
        ),
    )


def _asking(questions: Questions | None, language: str) -> str:
    if questions is None:
        return ""
    head = "問い:" if language == "ja" else "Questions:"
    return "\n".join(["", head, *(f"- {question}" for question in questions.listed), ""])


def _former(former: tuple[datetime, Stance] | None, language: str) -> str:
    if former is None or former[1].reading.vector is None:
        return ""
    (time, stance), values = former, worded(former[1].reading.vector, language)
    place = _timestamp(time, stance.session, stance.turn, language)
    if language == "ja":
        return f"\n前の値（{place}。根拠ではない）: {'、'.join(values)}\n"
    return f"\nRead before ({place}; no evidence): {', '.join(values)}\n"


def summary_messages(pair: Pair, session: Session) -> tuple[Message, ...]:
    """Prompt for the summary of a session."""
    lines = "\n".join(f"{pair.names[line.speaker]}: {line.text}" for line in session.lines)
    return _request(pair, "summary", date=dated(session.start, pair.language), lines=lines)


def importance_messages(pair: Pair, lines: Sequence[Line]) -> tuple[Message, ...]:
    """Prompt for the importance of several utterances at once."""
    listed = "\n".join(
        f"{n}. [{pair.names[line.speaker]}] {_line(line.text)}" for n, line in enumerate(lines, 1)
    )
    return _request(pair, "importance", count=len(lines), lines=listed)


def prompt_text(messages: Sequence[Message]) -> str:
    """Join a prompt into one text, for the trace."""
    return "\n\n".join(message.content for message in messages)


def dated(time: datetime, language: str) -> str:
    """Format date and weekday for prompts, with the time of day unless it is `DAYTIME`."""
    hour = time.time() != DAYTIME
    if language == "ja":
        day = f"{time.year}年{time.month}月{time.day}日（{_WEEKDAYS[time.weekday()]}）"
        return day + (f"{time.hour}時{time.minute:02}分" if hour else "")
    return f"{time:%A}, {time.day} {time:%B %Y}" + (f", {time:%H:%M}" if hour else "")


def _gap(before: datetime, now: datetime, language: str) -> str:
    """The days since the previous session, for prompts: 「前回の会話から7日たった」."""
    days = (now.date() - before.date()).days
    if language == "ja":
        return f"前回の会話から{days}日たった" if days else "前回の会話と同じ日"
    many = "day" if days == 1 else "days"
    return f"{days} {many} after the last talk" if days else "the same day as the last talk"


def _request(pair: Pair, name: str, **values: object) -> tuple[Message, ...]:
    return (
        system(render(_PACKAGE, f"{name}.v2", pair.language)),
        user(render(_PACKAGE, f"{name}-input.v1", pair.language, **values)),
    )


def _instructions(pair: Pair, who: AgentId, sessions: Sequence[Session]) -> str:
    """The speaker's instructions, constant within a session."""
    mine, theirs = _persona(pair, who), _persona(pair, other(who))
    now, before = sessions[-1], sessions[:-1]
    ja = pair.language == "ja"
    topic = pair.topics[(now.number - 1) % len(pair.topics)] if pair.topics else ""
    since = _gap(before[-1].start, now.start, pair.language) if before else ""
    return render(
        _PACKAGE,
        "speaker.v3",
        pair.language,
        who=mine.name,
        partner=theirs.name,
        persona=_described(mine, ja),
        speech=_speech(mine, theirs, ja),
        partner_persona=theirs.persona,
        date=dated(now.start, pair.language),
        gap=f"（{since}）" if since and ja else f" ({since})" if since else "",
        setting=_row("場面: " if ja else "Where: ", pair.setting),
        topic=_row("話題になりそうなこと: " if ja else "What may come up: ", topic),
        earlier=_earlier(before, pair.language),
    )


def _described(persona: Persona, ja: bool) -> str:
    facts = [f"- {fact}" for fact in persona.facts]
    return "\n".join([persona.persona, *facts])


def _speech(mine: Persona, theirs: Persona, ja: bool) -> str:
    speech = _row("話し方: " if ja else "Speech: ", mine.speech)
    calls = f"{theirs.name} の呼び方: " if ja else f"Calls {theirs.name}: "
    return speech + _row(calls, mine.calls)


def _earlier(before: Sequence[Session], language: str) -> str:
    summarised = [session for session in before if session.summary][-_REMEMBERED:]
    if not summarised:
        return ""
    head = "これまでの会話:" if language == "ja" else "Former talks:"
    rows = [f"- {dated(session.start, language)}: {session.summary}" for session in summarised]
    return "\n".join(["", head, *rows, ""])


def _persona(pair: Pair, who: AgentId) -> Persona:
    return pair.a if who == "a" else pair.b


def _row(head: str, text: str) -> str:
    return f"{head}{text}\n" if text else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _none(pair: Pair) -> str:
    return "（なし）" if pair.language == "ja" else "(none)"


_QUOTES = {"「": "」", "『": "』", '"': '"', "“": "”"}


def spoken_text(reply: str, me: str, partner: str) -> str:
    """Extract the spoken words of a reply: removes the speaker's name, outer quotation marks, and
    lines for the partner."""
    text = reply.strip()
    if (own := _label(me).match(text)) is not None:
        text = text[own.end() :]
    if (beyond := re.search(rf"\n\s*{_label(partner).pattern}", text)) is not None:
        text = text[: beyond.start()]
    text = text.strip()
    if text and _QUOTES.get(text[0]) == text[-1] and len(text) > 2:
        inner = text[1:-1]
        # 「…」と「…」 also begins and ends with quotation marks, but is not one quotation.
        if text[0] not in inner and text[-1] not in inner:
            text = inner.strip()
    return text


def _label(name: str) -> re.Pattern[str]:
    short = {re.escape(part) for part in (name, name.split()[0], name.replace(" ", ""))}
    return re.compile(rf"(?:{'|'.join(sorted(short, key=len, reverse=True))})\s*[:：]\s*")
