"""Personas and pairs of personas, bundled (by id) or from TOML files.

A file has a pair (`schema = "naisei.pair.v1"`) or one persona (`naisei.persona.v1`).
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import PROFILE, bounded
from naisei.relationship.vector import RelationVector
from naisei.system.config import Options, flag
from naisei.text_files import read_text, toml_of
from naisei.transcripts.cards import CARDS, read_card

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
Relationship = Literal["senior_junior", "friends", "strangers", "service", "family", "other"]


class _Part(BaseModel):
    """Frozen; an unknown key is an error, so that misspellings are noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Persona(_Part):
    """One speaker. name: also the speaker's name in every file.

    persona: description, known to the partner too. calls: how they address the partner
    (「高橋さん」); empty leaves it to the model. speech: how they speak. facts: private facts such
    as a wish; each becomes an entry in this persona's memory.
    """

    schema_: Literal["naisei.persona.v1"] = Field(default="naisei.persona.v1", alias="schema")
    name: Text
    persona: Text
    calls: str = ""
    speech: str = ""
    facts: tuple[Text, ...] = ()


class Pair(_Part):
    """Two personas; `a` speaks first.

    relationship: label for tables, not in prompts. setting: where and when they meet. topics:
    suggested topics, one per session in turn. base: their usual stance, toward which a reading
    fades between sessions.
    """

    schema_: Literal["naisei.pair.v1"] = Field(default="naisei.pair.v1", alias="schema")
    id: Identifier
    title: Text
    language: Literal["ja", "en"] = "ja"
    relationship: Relationship = "other"
    setting: str = ""
    topics: tuple[Text, ...] = ()
    base: dict[Literal["a_to_b", "b_to_a"], RelationVector] | None = None
    a: Persona
    b: Persona

    @model_validator(mode="after")
    def _two_names(self) -> Pair:
        if self.a.name == self.b.name:
            raise ValueError(f"both are called {self.a.name!r}; lines could not be told apart")
        return self

    def on(self, first: datetime) -> Pair:
        """Fill in dates: {3日前}, {10日後}, {3 days ago} and {in 10 days} in facts and topics
        become dates relative to the first session."""

        def dated(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(_DAY.sub(lambda m: _day(m, first), text) for text in texts)

        both = {
            who: persona.model_copy(update={"facts": dated(persona.facts)})
            for who, persona in (("a", self.a), ("b", self.b))
        }
        return self.model_copy(update={**both, "topics": dated(self.topics)})

    @property
    def names(self) -> dict[Literal["a", "b"], str]:
        """Agent → name."""
        return {"a": self.a.name, "b": self.b.name}


_DAY = re.compile(r"\{(?:(\d{1,5})日([前後])|(\d{1,5}) days? ago|in (\d{1,5}) days?)\}")


def _day(match: re.Match[str], first: datetime) -> str:
    days = int(match[1] or match[3] or match[4])
    back = match[2] == "前" or match[3] is not None
    day = first + timedelta(days=-days if back else days)
    return f"{day.month}月{day.day}日" if match[2] else f"{day.day} {day:%B}"


_SCHEMAS: dict[object, type[BaseModel]] = {"naisei.pair.v1": Pair, "naisei.persona.v1": Persona}


@lru_cache(maxsize=1)
def shipped() -> dict[str, Pair]:
    """The bundled pairs by id."""
    folder = files("naisei.data") / "personas"
    texts = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }
    pairs = (parse(text, place=name) for name, text in texts.items())
    return {pair.id: pair for pair in pairs if isinstance(pair, Pair)}


def pair_text(id: str) -> str:
    """The TOML text of a bundled pair. Raises `FileNotFoundError` for an unknown id."""
    return (files("naisei.data") / "personas" / f"{id}.toml").read_text(encoding="utf-8")


def load_pairs(names: Sequence[str]) -> list[Pair]:
    """Load pairs by id or file; persona files are paired two by two, in order.

    Raises:
        InputError: unknown name, a file with neither pair nor persona, a persona without a partner,
            or two pairs with the same id.
    """
    pairs: list[Pair] = []
    waiting: tuple[str, Persona] | None = None
    for name in names:
        found = shipped().get(name) or _from_file(name)
        if isinstance(found, Pair):
            pairs.append(found)
        elif waiting is None:
            waiting = (name, found)
        else:
            pairs.append(_couple(waiting, (name, found)))
            waiting = None
    if waiting is not None:
        raise InputError(
            say(
                "人物が一人だけで、話す相手がいません",
                "a single persona has no partner",
            ),
            place=waiting[0],
            remedy=say(
                "人物のファイルを 2 つ、または組のファイルを渡してください",
                "give the files of two personas, or a file of a pair",
            ),
        )
    ids = [pair.id for pair in pairs]
    if twice := next((id for id in ids if ids.count(id) > 1), None):
        raise InputError(
            say(f"id {twice!r} の組が 2 つあります", f"two pairs have the id {twice!r}"),
            place="--personas",
            remedy=say("同じ組は一度だけ指定してください", "name each pair once"),
        )
    return pairs


