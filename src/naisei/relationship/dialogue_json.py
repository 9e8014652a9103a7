"""Dialogues in JSON and JSONL, in the shapes that are about."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from naisei.core import InputError
from naisei.dialogue_rows import SESSION, Row, of_object, session_number
from naisei.lang import say
from naisei.relationship.dialogue_files import File, plain_name
from naisei.relationship.vector import RelationVector, VectorReply
from naisei.text_files import json_of

_LISTS = (
    "turns",
    "utterances",
    "dialogue",
    "dialog",
    "dialogues",
    "conversation",
    "messages",
    "lines",
    "発話",
    "対話",
    "会話",
)
_SESSION_KEY = re.compile(r"session_(\d+)")
_NAMED_LINE = re.compile(r"([^：:]{1,40})[：:]\s?(.*)", re.DOTALL)


def from_json(text: str, name: str, place: str, dialogue: str | None) -> File:
    """Read JSON, or JSONL.

    Raises:
        InputError: no JSON, or nothing in it that is a dialogue; several and none is chosen.
    """
    data = _load(text, place)
    several = _several(data)
    if several:
        data, name = _chosen(several, dialogue, place)
    elif dialogue is not None:
        raise InputError(
            say("一つの会話しか入っていないファイルです", "the file holds one dialogue only"),
            place="--dialogue",
        )
    ids = _ids(data)
    sessions, vectors = _sessions(data, place)
    said = [(number, *pair) for number, part in sessions for pair in part]
    rows = tuple(
        Row(at, ids.get(speaker, speaker), text, number)
        for at, (number, speaker, text) in enumerate(said, 1)
    )
    personas = {}
    named = list(ids.values())
    if (
        isinstance(data, dict)
        and isinstance(data.get("partner"), str)
        and isinstance(data.get("name"), str)
    ):
        own, partner = plain_name(data["name"]), plain_name(data["partner"])
        named = [partner, own] if data.get("agent") == "agent_b" else [own, partner]
        if isinstance(data.get("persona"), str) and data["persona"].strip():
            personas[own] = data["persona"].strip()
    return File(name, rows, tuple(named), personas, vectors, _injected(data))


def _load(text: str, place: str) -> Any:
    try:
        return json_of(text)
    except (ValueError, RecursionError) as error:
        rows = [row for row in text.splitlines() if row.strip()]
        if len(rows) < 2:
            raise InputError(
                say(f"JSON として読めません: {error}", f"is no JSON: {error}"), place=place
            ) from None
    out = []
    for number, row in enumerate(rows, 1):
        try:
            out.append(json_of(row))
        except (ValueError, RecursionError) as error:
            raise InputError(
                say(f"JSON として読めません: {error}", f"is no JSON: {error}"),
                place=f"{place}:{number}",
            ) from None
    return out


def _several(data: Any) -> list[dict[str, Any]]:
    """The dialogues of a list of them; [] if it is one dialogue."""
    if not isinstance(data, list) or not data or not all(isinstance(d, dict) for d in data):
        return []
    return data if all(_listed(d) is not None or _keys(d) for d in data) else []


def _chosen(
    several: list[dict[str, Any]], dialogue: str | None, place: str
) -> tuple[dict[str, Any], str]:
    named = {str(d.get("id") or d.get("sample_id") or n): d for n, d in enumerate(several, 1)}
    if dialogue is None and len(named) == 1:
        dialogue = next(iter(named))
    if dialogue not in named:
        shown = ", ".join(list(named)[:8]) + (" …" if len(named) > 8 else "")
        raise InputError(
            say(f"会話が {len(named)} 本あります", f"holds {len(named)} dialogues")
            if dialogue is None
            else say(f"会話 {dialogue!r} はありません", f"has no dialogue {dialogue!r}"),
            place=place,
            remedy=say(
                f"--dialogue で選んでください: {shown}", f"choose one by --dialogue: {shown}"
            ),
        )
    return named[dialogue], dialogue


def _ids(data: Any) -> dict[str, str]:
    """Ids and names of speakers as the file lists them."""
    found: dict[str, str] = {}
    if not isinstance(data, dict):
        return found
    listed = data.get("speakers")
    if isinstance(listed, dict):
        listed = [{"id": k, "name": v} for k, v in listed.items()]
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, str):
            found[plain_name(one)] = plain_name(one)
        elif isinstance(one, dict) and isinstance(one.get("name"), str):
            name = plain_name(one["name"])
            found[plain_name(str(one.get("id", name)))] = name
    return found if len(set(found.values())) == len(found) else {}


def _listed(data: dict[str, Any]) -> Any:
    return next((data[k] for k in _LISTS if isinstance(data.get(k), list | dict)), None)


def _keys(data: dict[str, Any]) -> list[tuple[int, str]]:
    """Numbers and keys of `session_N` lists."""
    found = [(int(m[1]), k) for k in data if (m := _SESSION_KEY.fullmatch(k))]
    return sorted((n, k) for n, k in found if isinstance(data[k], list))


def _sessions(
    data: Any, place: str
) -> tuple[list[tuple[int, list[tuple[str, str]]]], dict[tuple[int, int], Any]]:
    if isinstance(data, list):
        return _grouped(data, place), {}
    if not isinstance(data, dict):
        raise _no_dialogue(place)
    if keys := _keys(data):
        vectors: dict[tuple[int, int], Any] = {}
        for number, key in keys:
            for moment in data.get(f"{key}_relationship_reflection_turns") or []:
                vectors |= _vectors(number, moment)
        return [(n, [_pair(line, place) for line in data[k]]) for n, k in keys], vectors
    inner = _listed(data)
    if inner is None:
        raise _no_dialogue(place)
    return _sessions(inner, place)


def _grouped(rows: list[Any], place: str) -> list[tuple[int, list[tuple[str, str]]]]:
    parts: dict[int, list[tuple[str, str]]] = {}
    for row in rows:
        given = next((row[k] for k in SESSION if k in row), 1) if isinstance(row, dict) else 1
        parts.setdefault(session_number(given, place), []).append(_pair(row, place))
    return list(parts.items())


def _pair(row: Any, place: str) -> tuple[str, str]:
    """Speaker and text of one utterance, however it is written."""
    if isinstance(row, str) and (found := _NAMED_LINE.fullmatch(row)):
        return plain_name(found[1]), found[2]
    if isinstance(row, list) and len(row) == 2 and all(isinstance(x, str) for x in row):
        return plain_name(row[0]), row[1]
    if (of_it := of_object(row)) is not None and of_it[0].strip():
        return plain_name(of_it[0]), of_it[1]
    shown = json.dumps(row, ensure_ascii=False)[:60]
    raise InputError(
        say(
            f"話者と発話のない要素があります: {shown}",
            f"an entry without speaker and text: {shown}",
        ),
        place=place,
        remedy='{"speaker": "…", "text": "…"}',
    )


def _no_dialogue(place: str) -> InputError:
    return InputError(
        say("会話が見つかりません", "no dialogue is found in it"),
        place=place,
        remedy=say(
            '[{"speaker": "…", "text": "…"}, …] の形にしてください',
            'write it as [{"speaker": "…", "text": "…"}, …]',
        ),
    )


def _vectors(session: int, moment: Any) -> dict[tuple[int, int], Any]:
    """The vectors that a file holds for a turn; one that cannot be read is `None`."""
    if not isinstance(moment, dict):
        return {}
    turn, rr = moment.get("turn"), moment.get("rr")
    if not isinstance(turn, int) or not isinstance(rr, dict):
        return {}
    if moment.get("at") == "session_start":
        turn = -1
    return {(session, turn): (_vector(rr.get("a_to_b")), _vector(rr.get("b_to_a")))}


def _injected(data: Any) -> frozenset[tuple[int, int]]:
    """The utterances marked `injected`; else, as the seed's files have it, those after a moment
    that says so."""
    found: set[tuple[int, int]] = set()
    for number, key in _keys(data) if isinstance(data, dict) else []:
        lines = data[key]
        if any(isinstance(line, dict) and "injected" in line for line in lines):
            found |= {
                (number, turn)
                for turn, line in enumerate(lines)
                if isinstance(line, dict) and line.get("injected") is True
            }
            continue
        for moment in data.get(f"{key}_relationship_reflection_turns") or []:
            if isinstance(moment, dict) and moment.get("injected") is True:
                turn = moment.get("turn")
                found |= {(number, turn + 1)} if isinstance(turn, int) else set()
    return frozenset(found)


def _vector(given: Any) -> RelationVector | None:
    try:
        return VectorReply.model_validate(given).read().vector
    except ValidationError:
        return None
