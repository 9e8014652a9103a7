"""Feedback on replies, and the resulting thresholds.

One file per person, one line per feedback, oldest first; append-only: undo and reset are lines too.
The thresholds are those of the setting, adjusted by each line in turn:

too-much    clarity + 1, to at most 4: more counts as clear, fewer questions back
too-little  clarity − 1, down to the setting's value; from there is_question and
            is_consultation + 1, to at most 4: more kinds of requests are asked about
bad         twice in a row on answers without a question back: as too-little
good        changes nothing, but ends a series of bad ones
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import InputError
from naisei.intent.schemas import Thresholds
from naisei.kept_text import KeptText, kept_text
from naisei.lang import say
from naisei.system.config import Printed, flag
from naisei.terminal import visible


def data_file(kind: str, name: str, *, option: str, suffix: str = "") -> Path:
    """`kind/name` in the data folder: `NAISEI_DATA`, or the platform's.

    Raises:
        InputError: the name is not a valid file name.
    """
    if not re.fullmatch(r"[^\W_][\w .-]{0,63}", name) or name.endswith((".", " ")):
        raise InputError(
            say(f"{name!r} はここでは名前にできません", f"{name!r} cannot be a name here"),
            place=option,
            remedy=say(
                "64 文字までの文字、数字、- と _ を使ってください",
                "use up to 64 letters, digits, - and _",
            ),
        )
    root = os.environ.get("NAISEI_DATA")
    return (Path(root) if root else user_data_path("naisei")) / kind / f"{name}{suffix}"


Sign = Literal["good", "bad", "too-much", "too-little", "undo", "reset"]
#: Thresholds stay within this bound.
_MOST = 4


class Feedback(BaseModel):
    """One line. about: the request it is about. asked: questions back before the reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sign: Sign
    at: datetime
    about: str = ""
    asked: int = 0


def standing(lines: Sequence[Feedback]) -> list[Feedback]:
    """The effective lines, without undone or reset ones."""
    kept: list[Feedback] = []
    for line in lines:
        if line.sign == "reset":
            kept.clear()
        elif line.sign == "undo":
            del kept[-1:]
        else:
            kept.append(line)
    return kept


def adjusted(base: Thresholds, lines: Sequence[Feedback]) -> Thresholds:
    """The thresholds after these lines."""
    cuts, row = base, 0
    for line in standing(lines):
        row = row + 1 if line.sign == "bad" and not line.asked else 0
        if line.sign == "too-much":
            cuts = _moved(cuts, clarity=1)
        elif line.sign == "too-little" or row == 2:
            row = 0
            if cuts.clarity > base.clarity:
                cuts = _moved(cuts, clarity=-1)
            else:
                cuts = _moved(cuts, is_question=1, is_consultation=1)
    return cuts


def cuts_of(user: str, base: Thresholds) -> Thresholds:
    """The thresholds of a terminal user after their feedback."""
    return adjusted(
        base, read_feedback(data_file("feedback", user, option="--user", suffix=".jsonl"))
    )


def _moved(cuts: Thresholds, **steps: int) -> Thresholds:
    new = {
        name: min(max(_MOST, getattr(cuts, name)), max(1, getattr(cuts, name) + step))
        for name, step in steps.items()
    }
    return cuts.model_copy(update=new)


def read_feedback(place: Path | KeptText) -> list[Feedback]:
    """Read the lines of a file or another text; none if it does not exist.

    Raises:
        InputError: it cannot be read, or a line is corrupt.
    """
    text = kept_text(place)
    lines = []
    for number, line in enumerate((text.read() or "").split("\n"), 1):
        if line.strip():
            try:
                lines.append(Feedback.model_validate_json(line))
            except ValidationError as error:
                raise InputError(
                    say("評価の記録の行ではありません: ", "no line of feedback: ")
                    + error.errors()[0]["msg"],
                    place=f"{text.place}:{number}",
                    remedy=say("その行を直すか消してください", "fix the line or remove it"),
                ) from error
    return lines


def write_feedback(
    place: Path | KeptText, sign: Sign, *, about: str = "", asked: int = 0
) -> Feedback:
    """Append one line atomically. Raises `InputError` if it cannot be written."""
    line = Feedback(sign=sign, at=datetime.now(UTC), about=about, asked=asked)
    written = json.dumps(line.model_dump(mode="json"), ensure_ascii=False) + "\n"
    kept_text(place).change(lambda before: (before or "") + written)
    return line


class FeedbackOptions(Printed):
    """Flags of `naisei intent feedback`. Without any, the feedback is shown."""

    show: bool = flag(False, "今のしきい値と評価の一覧", "Thresholds and feedback.")
    undo: bool = flag(False, "最後の評価を取り消す", "Undo the last.")
    reset: bool = flag(False, "初めに戻す", "Start afresh.")
    give: Literal["good", "bad", "too-much", "too-little"] | None = flag(
        None, "評価を記録する", "Record feedback."
    )
    user: str = flag(
        "default",
        "評価を覚えておくユーザーの名前",
        "Whose feedback counts.",
        panel=("ユーザー", "Person"),
        metavar="NAME",
    )


def feedback_command(asked: FeedbackOptions) -> None:
    """`naisei intent feedback`."""
    if sum((asked.undo, asked.reset, asked.give is not None)) > 1:
        raise InputError(
            say(
                "--undo、--reset、--give は一度に一つだけです",
                "only one of --undo, --reset and --give at a time",
            ),
            place="naisei intent feedback",
        )
    path = data_file("feedback", asked.user, option="--user", suffix=".jsonl")
    lines = read_feedback(path)
    if asked.undo and not standing(lines):
        raise InputError(
            say(
                f"取り消せる '{asked.user}' の評価がありません",
                f"there is no feedback of '{asked.user}' to undo",
            ),
            place="--undo",
        )
    if asked.undo or asked.reset or asked.give:
        write_feedback(
            path, "undo" if asked.undo else "reset" if asked.reset else asked.give or "good"
        )
        lines = read_feedback(path)
    base = Thresholds()
    now = adjusted(base, lines)
    kept = standing(lines)
    if asked.as_json:
        out = {
            "user": asked.user,
            "thresholds": _plain(now),
            "default": _plain(base),
            "feedback": [line.model_dump(mode="json") for line in kept],
            "file": str(path),
        }
        print(json.dumps(out, ensure_ascii=False), flush=True)
        return
    for name, value in _plain(now).items():
        before = getattr(base, name)
        moved = "" if value == before else say(f"（初め {before}）", f" (was {before})")
        print(f"{name}: {value}{moved}")
    for line in kept:
        print(visible(f"  {line.at:%Y-%m-%d %H:%M} {line.sign} {line.about}".rstrip()))
    if not kept:
        print(say("評価はまだありません。", "No feedback yet."))


def _plain(cuts: object) -> dict[str, int]:
    names = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")
    return {name: int(getattr(cuts, name)) for name in names}
