"""Who may use a server: one secret for everybody, or one for each user.

[users.hanako]
token = "…"                                        # at least 16 characters
profile = { department = "開発部", office = "横浜" }  # optional
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from naisei.core import InputError
from naisei.intent.profile import Profile
from naisei.intent.toml_files import read_model
from naisei.lang import say

__all__ = ["TOKEN", "Users", "read_users"]

#: The variable that holds one secret for everybody. Not an option: others see those.
TOKEN = "NAISEI_SERVE_TOKEN"


@dataclass(frozen=True, slots=True)
class Users:
    """tokens: user → secret; the user "" is everybody. profiles: user → what is known."""

    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    profiles: Mapping[str, Profile] = field(default_factory=dict)


class _User(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    token: str
    profile: Profile = Profile()


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    users: dict[str, _User]


def read_users(path: Path | None) -> Users:
    """The users of a file, and of the variable `NAISEI_SERVE_TOKEN`.

    Raises:
        InputError: the file is none of users, or two have one token.
    """
    tokens = {"": token} if (token := os.environ.get(TOKEN)) else {}
    if path is None:
        return Users(tokens)
    found = read_model(path, _File, what="file of users").users
    if not all(name.strip() for name in found):
        raise InputError(
            say("名前のないユーザーがいます", "a user without a name"), place=str(path)
        )
    tokens |= {name: user.token for name, user in found.items()}
    if len(set(tokens.values())) < len(tokens):
        raise InputError(
            say("二人のユーザーが同じトークンを使っています", "two users have one token"),
            place=str(path),
            remedy=say(
                "ユーザーごとに別のトークンにしてください", "give each user a token of their own"
            ),
        )
    return Users(tokens, {name: user.profile for name, user in found.items()})
