"""Writes the files of the relationship reflection document, §5, from a run's log.

`agent_a.json`, `agent_b.json` and `rr_prompt_trace_session_N.jsonl`: next to the log for a single
conversation, else in one folder per conversation. Some keys are additions to the document.
"""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.relationship.config import RelationshipConfig
from naisei.relationship.pairs import Pair
from naisei.relationship.recorder import replayed
from naisei.relationship.schemas import (
    AGENTS,
    WAYS,
    AgentId,
    Conversation,
    Moment,
    Reflection,
    Session,
    Stance,
)
from naisei.relationship.task import ConversationTask
from naisei.runs.directory import RunDirectory
from naisei.system.config import Options, flag

if TYPE_CHECKING:
    from naisei.relationship.rating_task import RatingTask


def conversations(
    directory: RunDirectory, task: ConversationTask | RatingTask | None = None
) -> dict[str, tuple[Pair, Conversation]]:
    """Episode → its pair and its conversation up to the last logged event.

    Raises:
        InputError: the run has no conversations, or its persona files are missing.
    """
    task = task or ConversationTask(_config(directory))
    known = set(directory.log.known_episodes())
    return {
        where.episode: (pair, replayed(pair, directory.log.read(where.episode)).conversation)
        for where in task.episodes()
        if where.episode in known
        for pair in [task.pairs[where.instance]]
    }


def export(
    directory: RunDirectory, to: Path | None = None, task: ConversationTask | None = None
) -> list[Path]:
    """Write the files of every conversation of a run and return their paths.

    Args:
        to: output folder; the run's by default.

    Raises:
        InputError: see `conversations`; or the folder cannot be written.
    """
    task = task or ConversationTask(_config(directory))
    found = conversations(directory, task)
    root = to or directory.path
    one = len(task.episodes()) == 1
    written: list[Path] = []
    for episode, (pair, talk) in found.items():
        folder = root if one else root / "dialogues" / episode.replace("#", "-")
        agents = {f"agent_{who}.json": agent_json(pair, talk, who) for who in AGENTS}
        files = {n: json.dumps(v, ensure_ascii=False, indent=2) + "\n" for n, v in agents.items()}
        for session in talk.sessions:
            rows = trace_rows(pair, session)
            if rows:
                name = f"rr_prompt_trace_session_{session.number}.jsonl"
                files[name] = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
        for name, text in files.items():
            write_atomically(folder / name, text)
        written += [folder / name for name in files]
    return written


def _config(directory: RunDirectory) -> RelationshipConfig:
    frozen, place = directory.frozen, str(directory.path)
    if frozen.system != "relationship" or frozen.config.get("task"):
        what = f"{frozen.system} {frozen.config.get('task', '')}".strip()
        raise InputError(
            say(
                f"これは {what} の実行で、relationship の会話ではありません",
                f"is a run of {what}, not of relationship conversations",
            ),
            place=place,
            remedy=say(
                "naisei relationship run の実行ディレクトリを指定してください",
                "name the run directory of naisei relationship run",
            ),
        )
    return frozen.config_as(RelationshipConfig, directory.path / "config.json")


def agent_json(pair: Pair, talk: Conversation, who: AgentId) -> dict[str, Any]:
    """The JSON of one agent's file. Both files contain all sessions and both directions."""
    persona = pair.a if who == "a" else pair.b
    out: dict[str, Any] = {
        "agent": f"agent_{who}",
        "name": persona.name,
        "persona": persona.persona,
        "partner": talk.names["b" if who == "a" else "a"],
        "pair": pair.id,
        "language": pair.language,
    }
    for session in talk.sessions:
        key = f"session_{session.number}"
        out[f"{key}_date_time"] = session.start.isoformat()
        out[key] = [
            {
                "turn": line.turn,
                "speaker": talk.names[line.speaker],
                "text": line.text,
                "dia_id": line.id,
                "time": line.time.isoformat(),
                "injected": line.injected,
                **(
                    {}
                    if line.prompt_vector is None
                    else {"prompt_vector": line.prompt_vector.model_dump()}
                ),
            }
            for line in session.lines
        ]
        if session.summary:
            out[f"{key}_summary"] = session.summary
        turns = [_moment(talk, moment) for moment in session.moments]
        out[f"{key}_relationship_reflection_turns"] = turns
    return out


