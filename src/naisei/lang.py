"""The user's language: Japanese or English."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Literal

Language = Literal["ja", "en"]

_VARIABLES = ("NAISEI_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
_spoken: ContextVar[Language | None] = ContextVar("spoken", default=None)


@contextmanager
def speaking(chosen: Language) -> Iterator[None]:
    """A context with this language, whatever the environment. For texts of a run (prompts), which
    must not change on resume under other settings.
    """
    before = _spoken.set(chosen)
    try:
        yield
    finally:
        _spoken.reset(before)


def language() -> Language:
    """The language of `speaking`, else `NAISEI_LANG` if set, else the locale's (LC_ALL,
    LC_MESSAGES, LANG): `ja…` or English."""
    if (chosen := _spoken.get()) is not None:
        return chosen
    # Called for every judged line. An unset variable costs `os.environ` an exception within
    # another; its underlying mapping, if there is one, is as current and far faster.
    behind = getattr(os.environ, "_data", None)
    if isinstance(behind, dict):
        for key in _KEYS:
            if value := behind.get(key):
                return _language_of(value)
        return "en"
    for variable in _VARIABLES:
        if value := os.environ.get(variable):
            return _language_of(value)
    return "en"


#: The variables' names as keys of the mapping behind `os.environ`: bytes, or upper case.
_KEYS = tuple(map(os.environ.encodekey, _VARIABLES))


@lru_cache(maxsize=8)
def _language_of(value: str | bytes) -> Language:
    named = value if isinstance(value, str) else os.fsdecode(value)
    return "ja" if named.lower().startswith("ja") else "en"


def say(ja: str, en: str) -> str:
    """Return the text in the user's language."""
    return ja if language() == "ja" else en


def use(chosen: str | None) -> None:
    """Apply a `--lang` option to the rest of the process; `None` changes nothing.

    Raises:
        InputError: neither `ja` nor `en`.
    """
    if chosen is None:
        return
    if chosen not in ("ja", "en"):
        from naisei.core import InputError  # `naisei --help` must not import the core

        raise InputError(f"unknown language {chosen!r}", place="--lang", remedy="use ja or en")
    os.environ["NAISEI_LANG"] = chosen


#: The user's prompts that replace bundled ones: (name without version, language) → text.
_OWN: ContextVar[Mapping[tuple[str, str], Template]] = ContextVar(
    "own prompts", default=MappingProxyType({})
)


# The only prompt loader: a prompt is a file, named with its version and language.
#
# `<package>/prompts/<name>.<language>.md`, for instance `clarify/prompts/tur.v1.ja.md`.
# Placeholders are written `$name`, a dollar sign `$$`.


@cache
def _template(package: str, name: str, language: str) -> Template:
    text = (files(package) / "prompts" / f"{name}.{language}.md").read_text(encoding="utf-8")
    return Template(text.strip())


def names(package: str) -> list[str]:
    """The prompts of `package`, with their versions, sorted."""
    found = (entry.name.split(".") for entry in (files(package) / "prompts").iterdir())
    return sorted({".".join(parts[:-2]) for parts in found if parts[-1] == "md"})


def render(package: str, name: str, language: str, **values: object) -> str:
    """Fill in the prompt `name` (with version, e.g. `agent.v1`) of `package`.

    Raises:
        FileNotFoundError: no such prompt in this language.
        KeyError: a placeholder has no value.
    """
    own, bare = _OWN.get(), name.partition(".")[0]
    template = own.get((bare, language)) or own.get((bare, ""))
    return (template or _template(package, name, language)).substitute(
        {key: str(value) for key, value in values.items()}
    )


@contextmanager
def own_prompts(package: str, folder: str) -> Iterator[None]:
    """A context in which the files of a folder replace the prompts of a package:
    `NAME.LANGUAGE.md`, or `NAME.md` for any language; a version in the name is ignored. An empty
    folder name replaces none.

    Raises:
        InputError: a file that matches no prompt, or an unknown placeholder.
    """
    token = _OWN.set(_read_own(package, Path(folder)) if folder else MappingProxyType({}))
    try:
        yield
    finally:
        _OWN.reset(token)


def _read_own(package: str, folder: Path) -> dict[tuple[str, str], Template]:
    from naisei.core import InputError  # `naisei --help` must not import the core
    from naisei.text_files import read_text

    shipped: dict[tuple[str, str], Template] = {}
    for path in sorted(Path(str(files(package))).rglob("prompts/*.md")):
        name, *_, language, _ = path.name.split(".")
        shipped[name, language] = Template(path.read_text(encoding="utf-8"))
    own: dict[tuple[str, str], Template] = {}
    for path in sorted(folder.glob("*.md")):
        name, *parts = path.name.removesuffix(".md").split(".")
        language = parts[-1] if parts and parts[-1] in ("ja", "en") else ""
        ours = [t for (n, each), t in shipped.items() if n == name and language in (each, "")]
        if not ours:
            raise InputError(
                say(f"'{name}' というプロンプトはありません", f"there is no prompt '{name}'"),
                place=str(path),
                remedy=say("置き換えられるもの: ", "those that can be replaced: ")
                + ", ".join(sorted({n for n, _ in shipped})),
            )
        text = Template(read_text(path).strip())
        fields = {field for t in ours for field in t.get_identifiers()}
        if not text.is_valid() or (unknown := {*text.get_identifiers()} - fields):
            raise InputError(
                say("埋められない $ があります", "a $ that nothing fills")
                if not text.is_valid()
                else say(f"${min(unknown)} という欄はありません", f"no field ${min(unknown)}"),
                place=str(path),
                remedy=say("欄: ", "fields: ") + (", ".join(sorted(fields)) or "–"),
            )
        own[name, language] = text
    if not own:
        raise InputError(
            say("プロンプト (*.md) がありません", "holds no prompt (*.md)"), place=str(folder)
        )
    return own
