"""A server's personal data: the audit log, and erasure.

The audit is part of the server's log: one line per turn, under a pseudonym that only this log can
resolve. Erasing a user removes their conversations, feedback and name, and their words from the
audit; which documents were shown stays.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Event, InputError, Where, fingerprint
from naisei.intent.remembering import kept_in
from naisei.intent.schemas import Reply
from naisei.kept_text import KeptText, kept_at
from naisei.lang import say
from naisei.runs.lock import server_lock
from naisei.runs.log import RunLog
from naisei.system.config import Printed, flag, store_flag
from naisei.terminal import visible

#: The log in a server's folder.
LOG = "sessions.sqlite"
_EPISODE = "audit:"


class AuditLine(BaseModel):
    """who: a pseudonym. at: ISO, UTC. question: empty after erasure. documents: paths of
    those cited. route, case, band: of the reply; urgent: the worry that was answered at once."""

    model_config = ConfigDict(frozen=True)

    who: str
    at: str
    question: str
    documents: tuple[str, ...]
    route: str
    case: int
    band: str
    urgent: str | None = None


def audited(log: RunLog, person: str, question: str, reply: Reply) -> None:
    """Append a line. person: `user:NAME`, or `talk:ID` on a server without users."""
    who = log.get(f"pseudonym:{person}")
    if not isinstance(who, str):
        who = f"p-{secrets.token_hex(6)}"
        log.put(f"pseudonym:{person}", who)
    line = AuditLine(
        who=who,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        question=question,
        documents=tuple(dict.fromkeys(c.path for c in reply.citations)),
        route=reply.route,
        case=reply.case,
        band=reply.band,
        urgent=reply.urgent,
    )
    given: dict[str, Any] = line.model_dump(mode="json")
    said: JsonValue = {"question": given.pop("question")}
    where = Where(f"{_EPISODE}{who}:{secrets.token_hex(8)}", path=(0,))
    log.append(Event(where, "audit", fingerprint(said), said, given))


def lines(log: RunLog, who: str | None = None) -> list[AuditLine]:
    """All lines, or those of a pseudonym, oldest first."""
    rows = log.select(
        "SELECT request, result FROM events WHERE kind = 'audit' AND episode LIKE ? ORDER BY seq",
        (f"{_EPISODE}{who or '%'}:%",),
    )
    found = []
    for request, result in rows:
        said, told = log.unpacked(request), log.unpacked(result)
        assert isinstance(said, dict) and isinstance(told, dict)
        found.append(AuditLine.model_validate({**told, **said}))
    return found


def open_log(folder: Path, store: str | None = None, *, read_only: bool = False) -> RunLog:
    """The log of a server: in its folder, or in a database under the folder's name."""
    if store is None:
        return RunLog(folder / LOG, read_only=read_only)
    from naisei.runs.postgres import postgres_log

    name = f"{folder.name}/{LOG}"
    return postgres_log(store, name, place=folder / LOG, read_only=read_only)


def feedback_of(folder: Path, person: str, store: str | None = None) -> KeptText:
    """The file of a person's feedback on a server."""
    # The operator chooses user names, and session ids are secret: neither is used as a file name.
    digest = hashlib.sha256(person.encode()).hexdigest()[:32]
    return kept_at(folder, f"feedback/{digest}.jsonl", store)


def erase(folder: Path, log: RunLog, user: str, store: str | None = None) -> int:
    """Erase all data of a user; returns the number of erased conversations."""
    person = f"user:{user}"
    sessions = [
        str(key).removeprefix("talk:")
        for key, value in log.select("SELECT key, value FROM meta WHERE key LIKE 'talk:%'")
        if json.loads(value).get("user") == user
    ]
    who = log.get(f"pseudonym:{person}")
    log.erase(
        instances=sessions,
        keys=[f"pseudonym:{person}", *(f"talk:{id}" for id in sessions)],
        prefixes=[f"mark:{user}:", *(f"turn:{id}:" for id in sessions)],
        requests=f"{_EPISODE}{who}:" if isinstance(who, str) else "",
    )
    feedback_of(folder, person, store).change(lambda before: None)
    kept_in(folder, person, store).end()
    return len(sessions)


class AuditOptions(Printed):
    """Flags of `naisei intent audit`."""

    action: Literal["show", "forget"] = flag(
        "show",
        "show 見る、forget そのユーザーの会話、評価、名前、質問の文を消す",
        "show; or forget: erase a user's conversations, feedback, name and words.",
        argument=True,
    )
    state: Path = flag(
        Path("naisei-sessions"),
        "サーバーの --state のフォルダー",
        "The server's --state folder.",
        metavar="DIR",
    )
    store: str | None = store_flag()
    user: str | None = flag(None, "このユーザーだけ", "Of this user alone.", metavar="NAME")


def audit_command(options: AuditOptions) -> None:
    """`naisei intent audit`."""
    path, user = options.state / LOG, options.user
    if options.store is None and not path.is_file():
        raise InputError(
            say("サーバーの記録がありません", "no server has stored data here"),
            place=str(options.state),
            remedy=say("serve の --state を指定してください", "name the --state of serve"),
        )
    if options.action == "forget":
        _forget(options)
        return
    log = open_log(options.state, options.store, read_only=True)
    try:
        who = log.get(f"pseudonym:user:{user}") if user is not None else None
        found = [] if user is not None and who is None else lines(log, str(who) if who else None)
    finally:
        log.close()
    for line in found:
        if options.as_json:
            print(line.model_dump_json(), flush=True)
            continue
        shown = ", ".join(line.documents) or "-"
        print(visible(f"{line.at} {line.who} {line.route}/{line.band} [{shown}] {line.question}"))


def _forget(options: AuditOptions) -> None:
    if options.user is None:
        raise InputError(
            say("誰のものを消すか指定してください", "say whose"),
            place="--user",
            remedy="--user NAME",
        )
    with ExitStack() as stack:
        if options.store is None:
            stack.callback(server_lock(options.state).release)
        log = stack.enter_context(closing(open_log(options.state, options.store)))
        count = erase(options.state, log, options.user, options.store)
    if options.as_json:
        print(json.dumps({"user": options.user, "conversations": count}), flush=True)
    else:
        print(say(f"消しました（会話 {count} 件）。", f"Erased ({count} conversations)."))