def trace_rows(pair: Pair, session: Session) -> list[dict[str, Any]]:
    """The prompt trace of a session: one row per reflection."""
    return [_trace(pair, moment, made) for moment in session.moments for made in moment.reflections]


def _moment(talk: Conversation, moment: Moment) -> dict[str, Any]:
    stances = moment.stances
    by_speaker = {}
    for who, way in zip(AGENTS, WAYS, strict=True):
        partner: AgentId = "b" if who == "a" else "a"
        stance = stances.get(way)
        by_speaker[talk.names[who]] = {"toward": talk.names[partner], **_stance(stance)}
    return {
        "turn": moment.turn,
        "rr": {
            "a_to_b": by_speaker[talk.names["a"]]["vector"],
            "b_to_a": by_speaker[talk.names["b"]]["vector"],
            "by_speaker": by_speaker,
        },
        "next_speaker": talk.names[moment.next_speaker],
        "injected": moment.injected,
        "at": moment.at,
    }


def _stance(stance: Stance | None) -> dict[str, Any]:
    """A stance as JSON: vector (null with the failure), whether carried from an earlier turn,
    repairs."""
    if stance is None:
        return {"vector": None, "carried": False, "failure": "not reflected on yet"}
    vector = stance.reading.vector
    out: dict[str, Any] = {
        "vector": None if vector is None else vector.model_dump(),
        "carried": stance.carried,
    }
    if stance.reading.reasons:
        out["reasons"] = [reason.model_dump() for reason in stance.reading.reasons]
    if stance.reading.failure:
        out["failure"] = stance.reading.failure
    if stance.reading.repairs:
        out["repairs"] = [repair.model_dump() for repair in stance.reading.repairs]
    return out


def _trace(pair: Pair, moment: Moment, reflection: Reflection) -> dict[str, Any]:
    ends = (pair.a, pair.b) if reflection.direction == "a_to_b" else (pair.b, pair.a)
    questions = list(reflection.questions.listed) if reflection.questions is not None else []
    numbered = [ground.text for ground in reflection.evidence]
    # UTC without a zone, as in the document, so that exports are machine-independent.
    wall = (
        reflection.time
        if reflection.wall is None
        else reflection.wall.astimezone(UTC).replace(tzinfo=None)
    )
    return {
        "time": wall.isoformat(timespec="microseconds"),
        "session_idx": moment.session,
        "language": pair.language,
        "hlq_list": questions,
        "hlq_block": "\n".join(f"- {question}" for question in questions),
        "evidence_numbered": numbered,
        "evidence_block": "\n".join(numbered),
        "direction": reflection.direction,
        "src": ends[0].name,
        "dst": ends[1].name,
        "src_persona": ends[0].persona,
        "dst_persona": ends[1].persona,
        "prompt": reflection.prompt,
        "turn": moment.turn,
        "at": moment.at,
        "dialogue_time": reflection.time.isoformat(),
        "vector": reflection.reading.vector.model_dump() if reflection.reading.vector else None,
        "reasons": [reason.model_dump() for reason in reflection.reading.reasons],
        "repairs": [repair.model_dump() for repair in reflection.reading.repairs],
        "failure": reflection.reading.failure,
        "evidence": [ground.model_dump() for ground in reflection.evidence],
    }


class ExportOptions(Options):
    """Flags of `naisei relationship export`."""

    directory: Path = flag(
        ..., "実行ディレクトリ", "A run directory.", argument=True, metavar="DIR"
    )
    out: Path | None = flag(None, "書き込むフォルダー (既定: DIR)", "Output folder (default: DIR).")


def export_command(options: ExportOptions) -> None:
    """`naisei relationship export`."""
    with RunDirectory.look(options.directory) as run:
        for path in export(run, options.out):
            print(path)
