"""Output files, of which nobody ever sees half, and the user's cache folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import platformdirs

from naisei.core import InputError
from naisei.lang import say

__all__ = ["cache_root", "is_disk_error", "output_error", "write_atomically", "written_beside"]

_ROOM = ("空きを作るか、別の場所を指定してください", "make room, or name another place")
_RIGHTS = ("権限を変えるか、別の場所を指定してください", "change the rights, or name another place")
_PLACE = ("別の場所を指定してください", "name another place")
#: Of what can be wrong with a disk or a place: why, and the remedy, in Japanese and English.
_REASONS = {
    errno.ENOSPC: (("ディスクに空きがありません", "no space is left on the disk"), _ROOM),
    errno.EDQUOT: (("ディスクの割り当てを使い切りました", "the disk quota is used up"), _ROOM),
    errno.EFBIG: (("ファイルの大きさが上限を超えます", "the file is larger than allowed"), _ROOM),
    errno.EROFS: (("読み取り専用のディスクです", "the disk is read only"), _PLACE),
    errno.EACCES: (("権限がありません", "permission denied"), _RIGHTS),
    errno.EPERM: (("許可されていません", "not permitted"), _RIGHTS),
    errno.ENOTDIR: (("パスの途中がファイルです", "a part of the path is a file"), _PLACE),
    errno.EEXIST: (("パスの途中がファイルです", "a part of the path is a file"), _PLACE),
    errno.EISDIR: (("フォルダーです", "it is a folder"), _PLACE),
    errno.EIO: (("ディスクの読み書きに失敗しました", "reading or writing the disk failed"), _PLACE),
    errno.ENAMETOOLONG: (("名前が長すぎます", "the name is too long"), _PLACE),
}


def is_disk_error(error: BaseException) -> bool:
    """Whether the disk or the place is at fault: full, read only, forbidden, impossible."""
    return isinstance(error, OSError) and error.errno in _REASONS


def output_error(error: OSError, path: Path | str) -> InputError:
    """What a failure to write to `path` amounts to for the user."""
    strerror = error.strerror or str(error)
    why, remedy = _REASONS.get(error.errno or 0, ((strerror, strerror), _PLACE))
    return InputError(
        say(f"書き込めません: {why[0]}", f"cannot be written: {why[1]}"),
        place=str(path),
        remedy=say(*remedy),
    )


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """A path in the same folder to write a file to; it takes the place of `path` when the block
    ends, and is removed when the block fails.

    Missing folders are made. A file keeps its mode; a link's target is replaced, not the link;
    what is no ordinary file (`/dev/stdout`) is written directly.

    Raises:
        InputError: the disk is full or read only, or the place cannot be written.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path
            return
        place = path.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        # Writers such as numpy's look at the ending.
        scratch = place.with_name(f".{token_hex(6)}{place.suffix}")
        try:
            yield scratch
            if place.is_file():
                scratch.chmod(place.stat().st_mode & 0o7777)
            scratch.replace(place)
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise output_error(error, path) from error


def write_atomically(path: Path, data: str | bytes) -> None:
    """Replace a file at once: a reader, a full disk or a killed process never leaves half of it.

    A text is written in UTF-8 with its line ends as they are.

    Raises:
        InputError: see `written_beside`.
    """
    with written_beside(path) as scratch:
        scratch.write_bytes(data.encode() if isinstance(data, str) else data)


def cache_root() -> Path:
    """The user's cache folder for naisei; `NAISEI_CACHE` overrides it."""
    if override := os.environ.get("NAISEI_CACHE"):
        return Path(override).expanduser()
    return Path(platformdirs.user_cache_dir("naisei", appauthor=False))
