"""Reads JSON by its format: the dialogues of a file and their turns."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.transcripts.json_forms import (
    APART,
    JSON_FORMS,
    PARTS,
    SESSION_KEY,
    SEVERAL,
    TURNS,
    JsonForm,
    RowObject,
    first,
    words,
)
from naisei.transcripts.tables import DIALOGUE, ORDER, SESSION, sessions_of
from naisei.transcripts.turns import Turn, moment, plain_name


def dialogues_in(data: Any) -> list[tuple[str, Any]]:
    """The dialogues of a file and their ids ("" for a single one)."""
    if isinstance(data, dict):
        rows = _rows_of(data)
        if rows is not None and not _is_several(rows):
            return [("", data)]
        for key in SEVERAL:
            inner = data.get(key)
            if isinstance(inner, dict):
                return dialogues_in(inner)
            if isinstance(inner, list) and _is_several(inner):
                return _named(inner)
        inside = list(data.values())
        if len(inside) and all(isinstance(v, dict) and _is_dialogue(v) for v in inside):
            return [("" if len(data) == 1 else key, one) for key, one in data.items()]
        return [("", data)]
    if not isinstance(data, list):
        return [("", data)]
    return _named(data) if _is_several(data) else _by_id(data)


def _is_several(data: list[Any]) -> bool:
    if not data:
        return False
    if all(isinstance(one, list) for one in data):
        # [speaker, text] is a row; a list of longer lists, or of lists of "A: …", is a list of
        # dialogues.
        return not all(len(one) == 2 and not _named_lines(one) for one in data)
    return all(isinstance(one, dict) and _is_dialogue(one) for one in data)


def _named_lines(row: list[Any]) -> bool:
    return all(isinstance(cell, str) and _NAMED_LINE.fullmatch(cell) for cell in row)


def _is_dialogue(data: dict[str, Any]) -> bool:
    return _rows_of(data) is not None or isinstance(data.get("mapping"), dict)


def _named(several: list[Any]) -> list[tuple[str, Any]]:
    if len(several) == 1:
        return [("", several[0])]
    named: dict[str, Any] = {}
    for number, one in enumerate(several, 1):
        keys = ("id", *DIALOGUE, "sample_id", "uuid", "title") if isinstance(one, dict) else ()
        id = next((str(one[k]) for k in keys if isinstance(one.get(k), str | int)), str(number))
        named[id if id not in named else f"{id} ({number})"] = one
    return list(named.items())


def _by_id(rows: list[Any]) -> list[tuple[str, Any]]:
    """Flat rows grouped by their dialogue id."""
    parts: dict[str, list[Any]] = {}
    for row in rows:
        key = next(
            (k for k in DIALOGUE if isinstance(row, dict) and isinstance(row.get(k), str | int)), ""
        )
        parts.setdefault(str(row[key]) if key else "", []).append(row)
    return list(parts.items()) if len(parts) > 1 else [("", rows)]


def _rows_of(data: Any) -> list[Any] | None:
    """The turns of a dialogue, under any known key; `None` if there are none."""
    if isinstance(data, list):
        return data
    if not isinstance(data, dict):
        return None
    if isinstance(request := data.get("request"), dict) and isinstance(data.get("response"), dict):
        answers = data["response"].get("choices") or []
        return [*(_rows_of(request) or ()), *(one.get("message") for one in answers[:1])]
    if isinstance(texts := data.get("dialog"), list) and "act" in data:  # DailyDialog
        return [["AB"[n % 2], text] for n, text in enumerate(texts)]
    if isinstance(steps := data.get("utterances"), list) and (texts := _of_candidates(steps)):
        return [["AB"[n % 2], text] for n, text in enumerate(texts)]
    if isinstance(pairs := data.get("visible"), list):  # text-generation-webui
        both = [zip(("user", "assistant"), pair, strict=False) for pair in pairs]
        return [[who, html.unescape(text)] for pair in both for who, text in pair]
    if _session_keys(data):
        return [row for _, key in _session_keys(data) for row in data[key]]
    if isinstance(data.get("mapping"), dict):
        return _thread(data)
    for key in (*TURNS, "segments"):
        if isinstance(inner := data.get(key), list):
            who = data.get("speaker")
            if isinstance(who, list) and len(who) == len(inner):
                return [list(pair) for pair in zip(who, inner, strict=True)]
            return inner
        if isinstance(inner, dict) and (found := _rows_of(inner)) is not None:
            return found
    parts = next((data[k] for k in PARTS if isinstance(data.get(k), list)), None)
    return None if parts is None else [row for part in parts for row in _rows_of(part) or ()]


def _of_candidates(steps: list[Any]) -> list[str]:
    """The texts of PersonaChat (ConvAI2): the earlier lines, and the last candidate, which is the
    correct one; empty for other formats."""
    last = steps[-1] if steps and isinstance(steps[-1], dict) else {}
    before, offered = last.get("history"), last.get("candidates")
    if not isinstance(before, list) or not isinstance(offered, list) or not offered:
        return []
    texts = [*before, offered[-1]]
    return texts if all(isinstance(text, str) for text in texts) else []


def _session_keys(data: dict[str, Any]) -> list[tuple[int, str]]:
    """Numbers and keys of the `session_N` lists."""
    found = [(int(m[1]), key) for key in data if (m := SESSION_KEY.fullmatch(key))]
    return sorted((number, key) for number, key in found if isinstance(data[key], list))


def _thread(data: dict[str, Any]) -> list[Any]:
    """The messages of a ChatGPT conversation from the first to the last displayed one."""
    nodes = data["mapping"]
    out: list[Any] = []
    at = data.get("current_node") or next(
        (k for k, n in nodes.items() if not n.get("children")), None
    )
    while isinstance(node := nodes.get(at), dict) and len(out) <= len(nodes):
        if isinstance(node.get("message"), dict):
            out.append(node["message"])
        at = node.get("parent")
    return out[::-1]


def _sessions(data: Any) -> list[tuple[int, list[Any]]]:
    """Session numbers and their rows."""
    if isinstance(data, dict):
        if keys := _session_keys(data):
            return [(number, data[key]) for number, key in keys]
        if isinstance(data.get("previous_dialogs"), list):
            before = [_in_turn(_rows_of(one) or []) for one in data["previous_dialogs"]]
            return list(enumerate([*before, data["dialog"]], 1))
        parts = next((data[k] for k in PARTS if isinstance(data.get(k), list)), None)
        if parts is not None:
            return list(enumerate([_rows_of(part) or [] for part in parts], 1))
        inner = next((data[k] for k in TURNS if isinstance(data.get(k), dict)), None)
        if inner is not None and _session_keys(inner):
            return _sessions(inner)
    return [(1, _rows_of(data) or [])]


def _in_turn(rows: list[Any]) -> list[Any]:
    """Add speakers to MSC's earlier sessions, which have no names: two speakers take turns."""
    return [
        {"id": f"Speaker {n % 2 + 1}", **row} if isinstance(row, dict) else row
        for n, row in enumerate(rows)
    ]


