"""Reads an existing dialogue between two people from JSON, CSV or a named transcript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import LINE, bounded
from naisei.transcripts import Transcript, Turn, preview, read_transcript


@dataclass(frozen=True, slots=True)
class Utterance:
    """One line. session: from 1. turn: from 0 within its session. speaker: a display name. at: the
    time as in the file."""

    session: int
    turn: int
    speaker: str
    text: str
    at: datetime | time | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Two speakers, `a` first, and their lines in order.

    personas: name → description, if the file has it. left_out: number of skipped lines: by or to
    others, or in sessions where one of the two is silent. preview: description of how the file was
    read.
    """

    name: str
    speakers: tuple[str, str]
    lines: tuple[Utterance, ...]
    personas: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    preview: tuple[str, ...] = ()

    @property
    def sessions(self) -> list[int]:
        """The numbers of the sessions, in order."""
        return list(dict.fromkeys(line.session for line in self.lines))


def read_dialogue(
    path: Path | str,
    *,
    speakers: Sequence[str] = (),
    dialogue: str | None = None,
    form: str = "",
) -> Dialogue:
    """Read a dialogue from a file.

    Args:
        speakers: the two speakers to read, `a` first; required if the file has more than two.
            Default: the file's order.
        dialogue: id of the dialogue, in a file of several.
        form: a name of `naisei.transcripts.FORMS`; detected if empty.

    Raises:
        InputError: the file is unreadable or empty, or does not have two speakers.
    """
    place = str(path)
    if (agent_file := Path(place) / "agent_a.json").is_file():
        place = str(agent_file)
    return dialogue_of(read_transcript(place, dialogue=dialogue, form=form), place, speakers)


def dialogue_of(transcript: Transcript, place: str, speakers: Sequence[str] = ()) -> Dialogue:
    """The dialogue between two speakers of a transcript. Arguments as in `read_dialogue`."""
    transcript = _without_directions(transcript)
    for turn in transcript.turns:
        bounded(turn.text, LINE, place=f"{place}:{turn.number}")
    if not transcript.turns:
        raise InputError(
            say("発話がありません", "holds no utterance"),
            place=place,
            remedy=say(
                "「名前: 発話」の行か、speaker と text を持つ CSV・JSON を渡してください",
                "give lines of `name: text`, or CSV or JSON with speaker and text",
            ),
        )
    two = _two(transcript, tuple(s.strip() for s in speakers), place)
    selected = _between(transcript, two, place)
    return Dialogue(
        name=transcript.name,
        speakers=two,
        lines=tuple(_numbered(selected)),
        personas={name: text for name, text in transcript.personas.items() if name in two},
        left_out=len(transcript.turns) - len(selected),
        preview=preview(transcript),
    )


#: A stage direction before the spoken words: （被り気味）ここ…. Excludes laughter.
_DIRECTION = re.compile(r"（(?!(?:[笑汗泣]|爆笑|苦笑)）)[^（）\n]{1,20}）\s*(?=\S)")


def _without_directions(transcript: Transcript) -> Transcript:
    """Remove directions before the lines of a script (a transcript without times)."""
    if transcript.form != "script" or any(turn.at for turn in transcript.turns):
        return transcript
    turns = (
        replace(turn, text=turn.text[found.end() :])
        if (found := _DIRECTION.match(turn.text))
        else turn
        for turn in transcript.turns
    )
    return replace(transcript, turns=tuple(turns))


def _two(transcript: Transcript, chosen: tuple[str, ...], place: str) -> tuple[str, str]:
    counts = Counter(turn.speaker for turn in transcript.turns)
    listed = ", ".join(
        say(f"{name or '(名前なし)'} {n} 発話", f"{name or '(no name)'} ({n})")
        for name, n in counts.items()
    )
    if chosen:
        unknown = [name for name in chosen if name not in counts]
        if unknown:
            raise InputError(
                say(
                    f"話者 {'、'.join(unknown)} はいません",
                    f"there is no speaker {', '.join(unknown)}",
                ),
                place="--speakers",
                remedy=say(f"いるのは: {listed}", f"there are: {listed}"),
            )
        if len(set(chosen)) != 2 or len(chosen) != 2:
            raise InputError(
                say("ちがう二人を指定してください", "two different speakers are needed"),
                place="--speakers",
                remedy=say("例: --speakers 高橋,田中", "e.g. --speakers 高橋,田中"),
            )
        return chosen[0], chosen[1]
    order = transcript.speakers
    if len(order) != 2:
        many = len(order) > 2
        raise InputError(
            say(
                f"話者が {len(order)} 人います: {listed}"
                if many
                else f"話者が一人しかいません: {listed}",
                f"has {len(order)} speakers: {listed}"
                if many
                else f"has one speaker only: {listed}",
            ),
            place=place,
            remedy=say(
                "--speakers で二人を選んでください (ほかの発話は除きます)",
                "choose two by --speakers (lines of others are left out)",
            )
            if many
            else say(
                "関係は二人の会話から読みます。行頭に話者名があるか確かめてください",
                "a relationship is read from a dialogue of two; check that each line names its "
                "speaker",
            ),
        )
    return order[0], order[1]


def _between(transcript: Transcript, two: tuple[str, str], place: str) -> list[Turn]:
    """The turns between the two. With more speakers, includes only sessions in which both speak,
    and excludes lines that address somebody else by name."""
    mine = [turn for turn in transcript.turns if turn.speaker in two]
    others = [name for name in transcript.speakers if name and name not in two]
    if not others:
        return mine
    spoken = {(turn.session, turn.speaker) for turn in mine}
    known = "|".join(re.escape(name) for name in sorted(others, key=len, reverse=True))
    to_others = re.compile(
        rf"(?:\A|[\s、。！？!?@＠])(?:{known})(?:さん|くん|君|ちゃん|先生|先輩|様)?(?=[、。！？!?\s]|\Z)"
        rf"|(?:{known})(?:さん|くん|君|ちゃん|先生|先輩|様)(?![はがのも])"
    )
    found = [
        turn
        for turn in mine
        if all((turn.session, name) in spoken for name in two)
        and (to_others.search(turn.text) is None or any(name in turn.text for name in two))
    ]
    if not found:
        raise InputError(
            say("二人がともに話した回がありません", "the two never speak in one session"),
            place=place,
            remedy=say(
                "--speakers でほかの二人を選んでください", "choose two others by --speakers"
            ),
        )
    return found


def _numbered(rows: Sequence[Turn]) -> list[Utterance]:
    turns: Counter[int] = Counter()
    out = []
    for row in rows:
        text = row.text.strip()
        out.append(Utterance(row.session, turns[row.session], row.speaker, text, row.at))
        turns[row.session] += 1
    return out
