"""Office documents as archives, with limits on unpacking."""

from __future__ import annotations

import io
import zipfile

from naisei.lang import say
from naisei.retrieval.types import Unreadable

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def unpacked(name: str, data: bytes, most: int) -> io.BytesIO:
    """The checked archive. name: for messages. most: bytes allowed when unpacked.

    Raises:
        Unreadable: password-protected, too large, or not an archive.
    """
    if data.startswith(_OLE):
        raise Unreadable(
            name,
            say(
                "パスワードで保護されているか、旧形式（.doc、.xls、.ppt）です",
                "protected by a password, or of an old format (.doc, .xls, .ppt)",
            ),
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # zipfile unpacks at most the declared size.
            size = sum(part.file_size for part in archive.infolist())
            locked = any(part.flag_bits & 1 for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(
            name, say("壊れています", "broken") + f" ({type(error).__name__})"
        ) from error
    if locked:
        raise Unreadable(name, say("パスワードで保護されています", "protected by a password"))
    if size > most:
        raise Unreadable(
            name,
            say(f"展開すると {most:,} バイトを超えます", f"more than {most:,} bytes once unpacked"),
        )
    return io.BytesIO(data)
