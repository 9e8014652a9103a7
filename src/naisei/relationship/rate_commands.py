"""What `naisei relationship rate` does, once the flags are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from naisei.cli.printing import metrics_table, print_tables
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.japanese.normal import is_japanese
from naisei.lang import say
from naisei.relationship.check import check
from naisei.relationship.commands import print_run
from naisei.relationship.dialogues import Dialogue
from naisei.relationship.execute import Sitting
from naisei.relationship.rate import Rating, from_file, rate_by_speech
from naisei.relationship.rate_config import RatedLine, RatingConfig
from naisei.relationship.rate_output import reasons, to_agent_json, to_csv, turn_rows
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.task import Table
from naisei.terminal import Console

__all__ = ["Output", "by_model", "by_speech", "config_of", "resume_rating"]


@dataclass(frozen=True, slots=True)
class Output:
    """What is wanted of a rating: files, JSON on stdout, the check against speech."""

    out: Path | None = None
    csv: Path | None = None
    json: bool = False
    check: bool = False
    seed: int = 0


def by_speech(dialogue: Dialogue, wanted: Output) -> int:
    """Rate by the estimator; returns the exit code."""
    console = Console(stderr=wanted.json)
    rating = rate_by_speech(dialogue)
    held = from_file(dialogue) if wanted.check else None
    if wanted.check and held is None:
        raise InputError(
            say("推定と比べる値がありません", "there is nothing to compare the estimate with"),
            place="--check",
            remedy=say(
                "--model でモデルに採点させるか、関係値の入った agent_a.json を渡してください",
                "let a model rate by --model, or give an agent_a.json that holds vectors",
            ),
        )
    _show(rating, console)
    extra = _checked(held, console, wanted) if held is not None else {}
    _write(rating, wanted, console)
    if wanted.json:
        print(json.dumps({**to_agent_json(rating), **extra}, ensure_ascii=False, allow_nan=False))
    return 0


def by_model(
    config: RatingConfig, sitting: Sitting, wanted: Output, *, run_dir: Path | None
) -> int:
    """Rate by a model, or go on; returns the exit code."""
    # The model stack takes a second to import.
    from naisei.relationship.rate_run import rate_by_model

    console = Console(stderr=wanted.json)
    result, rating = rate_by_model(config, sitting, run_dir=run_dir)
    extra: dict[str, Any] = {}
    if rating.repeats:
        _show(rating, console)
        extra = _checked(rating, console, wanted) if wanted.check else {}
        write_atomically(result.run_dir / "agent_a.json", _pretty(to_agent_json(rating)))
        _write(rating, wanted, console)
    print_run(result, console)
    if wanted.json:
        print(json.dumps({**result.to_json(), **extra}, ensure_ascii=False, allow_nan=False))
    return result.exit_code


def resume_rating(path: Path, sitting: Sitting, *, json: bool = False) -> int:
    """Continue the rating in a run directory; returns the exit code."""
    from naisei.relationship.rate_run import rating_config

    return by_model(rating_config(path), sitting, Output(json=json), run_dir=path)


def config_of(
    dialogue: Dialogue,
    *,
    model: str | None,
    language: Literal["auto", "ja", "en"] = "auto",
    repeats: int = 1,
    votes: int = 1,
    temperature: float | None = None,
    embedder: str = "ngram",
    seed: int = 0,
) -> RatingConfig:
    """The frozen configuration of a rating by a model."""
    if language == "auto":
        language = "ja" if any(is_japanese(line.text) for line in dialogue.lines) else "en"
    roles = ("questioner", "reflector")
    sampling = {"temperature": temperature} if temperature is not None else {}
    return RatingConfig(
        name=dialogue.name,
        speakers=dialogue.speakers,
        personas=dialogue.personas,
        language=language,
        lines=tuple(
            RatedLine(session=x.session, turn=x.turn, speaker=x.speaker, text=x.text)
            for x in dialogue.lines
        ),
        repeats=repeats,
        votes=votes,
        models=dict.fromkeys(roles, model) if model else {},
        sampling=dict.fromkeys(roles, sampling) if sampling else {},
        embedder=embedder,
        seed=seed,
    )


def _show(rating: Rating, console: Console) -> None:
    a, b = rating.dialogue.speakers
    heads = [f"{way} {name[0]}" for way in ("A→B", "B→A") for name in DIMENSIONS]
    table = Table(
        f"A = {a}, B = {b} ({rating.rater})",
        (say("発話", "turn"), say("話者", "speaker"), "", *heads),
        tuple(turn_rows(rating)),
        note=say(
            "P 力関係、I 親密度、T タスク指向、−3〜+3。– は読めないところ",
            "P power, I intimacy, T task-oriented, −3 to +3; – where it cannot be read",
        ),
    )
    print_tables([table], console)
    if rating.dialogue.left_out:
        console.print(
            say(
                f"ほかの話者の {rating.dialogue.left_out} 発話は除きました",
                f"{rating.dialogue.left_out} lines of other speakers are left out",
            ),
            style="yellow",
        )
    for line in reasons(rating):
        console.print(line, highlight=False)


def _checked(rating: Rating, console: Console, wanted: Output) -> dict[str, Any]:
    found = check(rating, seed=wanted.seed)
    print_tables([metrics_table(found.metrics), found.table()], console)
    return {"check": found.to_json()}


def _write(rating: Rating, wanted: Output, console: Console) -> None:
    texts = [
        (wanted.out, _pretty(to_agent_json(rating)) if wanted.out else ""),
        (wanted.csv, to_csv(rating) if wanted.csv else ""),
    ]
    for path, text in texts:
        if path is None:
            continue
        write_atomically(path, text)
        console.print(say("書きました: ", "Written: ") + str(path))


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
