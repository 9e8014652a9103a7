"""Evaluation items: a question, its hidden intent, and the passages that answer it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from naisei.core import Evidence, InputError, fingerprint
from naisei.intent.rules import fault
from naisei.invisible import INVISIBLE
from naisei.lang import say
from naisei.lengths import MESSAGE
from naisei.text_files import read_text

#: Kinds of questions: `clear` and `unanswerable` state their intent, `vague` and `consultation` do
#: not.
Kind = Literal["clear", "vague", "consultation", "unanswerable"]
#: The name of the default bundled file, and the names of all.
HANDBOOK = "handbook"
BUNDLED = (HANDBOOK, "city", "manual")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Gold(_Strict):
    """A passage that answers: the document, relative to the folder, and its words as a reader
    sees them."""

    path: str = Field(min_length=1)
    quote: str = Field(min_length=1)


class Fact(_Strict):
    """A fact that the user tells when asked."""

    about: str = Field(min_length=1)
    says: str = Field(min_length=1)


class Item(_Strict):
    """One question.

    gold: passages, each sufficient as an answer; empty for `unanswerable` and for a consultation
    that only a person can handle. intent: the hidden intent of a vague question or a consultation.
    facts: the user's knowledge. profile: known data of the user. ask: the department that could
    answer if no document does; null if there is none.
    """

    id: str = Field(min_length=1)
    kind: Kind
    text: str = Field(min_length=1, max_length=MESSAGE)
    gold: tuple[Gold, ...] = ()
    intent: str = ""
    facts: tuple[Fact, ...] = ()
    profile: dict[str, JsonValue] | None = None
    ask: str | None = None
    split: Literal["dev", "test"] = "test"

    @model_validator(mode="after")
    def _whole(self) -> Item:
        if not self.text.strip():
            raise ValueError(say("text が空です", "text is blank"))
        if self.kind == "unanswerable":
            if self.gold:
                raise ValueError(
                    say(
                        "unanswerable の質問に gold は付きません",
                        "an unanswerable question has no gold passage",
                    )
                )
        elif not self.gold and self.kind != "consultation":
            raise ValueError(
                say(
                    f"{self.kind} の質問には gold が要ります",
                    f"a {self.kind} question needs a gold passage",
                )
            )
        if self.kind in ("vague", "consultation") and not (self.intent.strip() and self.facts):
            raise ValueError(
                say(
                    f"{self.kind} の質問には intent と facts が要ります",
                    f"a {self.kind} question needs its intent and facts",
                )
            )
        return self


def load_items(
    source: str, *, split: str | None = None, limit: int | None = None
) -> tuple[Item, ...]:
    """Load the items of a JSON-lines file, or of a bundled one (`handbook`, `city`).

    split: `dev`, `test`, or all if `None`. limit: number of items, balanced over kinds, a fixed
    choice in file order.

    Raises:
        InputError: no such file, an invalid line (with its number), duplicate ids, or no items
            left.
    """
    place, text = _read(source)
    items: list[Item] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        item = _item(line, f"{place}:{number}")
        if item.id in seen:
            raise InputError(
                say(
                    f"id「{item.id}」は {seen[item.id]} 行目にもあります",
                    f"the id '{item.id}' is that of line {seen[item.id]} too",
                ),
                place=f"{place}:{number}",
            )
        seen[item.id] = number
        items.append(item)
    chosen = [item for item in items if split in (None, "all", item.split)]
    if not chosen:
        raise InputError(
            say(f"split が {split} の問題がありません", f"no item of the split '{split}'")
            if items
            else say("問題が一つもありません", "no item"),
            place=place,
        )
    return tuple(chosen if limit is None else _drawn(chosen, limit))


def digest(items: Sequence[Item]) -> str:
    """Fingerprint of the items."""
    return fingerprint([item.model_dump(mode="json") for item in items])


def _read(source: str) -> tuple[str, str]:
    if source in BUNDLED:
        bundled = files("naisei") / "data" / f"{source}_questions" / "questions.jsonl"
        return source, bundled.read_text("utf-8")
    named = ", ".join(BUNDLED)
    remedy = say(
        f"質問の .jsonl ファイルか、同梱のもの ({named}) を指定してください",
        f"name a .jsonl file of questions, or a bundled one ({named})",
    )
    return source, read_text(source, remedy=remedy)


def _item(line: str, place: str) -> Item:
    try:
        return Item.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError(say("JSON ではありません", "is no JSON"), place=place) from error
        raise InputError(fault(error), place=place) from error


def _drawn(items: list[Item], limit: int) -> list[Item]:
    """`limit` items, alternating between kinds, so that a small sample contains every kind."""
    by_kind: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda i: fingerprint([0, i.id])):
        by_kind.setdefault(item.kind, []).append(item)
    queues = [by_kind[kind] for kind in sorted(by_kind)]
    order = [
        item.id
        for turn in range(max(map(len, queues)))
        for queue in queues
        for item in queue[turn : turn + 1]
    ]
    kept = set(order[:limit])
    return [item for item in items if item.id in kept]


#: Maximum rank examined.
DEPTH = 10
#: A chunk that was cut within the passage counts if it contains this share of the quote …
_MOST = 0.8
#: … in parts of at least this many characters.
_PIECE = 4
#: White space, and the marks of tables and lists, which differ between loaders.
_LAYOUT = re.compile(rf"[\s|｜{INVISIBLE}*#`]+")


@lru_cache(maxsize=8192)
def _folded(text: str) -> str:
    return _LAYOUT.sub("", unicodedata.normalize("NFKC", text)).lower()


def holds(chunk: Evidence, gold: Gold) -> bool:
    """Whether the chunk is from the document and contains the quote, or most of it.

    White space, width, case and table marks are folded.
    """
    if chunk.meta.get("path") != gold.path:
        return False
    text, quote = _folded(chunk.text), _folded(gold.quote)
    if quote in text:
        return True
    blocks = SequenceMatcher(None, quote, text, autojunk=False).get_matching_blocks()
    return sum(b.size for b in blocks if b.size >= _PIECE) >= _MOST * len(quote)


def ranks(found: Sequence[Evidence], gold: Sequence[Gold]) -> tuple[int | None, ...]:
    """Rank (from 1, up to `DEPTH`) of the first chunk with each gold passage."""
    return tuple(
        next((n for n, chunk in enumerate(found[:DEPTH], 1) if holds(chunk, passage)), None)
        for passage in gold
    )


def first_rank(found: Sequence[int | None]) -> int | None:
    """The best rank; `None` without one."""
    return min((rank for rank in found if rank is not None), default=None)
