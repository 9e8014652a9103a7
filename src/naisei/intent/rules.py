"""Settings of the assistant: rules, the person's profile, and the contacts file.

[[contact]]
department = "人事部"
address = "jinji@example.com"
topics = ["休暇", "育児"]       # any of these words
[[contact]]
department = "総務部"
default = true                  # for everything else
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_serializer,
    field_validator,
)

from naisei.core import Evidence, InputError
from naisei.intent.schemas import Contact, Thresholds
from naisei.japanese.morph import is_japanese, normalise
from naisei.lang import Language, language, say
from naisei.text_files import json_of, read_text, toml_of


def fault(error: ValidationError) -> str:
    """The first error, `field: what`, or `what` for the whole."""
    from naisei.models.replies import reason

    first = error.errors(include_url=False, include_input=False)[0]
    field, said = ".".join(str(part) for part in first["loc"]), reason(first, language())
    return f"{field}: {said}" if field else said


M = TypeVar("M", bound=BaseModel)


def read_model(path: Path, kind: type[M], *, what: str) -> M:
    """Read a file as a `kind`; `.json` is JSON, everything else TOML.

    Raises:
        InputError: it cannot be read, has the wrong format, or a field is invalid.
    """
    text = read_text(path)
    try:
        data = json_of(text) if path.suffix.lower() == ".json" else toml_of(text)
    except ValueError as error:
        raise InputError(
            say(f"{what} の形が違います: {error}", f"the {what} is not readable: {error}"),
            place=str(path),
            remedy=say(
                "UTF-8 の TOML か、名前が .json の JSON で書いてください",
                "write it as TOML, or as JSON in a file named .json (UTF-8)",
            ),
        ) from error
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise InputError(
            fault(error),
            place=str(path),
            remedy=say(f"{what} を直してください", f"fix the {what}"),
        ) from error


_FIELDS = 40


class Profile(BaseModel):
    """The person's profile; all fields are optional. department, office: as in the documents.
    employment: 正社員, パート, …. others: anything else, by name.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    department: str = ""
    office: str = ""
    employment: str = ""

    @field_validator("*", mode="before")
    @classmethod
    def _flat(cls, value: object) -> object:
        if isinstance(value, bool | int | float):
            return str(value)
        if not isinstance(value, str):
            raise ValueError("a field of the profile is a text or a number")
        return value.strip()

    @property
    def fields(self) -> dict[str, str]:
        """The fields that are set, in order."""
        return {k: str(v) for k, v in self.model_dump().items() if str(v)}

    def prompt_lines(self) -> str:
        """The profile as lines for a prompt; "" if nothing is known."""
        return "\n".join(f"- {name}: {value}" for name, value in self.fields.items())

    def prefer(self, hits: Sequence[Evidence]) -> list[Evidence]:
        """Move up hits that name the person's department, office, … in title, headings or text: at
        most one position per value."""
        values = [normalise(v) for v in self.fields.values() if len(normalise(v)) >= 2]
        if not values:
            return list(hits)

        def place(at: int) -> float:
            where = hits[at].meta
            headings = where.get("headings")
            named = " ".join(map(str, headings)) if isinstance(headings, list) else ""
            text = normalise(f"{where.get('title', '')} {named} {hits[at].text}")
            return at - 1.5 * sum(value in text for value in values)

        return [hits[at] for at in sorted(range(len(hits)), key=lambda at: (place(at), at))]


class Entry(BaseModel):
    """One department and its topics."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    department: Annotated[str, Field(min_length=1)]
    address: str = Field(default="", validation_alias=AliasChoices("address", "contact"))
    note: str = ""
    topics: tuple[str, ...] = ()
    default: bool = False

    def weight(self, text: str) -> int:
        """Number of letters in a text that belong to this department's topics."""
        return sum(len(t) for t in {*self.topics} if t and normalise(t).lower() in text)


class Contacts(BaseModel):
    """The departments of a contacts file, in its order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contact: tuple[Entry, ...] = ()

    def find(self, text: str) -> Contact | None:
        """The department whose topics cover most of the text; else the default one, or none."""
        folded = normalise(text).lower()
        best = max(self.contact, key=lambda entry: entry.weight(folded), default=None)
        if best is None or not best.weight(folded):
            best = next((entry for entry in self.contact if entry.default), None)
        if best is None:
            return None
        return Contact(department=best.department, address=best.address, note=best.note)


def load_contacts(path: Path) -> Contacts:
    """Load a contacts file. Raises `InputError` if it is invalid."""
    return read_model(path, Contacts, what="contacts file")


#: The models' roles. A role without a model is played by rules.
Role = Literal["evaluator", "answerer", "verifier"]


class Rules(BaseModel):
    """budget: questions back per request. asking, rewriting: off for ablations: then it always
    searches, or searches for the words joined. k: hits that an answer may rest on. depth: hits
    that the rule-based evaluation looks at. options: topics offered at most.
    answer_from: how sure a quote has to be to be an answer, see `naisei.intent.answering`.
    nearest_from: the strength of the evidence (`naisei.intent.evidence`)
    from which it shows the nearest passage.
    language: of prompts and messages; chosen: whether it holds whatever the language of the
    question. roles: those that a model plays.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget: int = Field(default=3, ge=0, le=20)
    asking: bool = True
    rewriting: bool = True
    k: int = Field(default=5, ge=1, le=50)
    depth: int = Field(default=30, ge=1, le=200)
    options: int = Field(default=6, ge=2, le=9)
    answer_from: float = Field(default=1.6, ge=0, le=3)
    nearest_from: float = Field(default=0.35, ge=0, le=3)
    thresholds: Thresholds = Thresholds()
    language: Language = "ja"
    chosen: bool = False
    roles: frozenset[Role] = frozenset()

    @field_serializer("roles")
    def _ordered(self, roles: frozenset[Role]) -> list[Role]:
        return sorted(roles)  # the order of a set differs between processes


class Setting(BaseModel):
    """Rules, profile and contacts. collection: description of the documents for the evaluating
    model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: Rules = Rules()
    profile: Profile = Profile()
    contacts: Contacts = Contacts()
    collection: str = ""

    def for_message(self, text: str) -> Setting:
        """The setting in a message's language, unless one was chosen; the rules' language for a
        message such as a number."""
        if self.rules.chosen or not any(c.isalpha() for c in text):
            return self
        heard: Language = "ja" if is_japanese(text) else "en"
        if heard == self.rules.language:
            return self
        rules = self.rules.model_copy(update={"language": heard})
        return self.model_copy(update={"rules": rules})
