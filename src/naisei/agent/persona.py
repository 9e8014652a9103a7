"""A persona: identity, knowledge and permissions. One TOML file."""

from __future__ import annotations

import json
import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from naisei.core import InputError
from naisei.director.character import Bond, Character, Partner, load_character
from naisei.lang import Language, say
from naisei.lengths import PROFILE, bounded
from naisei.text_files import read_text, toml_of

#: The world of the bundled actions.
HOUSEHOLD = "household"
#: Kinds of remarks that need neither an action nor an answer.
Sort = Literal["greeting", "thanks", "farewell", "decline", "glad", "sad"]
Line = Annotated[str, Field(min_length=1, max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class Permissions(_Part):
    """remember: whether it may ask to store facts about a person. confirm: actions (texts) that
    need a confirmation each time. search: whether it may search the documents."""

    remember: bool = True
    confirm: tuple[Line, ...] = ()
    search: bool = True


class Fact(_Part):
    """say: in the persona's words. asked: questions that it answers."""

    say: Line
    asked: tuple[Line, ...] = ()


class Persona(_Part):
    """Who speaks.

    id: as in files and on the command line. character: the director's profile, by id, by path, or
    in place as a table; it gives name, voice and rules. partner: what the person is to it.
    facts: what is so of it. replies: what it says to a greeting and the like where no model
    speaks; openers: what it asks to keep a talk going. documents: a folder or an index that it
    answers from; `handbook` is the bundled one. world: what it acts in, `household` or the file of
    a text game; actions: the file of what it can do in no game (of the household, by default).
    """

    schema_: Literal["naisei.persona.v1"] = Field(alias="schema")
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
    title: tuple[str, str]
    character: str | dict[str, Any]
    partner: str = ""
    facts: tuple[Fact, ...] = ()
    replies: dict[Sort, tuple[Line, ...]] = {}
    openers: Annotated[tuple[Line, ...], Field(min_length=1)]
    documents: str = ""
    world: str = ""
    actions: str = ""
    permissions: Permissions = Permissions()

    @property
    def profile(self) -> Character:
        """The character's profile with the person as its partner. Raises `InputError` for an
        unknown character."""
        return _profile(self.model_dump_json(by_alias=True))

    @property
    def language(self) -> Language:
        return self.profile.language

    @property
    def acts(self) -> bool:
        return bool(self.world or self.actions)

    @property
    def plays(self) -> bool:
        """Whether its world is a text game."""
        return self.world not in ("", HOUSEHOLD)

    @property
    def index(self) -> str:
        """The folder of documents, or `handbook`; "" for none."""
        return self.documents * self.permissions.search


@lru_cache(maxsize=32)
def _profile(persona: str) -> Character:
    read = Persona.model_validate_json(persona)
    given = read.character
    if isinstance(given, dict):
        table = json.dumps({"schema": "naisei.character.v1", **given})
        character = Character.model_validate_json(table)
    else:
        character = load_character(given)
    if not read.partner:
        return character
    partner = Partner(id="person", names=(read.partner,))
    return character.model_copy(update={"partner": partner, "bond": Bond()})


def shipped() -> tuple[str, ...]:
    """The ids of the personas that come with the package."""
    folder = files("naisei.data") / "agents"
    return tuple(sorted(e.name[:-5] for e in folder.iterdir() if e.name.endswith(".toml")))


def load_persona(name: str | Path) -> Persona:
    """A persona by id or by the path of its file; paths in it are relative to the file.

    Raises:
        InputError: the name is unknown, or the file is not a persona.
    """
    if str(name) in shipped():
        text = (files("naisei.data") / "agents" / f"{name}.toml").read_text("utf-8")
        return _parsed(text, str(name), None)
    path = Path(name)
    if path.suffix.lower() != ".toml":
        raise InputError(
            say(f"{str(name)!r} という人物はいません", f"unknown persona {str(name)!r}"),
            place="--persona",
            remedy=say(
                ", ".join(shipped()) + " のどれか、または .toml のファイルを指定してください",
                "use one of " + ", ".join(shipped()) + ", or a .toml file",
            ),
        )
    return _parsed(bounded(read_text(path), PROFILE, place=str(path)), str(path), path.parent)


def _parsed(text: str, place: str, folder: Path | None) -> Persona:
    try:
        table = toml_of(text)
        if folder is not None:
            for key in ("documents", "actions", "world"):
                if (value := table.get(key)) and (folder / str(value)).exists():
                    table[key] = str(folder / str(value))
        persona = Persona.model_validate(table)
        persona.profile  # noqa: B018
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            say(f"人物のファイルとして読めません: {error}", f"is not a persona: {error}"),
            place=place,
            remedy=say(
                "naisei talk --persona robot --show-persona の出力を手本にしてください",
                "compare it with `naisei talk --persona robot --show-persona`",
            ),
        ) from error
    return persona
