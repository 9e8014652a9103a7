"""Character profiles: who speaks, how, and what they must not say. One TOML file each.

Source: the retry-judgement specification, §§3 to 6; its two characters come with the package.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from re._parser import SubPattern  # type: ignore[import-not-found]
from re._parser import parse as parse_pattern
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from naisei.core import InputError
from naisei.director.voice import Voice
from naisei.director.wording.cues import CueSpec
from naisei.lang import Language, say
from naisei.lengths import PROFILE, bounded
from naisei.text_files import read_text, toml_of
from naisei.transcripts.cards import CARDS, Card, read_card

_KANA = re.compile("[\u3041-\u30ff]")
Text = Annotated[str, Field(min_length=1)]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]


class _Part(BaseModel):
    """Frozen; an unknown key is an error, so that a misspelt one is not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Cue(_Part):
    """A word or ending that marks a character's speech. A bare string is a cue too.

    text: what must stand in the line; it is compared after normalisation (！, ？, 。, full
    width). at: `any`, or only at a `clause-start` or a `clause-end` (before a mark, the
    line's end, or と, って, けど and the like). not_after, not_before: texts that must not
    stand directly before or after it. doubtful_after: texts after which the words of the
    line (Sudachi) decide whether the cue begins and ends where a word does.
    """

    @model_validator(mode="before")
    @classmethod
    def _bare_string(cls, value: object) -> object:
        return {"text": value} if isinstance(value, str) else value

    text: Text
    at: Literal["any", "clause-start", "clause-end"] = "any"
    not_after: tuple[Text, ...] = ()
    not_before: tuple[Text, ...] = ()
    doubtful_after: tuple[Text, ...] = ()

    @property
    def spec(self) -> CueSpec:
        """The same for the search in a text."""
        return CueSpec(self.text, self.at, self.not_after, self.not_before, self.doubtful_after)


class Exclaiming(_Part):
    """Style: at most `max_sentences` sentences, and one of `marks` among them."""

    kind: Literal["exclaiming"]
    max_sentences: Annotated[int, Field(ge=1)] = 2
    marks: Text = "！？"


class Endings(_Part):
    """Style: at least `at_least` sentences end in one of `endings` (final particles may follow)."""

    kind: Literal["endings"]
    endings: Annotated[tuple[Text, ...], Field(min_length=1)]
    particles: tuple[Text, ...] = ("ね", "よ", "か")
    at_least: Annotated[int, Field(ge=1)] = 2


class ToneRules(_Part):
    """The character's voice. A missing part is neutral (`Tone.status`)."""

    markers: tuple[Cue, ...] = ()
    vocabulary: tuple[Cue, ...] = ()
    style: Annotated[Exclaiming | Endings, Field(discriminator="kind")] | None = None


Excuse = Literal["others", "negated", "hypothetical", "wish", "past", "term"]


#: Limit on the ways to match a pattern at one position; and the count for an unbounded repeat.
_WAYS, _ENDLESS = 100_000, 1_000


def _ways(parsed: Any) -> int:
    """Upper bound on the ways to match a pattern (as parsed by `re`) at one position: the cost of a
    failed match."""
    ways = 1
    for name, argument in parsed:
        kind = str(name)
        if kind.endswith("REPEAT"):
            least, most, repeated = argument
            inner, times = _ways(repeated), min(int(most), _ENDLESS)
            ways *= 1 if least == most and inner == 1 else (times - int(least) + 1) * inner**times
        elif kind == "BRANCH":
            each_way = [_ways(branch) for branch in argument[1]]
            begins = [str(branch[0]) if len(branch) else "" for branch in argument[1]]
            # Branches that begin with different characters exclude each other.
            apart = len({*begins}) == len(begins) and all("LITERAL" in b for b in begins)
            ways *= max(each_way) if apart else sum(each_way)
        elif kind.startswith("GROUPREF"):
            ways *= _ENDLESS
        else:
            for each in argument if isinstance(argument, tuple) else ():
                ways *= _ways(each) if isinstance(each, SubPattern) else 1
        if ways > _WAYS:
            break
    return min(ways, _WAYS + 1)


