"""Options of every server: address, access and limits."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pydantic import Field

from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import BODY, MESSAGE, UPLOAD
from naisei.system.config import Options, flag, store_flag


class Listening(Options):
    """Where a server listens, who may call it, and how much it takes.

    hosts: further names that the Host header may have. origins: pages of other origins that may
    call, and our own address where a reverse proxy changes it. store: the database in which
    conversations are kept. workers: processes behind the address. max_upload, max_body: bytes of an
    upload, of any other request. max_message: characters of what a person says. body_timeout:
    seconds for a request to arrive.
    """

    host: str = flag(
        "127.0.0.1",
        "待ち受けるアドレス。ループバック以外ではトークンが要る",
        "Address to listen on; anything but loopback needs a token.",
        panel="connections",
    )
    hosts: tuple[str, ...] = flag(
        (),
        "Host に許す名前 (複数可)",
        "A name that Host may have, repeatable.",
        name="--allow-host",
        panel="connections",
        metavar="NAME",
    )
    origins: tuple[str, ...] = flag(
        (),
        "呼び出しを許すページの出所 (複数可。例: https://chat.example.com)",
        "An origin whose pages may call, repeatable, such as https://chat.example.com.",
        name="--allow-origin",
        panel="connections",
        metavar="URL",
    )
    store: str | None = store_flag()
    workers: int = flag(
        1,
        "同じアドレスで応答するプロセスの数。2 つ以上には --store が要る",
        "Processes behind the address; more than one need --store.",
        panel="connections",
        ge=1,
        le=256,
    )
    max_upload: int = flag(
        UPLOAD,
        "アップロードの大きさの上限 (バイト)",
        "Bytes of one upload at most.",
        panel=("上限", "Limits"),
        ge=1,
    )
    max_body: int = Field(default=BODY, ge=1)
    max_message: int = Field(default=MESSAGE, ge=1)
    body_timeout: float = Field(default=30.0, gt=0)

    @property
    def rules(self) -> dict[str, Any]:
        """These options as `naisei.http.GuardRules`."""
        names = {"host", "hosts", "origins", "max_body", "max_upload", "body_timeout"}
        return self.model_dump(include=names)

    def guard(self, tokens: Collection[str], *, variable: str, option: str) -> None:
        """Raise `InputError` for a publicly reachable host without a token, a weak token, or
        several processes without a shared store. variable, option: sources of the tokens."""
        if self.workers > 1 and self.store is None:
            raise InputError(
                say(
                    "複数のプロセスは、会話をデータベースで共有します",
                    "several processes need a database for their conversations",
                ),
                place=f"--workers {self.workers}",
                remedy=say(
                    "--store postgresql://… を付けてください", "give --store postgresql://…"
                ),
            )
        # Imported late, so that the help is fast.
        from naisei.addresses import is_loopback

        if not is_loopback(self.host) and not tokens:
            raise InputError(
                say(
                    f"{self.host} はほかのマシンからも届くので、トークンが要ります",
                    f"{self.host} can be reached from other machines: a token is needed",
                ),
                place="--host",
                remedy=say(
                    f"{variable} か {option} で渡すか、--host 127.0.0.1 にしてください",
                    f"set {variable} or {option}, or use --host 127.0.0.1",
                ),
            )
        if any(len(token) < 16 or not token.isascii() for token in tokens):
            raise InputError(
                say(
                    "トークンは 16 文字以上の ASCII にしてください",
                    "a token needs at least 16 characters, all of them ASCII",
                ),
                place=variable,
                remedy='python -c "import secrets; print(secrets.token_urlsafe(32))"',
            )
