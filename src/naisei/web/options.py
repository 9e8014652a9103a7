"""How the web app is run: where it listens, who may come in, what it shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError
from naisei.http import is_loopback
from naisei.lang import say
from naisei.lengths import BODY, MESSAGE, UPLOAD
from naisei.models.base import ModelSettings

__all__ = ["TOKEN", "WebOptions"]

#: The variable that holds the token. Not an option's value: others on the machine see those.
TOKEN = "NAISEI_WEB_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """Options of `naisei serve`.

    token: what a browser must know to come in; needed unless `host` is loopback. hosts: further
    names that the Host header may have. runs: the folder whose runs are shown. state: where
    conversations are kept. index: of documents, for the document page. documents: a folder of
    them, whose index is made, and kept up to date, under `state`; not both. model: plays every role
    that a page does not name another for; `None` leaves pages to what needs no model. settings:
    how models are reached. max_body, max_upload: bytes of a request. max_message: characters of
    what a person says. body_timeout: seconds for a request to arrive. open_conversations:
    conversations held in memory at a time; idle: seconds after which one that nobody looks at
    is put away (it goes on when it is opened again).

    Raises:
        InputError: a host that others can reach without a token; a token too short to keep
            anybody out; a number below 1.
    """

    host: str = "127.0.0.1"
    port: int = 8320
    token: str = field(default="", repr=False)
    hosts: tuple[str, ...] = ()
    runs: Path = Path("runs")
    state: Path = Path("naisei-web")
    index: Path | None = None
    documents: Path | None = None
    model: str | None = None
    settings: ModelSettings = ModelSettings()  # noqa: RUF009 (frozen)
    uploads: bool = True
    max_body: int = BODY
    max_upload: int = UPLOAD
    max_message: int = MESSAGE
    body_timeout: float = 30.0
    open_conversations: int = 500
    idle: float = 900.0

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.token:
            raise InputError(
                say(
                    f"{self.host} はほかのマシンからも届くので、トークンが要ります",
                    f"{self.host} can be reached from other machines: a token is needed",
                ),
                place="--host",
                remedy=say(
                    f"{TOKEN} か --token-file で渡すか、--host 127.0.0.1 にしてください",
                    f"set {TOKEN} or --token-file, or use --host 127.0.0.1",
                ),
            )
        if self.token and (len(self.token) < 16 or not self.token.isascii()):
            raise InputError(
                say(
                    "トークンは 16 文字以上の ASCII にしてください",
                    "a token needs at least 16 characters, all of them ASCII",
                ),
                place=TOKEN,
                remedy='python -c "import secrets; print(secrets.token_urlsafe(32))"',
            )
        if self.index is not None and self.documents is not None:
            raise InputError(
                say("索引か資料のフォルダーの、どちらか一つです", "either an index or a folder"),
                place="--index, --documents",
                remedy=say("片方を外してください", "leave one out"),
            )
        if self.documents is not None and not self.documents.is_dir():
            raise InputError(
                say("そのようなフォルダーはありません", "no such folder"),
                place=f"--documents {self.documents}",
                remedy=say(
                    "資料のあるフォルダーを指定してください", "name the folder of documents"
                ),
            )
        for name in ("max_body", "max_upload", "max_message", "open_conversations"):
            if getattr(self, name) < 1:
                raise InputError(
                    say("1 以上にしてください", "must be at least 1"),
                    place=f"--{name.replace('_', '-')}",
                )