def json_form_of(data: Any) -> JsonForm | None:
    """The format of one dialogue, or `None` if it has no turns."""
    rows = _rows_of(data)
    if rows is None:
        return None
    return next(form for form in JSON_FORMS if form.knows(data, rows))


def json_turns(
    form: JsonForm, data: Any, place: str, *, nameless: bool, names: Mapping[str, str]
) -> Iterator[Turn]:
    """The utterances of one dialogue; calls, tools and notices have the text "".

    nameless: an entry may have only text. names: id → name of Slack users.

    Raises:
        InputError: an entry lacks a speaker or text.
    """
    if form.name == "slack":
        names = {**_slack_profiles(data), **names}
    ids = {**names, **dict(_roster(data))}
    number = 0
    for session, rows in _sessions(data):
        named = [first(row, SESSION) if isinstance(row, dict) else None for row in rows]
        own = sessions_of(["" if name is None else str(name) for name in named])
        for row, of_row in zip(rows, own if any(named) else [session] * len(rows), strict=True):
            number = row.row if isinstance(row, RowObject) else number + 1
            turn = _turn(form, row, number, of_row, place)
            if turn.text.strip() and not turn.speaker and not nameless:
                raise _no_turn(row, number, place)
            text = _slack_text(turn.text, names) if form.name == "slack" else turn.text
            yield replace(turn, speaker=plain_name(ids.get(turn.speaker, turn.speaker)), text=text)


#: Slack's <https://…> and <https://…|words>.
_LINK = re.compile(r"<(https?://[^<>|]*)(?:\|[^<>]*)?>")
#: Slack's <@U1>, <@U1|name>, <#C1|general>, <!channel>.
_MENTION = re.compile(r"<([@#!])([^<>|]+)(?:\|([^<>]*))?>")
#: A notice that is formatted like a message.
_SLACK_NOTICE = re.compile(
    r"\s*<@\w+(?:\|[^<>]*)?>\s?(?:has (?:joined|left) the \w+|さんが.{1,30}(?:参加|退出)しました).?"
)


def _slack_profiles(data: Any) -> dict[str, str]:
    """Id → name of the authors in the file, from their profiles."""
    found = {}
    for row in _rows_of(data) or ():
        name = first(row, ("user_profile.display_name", "user_profile.real_name"))
        if isinstance(row, dict) and isinstance(row.get("user"), str) and name:
            found[row["user"]] = str(name)
    return found


def _slack_text(text: str, names: Mapping[str, str]) -> str:
    if _SLACK_NOTICE.fullmatch(text):
        return ""
    text = _MENTION.sub(
        lambda m: ("#" if m[1] == "#" else "@") + (names.get(m[2]) or m[3] or m[2]),
        _LINK.sub(r"\1", text),
    )
    return html.unescape(text)


