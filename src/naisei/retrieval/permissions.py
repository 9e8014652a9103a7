"""Visibility of documents by group, from a file in their folder or from front matter.

`permissions.toml` in the document folder maps path patterns to groups. The last pattern that
matches a path applies; other documents are public:

[groups]
"hr/**" = ["hr", "board"]
"hr/leave/*" = ["*"]            # everybody

Front matter (`groups: [hr]`) restricts further: the user needs a group from each list.
Nobody sees a document with an empty list.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import read_text, toml_of

#: File name, in the document folder.
FILE = "permissions.toml"
#: The group of all users.
EVERYBODY = "*"


class Permissions(BaseModel):
    """groups: pattern of paths (`*` matches `/`, too; a folder's name is all below it) → groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    groups: dict[str, tuple[str, ...]] = {}

    @classmethod
    def read(cls, path: Path) -> Permissions:
        """Read the file. Raises `InputError` if it is invalid."""
        text = read_text(path)
        try:
            return cls.model_validate(toml_of(text))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise InputError(
                say("権限のファイルとして読めません", "not a file of permissions"),
                place=str(path),
                remedy=say(
                    '[groups] の下に "hr/**" = ["hr"] のように書いてください',
                    'under [groups], write "hr/**" = ["hr"] and the like',
                ),
            ) from error

    def of(self, path: str) -> tuple[str, ...] | None:
        """The groups that may see the document; `None`: everybody."""
        found: tuple[str, ...] | None = None
        for pattern, groups in self.groups.items():
            if _fits(path, pattern):
                found = groups
        return None if found is None or EVERYBODY in found else found

    def idle(self, paths: Collection[str]) -> tuple[str, ...]:
        """Patterns that match no path: a misspelt pattern protects nothing."""
        return tuple(
            pattern for pattern in self.groups if not any(_fits(path, pattern) for path in paths)
        )


def _fits(path: str, pattern: str) -> bool:
    name, form = _folded(path), _folded(pattern).removeprefix("./").removeprefix("/")
    return fnmatchcase(name, form) or fnmatchcase(name, f"{form.rstrip('/')}/*")


def _folded(text: str) -> str:
    # A file must not escape its pattern by width or case.
    return unicodedata.normalize("NFKC", text).casefold()


def may_find(
    asking: Collection[str] | None,
    listed: Collection[str] | None,
    meta: Mapping[str, JsonValue],
) -> bool:
    """Whether the groups `asking` may see a document. asking: `None` for the operator, who sees
    all. listed: from `Permissions.of`. meta: the document's; `groups` in it comes from front
    matter.
    """
    if asking is None:
        return True
    lists = [listed, own_groups(meta)]
    return all(any(group in asking for group in some) for some in lists if some is not None)


def own_groups(meta: Mapping[str, JsonValue]) -> list[str] | None:
    """The groups listed in front matter; `None`: everybody."""
    if (value := meta.get("groups")) is None:
        return None
    names = [str(name).strip() for name in (value if isinstance(value, list) else [value])]
    return None if EVERYBODY in names else names