class Fact(_Part):
    """A fact, and the expressions that contradict it.

    fact, fact_en: shown with the verdict. contradicted_by: regular expressions, searched in
    the normalised line. only_with: for speed, texts of which every contradiction holds one; lines
    without them are skipped. unless: what excuses an expression: it is about `others`, `negated`,
    `hypothetical`, a `wish`, `past`, or named as a `term`. others: words for people of whom it may
    be said.
    """

    fact: Text
    fact_en: str = ""
    contradicted_by: Annotated[tuple[Text, ...], Field(min_length=1)]
    only_with: tuple[Text, ...] = ()
    unless: tuple[Excuse, ...] = ()
    others: tuple[Text, ...] = ()

    @field_validator("contradicted_by")
    @classmethod
    def _compiles(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                found = re.compile(pattern)
            except re.error as error:
                raise ValueError(f"not a regular expression: {pattern!r} ({error})")
            if _ways(parse_pattern(pattern)) > _WAYS:
                raise ValueError(
                    f"may take for ever on a long line: repeats within repeats, or too many: "
                    f"{pattern!r}"
                )
            if found.match(""):
                raise ValueError(f"matches an empty text, so every line: {pattern!r}")
        return patterns


class Praise(_Part):
    """Praise the character must not give (§5). A profile without it may praise.

    words: of evaluation. addressees: the partner, and what is the partner's. affirmations:
    what affirms them (「正しい」). An evaluation word beside an affirmed addressee is RETRY,
    alone WARN.
    """

    words: Annotated[tuple[Cue, ...], Field(min_length=1)]
    addressees: tuple[Cue, ...] = ()
    affirmations: tuple[Cue, ...] = ()


class Limits(_Part):
    """Limits of rows, sentences and topics for WARN and RETRY (§§3, 6).

    `retry_sentences` and `retry_topics` must both be reached. advised: the recommended
    length in characters, shown as advice only.
    """

    warn_rows: Annotated[int, Field(ge=1)] = 6
    retry_rows: Annotated[int, Field(ge=1)] = 8
    warn_sentences: Annotated[int, Field(ge=1)] = 3
    retry_sentences: Annotated[int, Field(ge=1)] = 4
    warn_topics: Annotated[int, Field(ge=1)] = 2
    retry_topics: Annotated[int, Field(ge=1)] = 3
    advised: Annotated[int, Field(ge=1)] = 80

    @model_validator(mode="after")
    def _ordered(self) -> Limits:
        for name in ("rows", "sentences", "topics"):
            if getattr(self, f"warn_{name}") > getattr(self, f"retry_{name}"):
                raise ValueError(f"warn_{name} is greater than retry_{name}")
        return self


class Partner(_Part):
    """The one spoken to. names: as the character calls and writes them."""

    id: Identifier
    names: Annotated[tuple[Text, ...], Field(min_length=1)]


class Bond(_Part):
    """How the character and the partner are related; read by the calibrated rules.

    together: they share a home. kin: the character's own place, `elder` or `younger`. calls:
    how the character calls the partner; any other form of the partner's names is wrong; empty:
    any will do.
    """

    together: bool = False
    kin: Literal["elder", "younger"] | None = None
    calls: tuple[Text, ...] = ()


class Character(_Part):
    """One character's profile. id: as in files and on the command line; names: for display.

    names: at least one; the first is shown, all are accepted as speakers. persona: for the
    prompt of the model that speaks. partner: `None` for a character that speaks alone. bond: how
    the two are related. voice: learnt from sample lines. flatters: whether it may praise its
    partner.
    """

    schema_: Literal["naisei.character.v1"] = Field(alias="schema")
    id: Identifier
    names: Annotated[tuple[Text, ...], Field(min_length=1)]
    persona: Text
    partner: Partner | None = None
    bond: Bond = Bond()
    flatters: bool = True
    voice: Voice | None = None
    tone: ToneRules = ToneRules()
    setting: tuple[Fact, ...] = ()
    praise: Praise | None = None
    limits: Limits = Limits()

    @property
    def name(self) -> str:
        """The name to show."""
        return self.names[0]

    @property
    def partner_names(self) -> tuple[str, ...]:
        return self.partner.names if self.partner else ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Possible labels before the character's words in a script."""
        return (*self.names, self.id)

    @property
    def partner_labels(self) -> tuple[str, ...]:
        return (*self.partner.names, self.partner.id) if self.partner else ()

    @property
    def language(self) -> Language:
        """Language of the character's lines and prompts: Japanese if the profile is."""
        written = "".join((*self.names, self.persona, *(cue.text for cue in self.tone.markers)))
        return "ja" if _KANA.search(written) else "en"


@lru_cache(maxsize=1)
def shipped() -> tuple[Character, ...]:
    """The profiles that ship with the package, by id."""
    folder = files("naisei.data") / "characters"
    found = [
        parse_character(entry.read_text(encoding="utf-8"), place=entry.name)
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda character: character.id))