_NAMED_LINE = re.compile(r"\s*([^：:]{1,40}?)\s*[：:]\s?(.*)", re.DOTALL)


def _turn(form: JsonForm, row: Any, number: int, session: int, place: str) -> Turn:
    if isinstance(row, str) and (found := _NAMED_LINE.fullmatch(row)):
        return Turn(number, plain_name(found[1]), found[2], session)
    if isinstance(row, list) and len(row) == 2 and all(isinstance(cell, str) for cell in row):
        return Turn(number, plain_name(row[0]), row[1], session)
    if not isinstance(row, dict):
        raise _no_turn(row, number, place)
    if _is_apart(form, row):
        return Turn(number, "", "", session)
    who, text = first(row, form.speaker), words(row, form.text)
    if text is None and form.by_day:  # a picture, a file
        return Turn(number, "", "", session)
    if text is None or isinstance(who, bool):
        raise _no_turn(row, number, place)
    name = re.sub(r"\A\d+_", "", "" if who is None else str(who))
    if form.broken:
        name, text = _mended(name), _mended(text)
    order = first(row, ORDER)
    return Turn(
        number,
        plain_name(name),
        text,
        session,
        at=moment(first(row, form.at)),
        order=order if isinstance(order, int) and not isinstance(order, bool) else None,
        history=history_of(row, _at(row, number, place)),
    )


def _is_apart(form: JsonForm, row: dict[str, Any]) -> bool:
    """Whether an entry is not an utterance: system, tool, hidden, or a notice."""
    role = first(row, ("role", "author.role"))
    if role in APART or (row.get("content", "") is None and row.get("tool_calls")):
        return True
    if any(isinstance(row.get(kind), str) and row[kind] in APART for kind in ("speaker", "from")):
        return True
    if first(row, ("metadata.is_visually_hidden_from_conversation",)) is True:
        return True
    if first(row, ("recipient",)) not in (None, "all"):  # ChatGPT's messages to its tools
        return True
    if {"user_name", "character_name"} <= row.keys():  # the header of a SillyTavern chat
        return True
    without = form.broken and "content" not in row
    return without or any(
        row.get(key) in values or (values == (...,) and row.get(key))
        for key, values in form.apart.items()
    )


def _mended(text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def history_of(row: dict[str, Any], place: str) -> tuple[str, ...] | None:
    """The entry's history, if any. Raises `InputError` if it is not a list of texts."""
    data = row.get("history")
    if data is None:
        return None
    if isinstance(data, list):
        texts: list[Any] = [one.get("text") if isinstance(one, dict) else one for one in data]
        if all(isinstance(text, str) for text in texts):
            return tuple(texts)
    raise InputError(
        say("history が文字列の並びではありません", "history is no list of texts"),
        place=place,
        remedy=say(
            '古い順に "history": ["…", "…"] と書くか、省いてください',
            'write "history": ["…", "…"], oldest first, or leave it out',
        ),
    )


def _roster(data: Any) -> list[tuple[str, str]]:
    """Ids and names from the file's list of speakers."""
    listed = data.get("speakers") if isinstance(data, dict) else None
    if isinstance(listed, dict):
        listed = [{"id": key, "name": value} for key, value in listed.items()]
    found = []
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, str):
            found.append((plain_name(one), plain_name(one)))
        elif isinstance(one, dict) and isinstance(one.get("name"), str):
            name = plain_name(one["name"])
            found.append((plain_name(str(one.get("id", name))), name))
    return found if len({name for _, name in found}) == len(found) else []


def roster(data: Any) -> tuple[tuple[str, ...], dict[str, str]]:
    """Speakers in the file's order, and speaker → description."""
    names = [name for _, name in _roster(data)]
    personas: dict[str, str] = {}
    if isinstance(data, dict) and all(isinstance(data.get(k), str) for k in ("name", "partner")):
        own, partner = plain_name(data["name"]), plain_name(data["partner"])
        names = [partner, own] if data.get("agent") == "agent_b" else [own, partner]
        if isinstance(data.get("persona"), str) and data["persona"].strip():
            personas[own] = data["persona"].strip()
    return tuple(names), personas


def _at(row: Any, number: int, place: str) -> str:
    """The location of an entry, for error messages: its row, or its number in the list."""
    if isinstance(row, RowObject):
        return f"{place}:{number}"
    return say(f"{place}、{number} 番目", f"{place}, entry {number}")


def _no_turn(row: Any, number: int, place: str) -> InputError:
    shown = json.dumps(row, ensure_ascii=False)[:60]
    return InputError(
        say(
            f"話者と発話のない要素があります: {shown}",
            f"an entry without speaker and text: {shown}",
        ),
        place=_at(row, number, place),
        remedy='{"speaker": "…", "text": "…"}',
    )
