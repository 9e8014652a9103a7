"""A person's memory across conversations, with consent: their statements about themselves, and
their questions.

Each is a short dated note in their words, in a separate stream (`naisei.memory.stream`). Notes
supply what an answer depends on (`naisei.intent.conditions`) and resolve references such as
「前に聞いた…」. Turns about an urgent worry are never stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from naisei.core import Effect, Flow, InputError, Now, Remember, fingerprint
from naisei.intent.conditions import kind_chosen
from naisei.intent.dialogue import Dialogue
from naisei.intent.evidence import substance
from naisei.intent.feedback import data_file
from naisei.intent.person_kinds import self_told
from naisei.intent.rules import Profile, Setting
from naisei.intent.schemas import Reply
from naisei.intent.worries import worry_kind
from naisei.japanese.morph import normalise
from naisei.kept_text import kept_at
from naisei.lang import say
from naisei.memory.stream import Entry, KeptHandler, KeptStream, Kind, Recent, remember
from naisei.system.config import Printed, flag
from naisei.terminal import visible

#: Name of the person's stream.
_PERSON = "person"
#: Notes used in a turn, questions searched for a reference, letters of a note.
_FACTS, _ASKED, _LONGEST = 20, 200, 120
_BEFORE = re.compile(
    "(?:前|以前|先日|この(?:前|間|あいだ)|こないだ|昨日|先週|前回)(?:に|も|、)?(?:お)?(?:聞い|伺っ|うかがっ|尋ね|質問し|調べ|教えて(?:もらっ|いただい)|話し)|"
    "(?:前回|この(?:前|間)|こないだ|先日)の(?:件|話|質問|続き)|"
    r"\b(?:i asked|we talked|you told me|last time|the other day)\b",
    re.I,
)


def kept_for(user: str, *, option: str) -> KeptStream:
    """Notes of a terminal user. Raises `InputError` for an invalid name."""
    return KeptStream(data_file("memories", user, option=option, suffix=".jsonl"))


def known(kept: KeptStream) -> Mapping[type[Effect[Any]], KeptHandler]:
    """The handlers of this module's effects."""
    handler = KeptHandler(kept)
    return {Remember: handler, Recent: handler}


def notes(setting: Setting) -> Flow[tuple[tuple[str, ...], Setting]]:
    """The person's statements about themselves, newest first, and the setting with them for the
    model."""
    entries = yield from Recent(_PERSON, n=_FACTS, kinds=("fact",))
    if not entries:
        return (), setting
    told = "; ".join(f"{entry.text} ({entry.time.astimezone():%Y-%m-%d})" for entry in entries)
    name = {"ja": "以前の発言", "en": "said before"}[setting.rules.language]
    profile = Profile.model_validate({**setting.profile.fields, name: told})
    said = tuple(entry.text for entry in reversed(entries))
    if "evaluator" not in setting.rules.roles:
        return said, setting  # rules use each note, not all of them as one value
    return said, setting.model_copy(update={"profile": profile})


def recalled(dialogue: Dialogue) -> Flow[Dialogue]:
    """The dialogue, continued from an earlier conversation if it refers to one."""
    first = normalise(dialogue.utterance)
    if dialogue.goes_on or not _BEFORE.search(first):
        return dialogue
    entries = yield from Recent(_PERSON, n=_ASKED, kinds=("utterance",))
    rest = set(substance(_BEFORE.sub(" ", first)))

    def shared(entry: Entry) -> int:
        return len(rest & set(substance(entry.text)))

    if not entries:
        return dialogue
    best = max(reversed(entries), key=shared)
    if not shared(best):
        if len(rest) > 2:
            return dialogue  # about another topic
        best = entries[-1]
    earlier = (*(q for q in dialogue.earlier if q != best.text), best.text)
    return dialogue.model_copy(update={"earlier": earlier, "goes_on": True})