def partner_of(character: Character) -> Character | None:
    """The shipped profile of the character's partner, if any."""
    wanted = character.partner.id if character.partner else ""
    return next((c for c in shipped() if c.id == wanted), None)


def shipped_profile(id: str) -> str:
    """The TOML text of a shipped character. Raises `FileNotFoundError` for an unknown id."""
    return (files("naisei.data") / "characters" / f"{id}.toml").read_text(encoding="utf-8")


def profile_text(character: str) -> str:
    """The TOML text of a character, by id, name or file. Raises `InputError` if it is invalid."""
    found = load_character(character)
    return read_text(character) if character.endswith(".toml") else shipped_profile(found.id)


def load_character(name: str | Path | Character) -> Character:
    """Load a profile by id (`yana`), display name (「やな」) or path (TOML file or character card).

    A `Character` is returned unchanged.

    Raises:
        InputError: the name is unknown, or the file is not a profile.
    """
    if isinstance(name, Character):
        return name
    if isinstance(name, str):
        if (known := _by_name().get(name)) is not None:
            return known
        if not name.lower().endswith((".toml", *CARDS)):
            raise InputError(
                say(f"{name!r} というキャラクターはありません", f"unknown character {name!r}"),
                remedy=say(
                    ", ".join(c.id for c in shipped())
                    + " のどれか、または .toml かキャラクターカードを指定してください",
                    "use one of " + ", ".join(c.id for c in shipped()) + ", or a .toml file "
                    "or a character card",
                ),
            )
    path = Path(name)
    if path.suffix.lower() in CARDS:
        return _of_card(read_card(path), path.stem)
    text = read_text(path)
    return parse_character(bounded(text, PROFILE, place=str(path)), place=str(path))


def _of_card(card: Card, stem: str) -> Character:
    """The profile of a card: its sample lines go into the persona."""
    id = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_0123456789") or "card"
    samples = "\n".join(f"- {line}" for line in card.samples)
    head = say("話し方の例:", "How they speak:")
    persona = f"{card.about}\n{head}\n{samples}" if samples else card.about
    bounded(persona, PROFILE, place=card.name)
    return Character(schema="naisei.character.v1", id=id, names=(card.name,), persona=persona)


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Character]:
    return {name: c for c in shipped() for name in (c.id, *c.names)}


def parse_character(text: str, *, place: str = "") -> Character:
    """A profile from the text of a TOML file.

    Raises:
        InputError: the text is not TOML or not a profile; every error is listed with its key.
    """
    if not text.strip():
        raise InputError(say("空のファイルです", "is empty"), place=place, remedy=model_profile())
    try:
        return Character.model_validate(_frozen(toml_of(text)))
    except tomllib.TOMLDecodeError as error:
        known = re.search(r"line (\d+)", str(error))
        line = known[1] if known else text.count("\n") + 1
        raise InputError(
            say(f"TOML として読めません: {error}", f"is not TOML: {error}"),
            place=f"{place}:{line}" if place else "",
            remedy=say("その行の書き方を直してください", "fix the syntax there"),
        )
    except ValidationError as error:
        from naisei.director.faults import as_error

        raise as_error(error, text, place)


def model_profile() -> str:
    """The remedy for an invalid profile."""
    return say(
        "`naisei director characters show yana` の出力を手本にしてください",
        "compare it with `naisei director characters show yana`",
    )


def _frozen(data: Any) -> Any:
    """Convert TOML arrays to tuples, as the strict frozen profile requires."""
    if isinstance(data, dict):
        return {key: _frozen(value) for key, value in data.items()}
    return tuple(map(_frozen, data)) if isinstance(data, list) else data
