"""What LoCoMo's data come in: files, a zip or a folder of them; ids of turns, dates of sessions."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import read_text, text_of, unreadable

__all__ = ["documents", "found_ids", "session_time"]

#: Bytes of all files of a zip, unpacked; the published ones have 3 MB.
_MOST = 200_000_000

#: Also as they come: `D8:6; D9:17` in one string, `D:11:26`, `D30:05`.
_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_TIME = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def documents(path: Path) -> Iterator[tuple[str, str]]:
    """(place, text) of the file itself, or of each `.json` in a zip or a folder, by name.

    Raises:
        InputError: it cannot be read, is a damaged or locked zip, or unpacks to over 200 MB.
    """
    if path.is_dir():
        yield from ((str(file), read_text(file)) for file in sorted(path.glob("*.json")))
    elif zipfile.is_zipfile(path):
        yield from _zipped(path)
    else:
        yield str(path), read_text(path)


def _zipped(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            # What macOS adds beside each file begins so.
            parts = [
                part
                for part in sorted(archive.infolist(), key=lambda part: part.filename)
                if part.filename.lower().endswith(".json")
                and not Path(part.filename).name.startswith("._")
            ]
            if sum(part.file_size for part in parts) > _MOST:
                raise InputError(
                    say("展開すると 200 MB を超えます", "unpacks to over 200 MB"), place=str(path)
                )
            for part in parts:
                place = f"{path}/{part.filename}"
                yield place, text_of(archive.read(part), place)
    except OSError as error:
        raise unreadable(error, str(path)) from None
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
        raise InputError(
            say(f"zip を展開できません: {error}", f"the zip cannot be unpacked: {error}"),
            place=str(path),
            remedy=say("ダウンロードし直してください", "download it again"),
        ) from None


def found_ids(text: object) -> list[str]:
    """The ids of turns in a string, as `D30:5`, in order."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in _ID.findall(str(text))]


def session_time(text: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, or ISO 8601; `None` if it is neither. Without a time zone."""
    if not isinstance(text, str):
        return None
    # The months are English whatever the locale, which strptime would follow.
    if (m := _TIME.fullmatch(text.strip())) and m[5][:3].lower() in _MONTHS:
        month = _MONTHS.index(m[5][:3].lower()) + 1
        hour = int(m[1]) % 12 + (12 if m[3].lower() == "p" else 0)
        try:
            return datetime(int(m[6]), month, int(m[4]), hour, int(m[2]))
        except ValueError:
            return None
    try:
        return datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None
