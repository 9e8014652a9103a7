"""An existing dialogue of two, from JSON, CSV or a transcript with names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError
from naisei.dialogue_rows import Row
from naisei.lang import say
from naisei.lengths import LINE, bounded
from naisei.relationship.dialogue_files import rows_of
from naisei.relationship.vector import RelationVector

Vectors = tuple[RelationVector | None, RelationVector | None]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One line. session: from 1. turn: from 0 within its session. speaker: a display name."""

    session: int
    turn: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Two speakers, `a` first, and their lines in order.

    personas: name → who they are, where the file says so. vectors: (session, turn) → the
    vectors a → b and b → a that the file holds already; turn −1 is a session's start. left_out:
    lines of others, passed over. injected: (session, turn) of utterances that the file says were
    spoken with a vector in the prompt.
    """

    name: str
    speakers: tuple[str, str]
    lines: tuple[Utterance, ...]
    personas: dict[str, str] = field(default_factory=dict)
    vectors: dict[tuple[int, int], Vectors] = field(default_factory=dict)
    left_out: int = 0
    injected: frozenset[tuple[int, int]] = frozenset()

    @property
    def said(self) -> list[tuple[str, str]]:
        """(speaker, text) of every line."""
        return [(line.speaker, line.text) for line in self.lines]

    @property
    def sessions(self) -> list[int]:
        """The numbers of the sessions, in order."""
        return list(dict.fromkeys(line.session for line in self.lines))


def read_dialogue(
    path: Path | str, *, speakers: Sequence[str] = (), dialogue: str | None = None
) -> Dialogue:
    """Read a file.

    Args:
        speakers: the two to be read, `a` first; needed where there are more. By default those
            of the file, in the order in which they are named or first speak.
        dialogue: the id of one in a file of several.

    Raises:
        InputError: it cannot be read, is empty, or has not two speakers.
    """
    place = str(path)
    found = rows_of(place, dialogue)
    for number, row in enumerate(found.rows, 1):
        bounded(
            row.text, LINE, place=say(f"{place}、{number} 番目の発話", f"{place}, line {number}")
        )
    rows = [row for row in found.rows if row.text.strip()]
    if not rows:
        raise InputError(
            say("発話がありません", "holds no utterance"),
            place=place,
            remedy=say(
                "「名前: 発話」の行か、speaker と text を持つ CSV・JSON を渡してください",
                "give lines of `name: text`, or CSV or JSON with speaker and text",
            ),
        )
    two = _two(rows, found.named, tuple(s.strip() for s in speakers), place)
    kept = [row for row in rows if row.speaker in two]
    return Dialogue(
        name=found.name,
        speakers=two,
        lines=tuple(_numbered(kept)),
        personas={name: text for name, text in found.personas.items() if name in two},
        vectors=_facing(found.vectors, two == tuple(found.named[:2])),
        left_out=len(rows) - len(kept),
        injected=found.injected,
    )


def _two(
    rows: Sequence[Row], named: Sequence[str], chosen: tuple[str, ...], place: str
) -> tuple[str, str]:
    counts = Counter(row.speaker for row in rows)
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
    order = [name for name in named if name in counts]
    order += [name for name in counts if name not in order]
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
                "--speakers で二人を選んでください (ほかの発話は除きます)。続きの行は字下げします",
                "choose two by --speakers (lines of others are left out); indent a line that goes "
                "on with the one before",
            )
            if many
            else say(
                "関係は二人の会話から読みます。行頭に話者名があるか確かめてください",
                "a relationship is read from a dialogue of two; check that each line names its "
                "speaker",
            ),
        )
    return order[0], order[1]


def _numbered(rows: Sequence[Row]) -> list[Utterance]:
    turns: Counter[int] = Counter()
    out = []
    for row in rows:
        out.append(Utterance(row.session, turns[row.session], row.speaker, row.text.strip()))
        turns[row.session] += 1
    return out


def _facing(
    vectors: dict[tuple[int, int], Vectors], straight: bool
) -> dict[tuple[int, int], Vectors]:
    return vectors if straight else {at: (b, a) for at, (a, b) in vectors.items()}