def noted(dialogue: Dialogue, reply: Reply) -> Flow[None]:
    """Store the person's statements about themselves in this turn, and the answered question."""
    if reply.urgent is not None or any(map(worry_kind, dialogue.full_messages)):
        return
    last = dialogue.exchanges[-1].answer if dialogue.exchanges else dialogue.utterance
    facts = list(self_told(last))
    if kind_chosen(dialogue) and last in dialogue.exchanges[-1].options:
        facts.append(last)
    found: list[tuple[Kind, str]] = [("fact", fact) for fact in facts]
    asked = reply.route == "search" and reply.extended is None
    if asked and not _BEFORE.search(normalise(dialogue.utterance)):
        question = _question(dialogue, facts)
        found += [("utterance", question)] if substance(question) else []
    if not found:
        return
    now = yield from Now()
    for kind, text in found:
        short = " ".join(text.split())[:_LONGEST]
        id = fingerprint([kind, normalise(short)])[:12]
        yield from remember(_PERSON, Entry(id=id, time=now, kind=kind, text=short))


def _question(dialogue: Dialogue, facts: Sequence[str]) -> str:
    """The question without statements about oneself, which are separate notes."""
    said = " ".join(dialogue.full_messages)
    for fact in (*facts, *(fact for text in dialogue.full_messages for fact in self_told(text))):
        said = said.replace(fact, " ")
    return re.sub(r"^[\s、。，,.がけど]+|\s+$", "", said)


class MemoryOptions(Printed):
    """Flags of `naisei intent memory`."""

    action: Literal["list", "forget"] = flag(
        "list",
        "list 覚えていることを見る、forget 忘れる (--note で一つ、--all で全部)",
        "list; or forget: one by --note, everything by --all.",
        argument=True,
    )
    user: str = flag(
        "default",
        "chat や ask の --remember の名前",
        "The name given to --remember.",
        panel=("ユーザー", "Person"),
        metavar="NAME",
    )
    note: str | None = flag(None, "忘れるものの記号", "Mark of what to forget.", metavar="ID")
    all: bool = flag(False, "全部忘れる", "Everything.")


def listed(kept: KeptStream) -> list[dict[str, JsonValue]]:
    """A person's notes for display to them: id, kind (`fact`, `utterance`), date, text."""
    return [
        {"id": e.id, "kind": e.kind, "date": f"{e.time.astimezone():%Y-%m-%d}", "text": e.text}
        for e in kept.entries()
    ]


def memory_command(options: MemoryOptions) -> None:
    """`naisei intent memory`.

    Raises:
        InputError: an invalid name, nothing to delete, or no such note.
    """
    kept = kept_for(options.user, option="--user")
    if options.action == "forget":
        _forget(kept, options)
    elif options.note is not None or options.all:
        raise InputError(
            say("忘れるには forget と書いてください", "write `forget` to forget"),
            place="naisei intent memory",
        )
    rows = listed(kept)
    if options.as_json:
        out = {"user": options.user, "notes": rows, "file": kept.place}
        print(json.dumps(out, ensure_ascii=False), flush=True)
        return
    names = {"fact": say("本人", "said"), "utterance": say("質問", "asked")}
    for row in rows:
        print(visible(f"{row['id']}  {row['date']}  {names[str(row['kind'])]}  {row['text']}"))
    if not rows:
        print(say("何も覚えていません。", "Nothing is remembered."))


def _forget(kept: KeptStream, options: MemoryOptions) -> None:
    if (options.note is None) is not options.all:
        raise InputError(
            say("何を忘れるか、一つだけ指定してください", "say what to forget, one of the two"),
            place="naisei intent memory forget",
            remedy="--note ID / --all",
        )
    if options.note is None:
        kept.end()
    elif not kept.forget(options.note):
        raise InputError(
            say(f"'{options.note}' という覚えはありません", f"there is no note '{options.note}'"),
            place="--note",
            remedy=say("naisei intent memory list で見られます", "see naisei intent memory list"),
        )


def kept_in(folder: Path, person: str, store: str | None = None) -> KeptStream:
    """Notes of a server's user. person: as `naisei.intent.serve.people` names them."""
    # The operator chooses user names, so they are not used as file names.
    return KeptStream(kept_at(folder, f"memory/{fingerprint(person)[:32]}.jsonl", store))