def parse(text: str, *, place: str = "") -> Pair | Persona:
    """Parse a pair or a persona from the text of a TOML file.

    Raises:
        InputError: the text is not TOML, or neither a pair nor a persona; lists each wrong key.
    """
    try:
        data = toml_of(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            say(f"TOML として読めません: {error}", f"is not TOML: {error}"),
            place=place,
            remedy=say("その場所の書き方を直してください", "fix the syntax there"),
        )
    schema = data.get("schema", _unnamed(data))
    kind = _SCHEMAS.get(schema) if isinstance(schema, str) else None
    if kind is None:
        raise InputError(
            say("schema がありません", "no schema is named")
            if schema is None
            else say(f"知らない schema です: {schema!r}", f"unknown schema {schema!r}"),
            place=place,
            remedy=say(
                '先頭に schema = "naisei.pair.v1" (二人。[a] と [b]) または '
                '"naisei.persona.v1" (一人) と書いてください',
                'write schema = "naisei.pair.v1" (two personas, [a] and [b]) or '
                '"naisei.persona.v1" (one) at the top',
            ),
        )
    try:
        return kind.model_validate(_frozen(data))  # type: ignore[return-value]
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'file'}: "
            f"{fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False)
        )
        what = "pair of personas" if kind is Pair else "persona"
        whom = "人物の組" if kind is Pair else "人物"
        raise InputError(
            say(f"{whom}として読めません: {faults}", f"is no {what}: {faults}"),
            place=place,
            remedy=say(
                "naisei relationship personas engineers の出力と見比べてください",
                "compare it with `naisei relationship personas engineers`",
            ),
        )


def _unnamed(data: dict[str, Any]) -> str | None:
    """The kind of a file without a schema, guessed from its keys."""
    if "a" in data or "b" in data:
        return "naisei.pair.v1"
    return "naisei.persona.v1" if "name" in data and "persona" in data else None


def _from_file(name: str) -> Pair | Persona:
    if not name.endswith(".toml") and not Path(name).exists():
        raise _unknown(name)
    if name.lower().endswith(CARDS):
        card = read_card(name)
        return Persona(name=card.name, persona=card.about, speech=" / ".join(card.samples))
    return parse(bounded(read_text(name), PROFILE, place=name), place=name)


def _unknown(name: str) -> InputError:
    return InputError(
        say(f"{name!r} という組はありません", f"unknown pair {name!r}"),
        remedy=say(
            f"{', '.join(shipped())} のどれか、または .toml ファイルを渡してください",
            f"use one of {', '.join(shipped())}, or a .toml file",
        ),
    )


def _couple(first: tuple[str, Persona], second: tuple[str, Persona]) -> Pair:
    a, b = first[1], second[1]
    if a.name == b.name:
        raise InputError(
            say(f"二人とも {a.name!r} という名前です", f"both are called {a.name!r}"),
            place=f"{first[0]}, {second[0]}",
            remedy=say("別の名前を付けてください", "give them different names"),
        )
    japanese = any(ord(c) > 0x3000 for c in a.persona + b.persona)
    return Pair(
        id="pair",
        title=f"{a.name} / {b.name}",
        language="ja" if japanese else "en",
        a=a,
        b=b,
    )


def _frozen(data: Any) -> Any:
    """Convert TOML arrays to tuples, as strict frozen models require."""
    if isinstance(data, dict):
        return {key: _frozen(value) for key, value in data.items()}
    return tuple(map(_frozen, data)) if isinstance(data, list) else data


class PersonasOptions(Options):
    """Flags of `naisei relationship personas`."""

    name: str = flag(
        "",
        "組の ID (その TOML を出す)",
        "Print the TOML of this pair as a template.",
        argument=True,
        metavar="[ID]",
    )


def personas_command(options: PersonasOptions) -> None:
    """`naisei relationship personas`."""
    name = options.name
    pairs = shipped()
    if not name:
        for pair in pairs.values():
            print(f"{pair.id:<12} {pair.language}  {pair.title}  ({pair.a.name} / {pair.b.name})")
        return
    if name not in pairs:
        raise _unknown(name)
    sys.stdout.write(pair_text(name))
