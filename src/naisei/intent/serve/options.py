"""How the server is run: where it listens, who may call it, and how much it takes.

A file of users gives each a secret of their own:

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
from naisei.http.guard import is_loopback
from naisei.intent.rules import Profile
from naisei.intent.toml_files import read_model
from naisei.lang import say
from naisei.lengths import BODY, MESSAGE, UPLOAD

__all__ = ["TOKEN", "ServeOptions", "Users", "read_users"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Options of `naisei intent serve`.

    tokens: user → the secret that this user's requests carry (`Authorization: Bearer …`);
    the user "" stands for everybody who knows one shared secret. Needed unless `host` is
    loopback. profiles: user → what is known of them. hosts: further names that the Host header
    may have. origins: pages of other origins that may call (`https://chat.example.com`).
    max_body, max_upload: bytes of a request. max_message: characters of what a person says;
    max_messages: messages of one chat-completions request. timeout: seconds for one turn;
    body_timeout: for a request to arrive. in_flight: turns at a time; more are answered 503.
    uploads: the folder for uploaded documents; `None` switches uploading off. state: the folder
    of the sessions.

    Raises:
        InputError: a host that others can reach, without a token; a token too short to keep
            anybody out; a number below 1.
    """

    host: str = "127.0.0.1"
    port: int = 8321
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    max_body: int = BODY
    max_message: int = MESSAGE
    max_messages: int = 200
    max_upload: int = UPLOAD
    timeout: float = 120.0
    body_timeout: float = 20.0
    in_flight: int = 64
    uploads: Path | None = None
    state: Path = Path("naisei-sessions")

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.tokens:
            raise InputError(
                say(
                    f"{self.host} はほかのマシンからも届くので、トークンが要ります",
                    f"{self.host} can be reached from other machines: a token is needed",
                ),
                place="--host",
                remedy=say(
                    "NAISEI_SERVE_TOKEN か --tokens FILE で渡すか、--host 127.0.0.1 にしてください",
                    "set NAISEI_SERVE_TOKEN or --tokens FILE, or use --host 127.0.0.1",
                ),
            )
        if any(len(token) < 16 or not token.isascii() for token in self.tokens.values()):
            raise InputError(
                say(
                    "トークンは 16 文字以上の ASCII にしてください",
                    "a token needs at least 16 characters, all of them ASCII",
                ),
                place="NAISEI_SERVE_TOKEN",
                remedy='python -c "import secrets; print(secrets.token_urlsafe(32))"',
            )
        for name in ("max_body", "max_message", "max_messages", "max_upload", "in_flight"):
            if getattr(self, name) < 1:
                raise InputError(
                    say("1 以上にしてください", "must be at least 1"),
                    place=f"--{name.replace('_', '-')}",
                )
        for name in ("timeout", "body_timeout"):
            if getattr(self, name) <= 0:
                raise InputError(
                    say("0 より大きくしてください", "must be above 0"),
                    place=f"--{name.replace('_', '-')}",
                )
