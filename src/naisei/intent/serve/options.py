"""Server options: address, access, and limits.

A users file gives each user their own secret:

[users.hanako]
token = "…"                                        # at least 16 characters
profile = { department = "開発部", office = "横浜" }  # optional
groups = ["hr"]                                    # optional: groups whose documents they can find

An authenticating proxy sends the shared secret, and the user and groups in headers
(`--user-header`, `--groups-header`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from naisei.core import InputError
from naisei.intent.rules import Profile, read_model
from naisei.lang import say
from naisei.lengths import BODY
from naisei.system.config import flag, port_flag
from naisei.system.listening import Listening

#: The variable with one secret for all users. Not an option, since other users can see those.
TOKEN = "NAISEI_SERVE_TOKEN"


class _User(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    token: str
    profile: Profile = Profile()
    groups: tuple[str, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    users: dict[str, _User]


def read_users(path: Path | None) -> dict[str, Mapping[str, Any]]:
    """Read the users of a file, and of the variable `NAISEI_SERVE_TOKEN`: `tokens`, `profiles` and
    `groups_of`, as fields of `ServeOptions`.

    Raises:
        InputError: not a users file, or two users have the same token.
    """
    tokens = {"": token} if (token := os.environ.get(TOKEN)) else {}
    if path is None:
        return {"tokens": tokens}
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
    return {
        "tokens": tokens,
        "profiles": {name: user.profile for name, user in found.items()},
        "groups_of": {name: user.groups for name, user in found.items() if user.groups},
    }


_KEPT = ("保存", "What is kept")
_LIMITS = ("上限", "Limits")


class ServeOptions(Listening):
    """Options of `naisei intent serve`.

    users: a file of users, whose tokens and profiles `tokens` and `profiles` are where those are
    not given. tokens: user → the secret that this user's requests carry (`Authorization: Bearer
    …`); the user "" stands for everybody who knows one shared secret. Needed unless `host` is
    loopback. profiles: user → what is known of them. groups_of: user → whose documents they find.
    max_messages: messages of one chat-completions request. timeout: seconds for one turn.
    in_flight: turns at a time; more are answered 503. state: the folder of the sessions; with
    `store`, the name that they have in the database, which any number of servers may share.

    Raises:
        InputError: a host that others can reach, without a token; a token too short to keep
            anybody out; an unusable file of users.
    """

    port: int = port_flag(8321)
    users: Path | None = flag(
        None,
        f"ユーザーごとのトークンの TOML。全員に 1 つなら {TOKEN}",
        f"A token for each user: TOML. One for all: {TOKEN}.",
        name="--tokens",
        panel="connections",
        metavar="FILE",
    )
    tokens: Mapping[str, str] = Field(default={}, repr=False)
    profiles: Mapping[str, Profile] = {}
    groups_of: Mapping[str, tuple[str, ...]] = {}
    user_header: str | None = flag(
        None,
        f"{TOKEN} で呼ぶプロキシがユーザーの名前を入れるヘッダー",
        f"Header in which a proxy that calls with {TOKEN} names the user.",
        panel="connections",
        metavar="NAME",
    )
    groups_header: str | None = flag(
        None,
        f"{TOKEN} で呼ぶプロキシがユーザーのグループをコンマ区切りで入れるヘッダー",
        f"Header in which a proxy that calls with {TOKEN} lists the user's groups, by commas.",
        panel="connections",
        metavar="NAME",
    )
    state: Path = flag(
        Path("naisei-sessions"),
        "会話と評価を保存するフォルダー",
        "Folder for sessions and feedback.",
        panel=_KEPT,
        metavar="DIR",
    )
    timeout: float = flag(
        120.0,
        "1 回のやりとりの制限時間 (秒)",
        "Seconds allowed to one turn.",
        name="--turn-timeout",
        panel=_LIMITS,
        ge=0.001,
    )
    in_flight: int = flag(
        64,
        "同時に処理するやりとりの数",
        "Turns at a time; more are told to wait.",
        panel=_LIMITS,
        ge=1,
    )
    max_body: int = flag(
        BODY,
        "リクエストの大きさの上限 (バイト)",
        "Bytes of one request at most.",
        panel=_LIMITS,
        ge=1,
    )
    max_messages: int = Field(default=200, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _of_users(cls, data: Any) -> Any:
        if isinstance(data, dict) and "tokens" not in data:
            return {**data, **read_users(data.get("users"))}
        return data

    @model_validator(mode="after")
    def _guarded(self) -> Self:
        self.guard(self.tokens.values(), variable=TOKEN, option="--tokens FILE")
        if (self.user_header or self.groups_header) and "" not in self.tokens:
            # Without the secret any caller could claim any identity.
            raise InputError(
                say(
                    "ヘッダーを信じるには、プロキシだけが知るトークンが要ります",
                    "headers are believed only of a proxy that has a secret",
                ),
                place="--user-header, --groups-header",
                remedy=say(f"{TOKEN} を設定してください", f"set {TOKEN}"),
            )
        return self
