"""Extracts the text of conversations from Excel, Word, ZIP and Slack export folders."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile, is_zipfile

from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import TEXT_FILE
from naisei.text_files import json_of, read_text, text_of
from naisei.transcripts.json_forms import RowObject
from naisei.transcripts.json_reading import json_form_of

#: First bytes of unsupported files, their name, and a remedy.
_BINARY = (
    (b"%PDF", "PDF", "PDF", ("テキストか Word で書き出してください", "export it as text or Word")),
    (
        b"\xd0\xcf\x11\xe0",
        "古い形式か、パスワードつきの Excel・Word",
        "Excel or Word, of an old form or with a password",
        (
            "パスワードなしの xlsx か docx で保存してください",
            "save it as xlsx or docx, without one",
        ),
    ),
)
#: First bytes of a ZIP archive, even one cut short.
_ZIP = b"PK\x03\x04"
_INSIDE = (".json", ".txt", ".csv", ".tsv")
#: Files of a Slack export: one file per day, one folder per channel.
_SLACK = ("users.json", "[0-9][0-9][0-9][0-9]-*.json", "*/[0-9][0-9][0-9][0-9]-*.json")

#: Name ("" for a whole file) and text of a part.
Part = tuple[str, str]


def parts_of(path: Path) -> list[Part]:
    """The texts of a file: one, or one per Excel sheet, ZIP member or file of a Slack export.

    Raises:
        InputError: the file is unreadable or unsupported.
    """
    if path.is_dir():
        files = [each for pattern in _SLACK for each in sorted(path.glob(pattern))]
        return [(each.relative_to(path).as_posix(), read_text(each)) for each in files]
    if not path.is_file():
        return [("", read_text(path))]
    with path.open("rb") as file:
        head = file.read(8)
    for start, ja, en, remedy in _BINARY:
        if head.startswith(start):
            raise InputError(say(f"{ja}です", f"is {en}"), place=str(path), remedy=say(*remedy))
    if not head.startswith(_ZIP) and not is_zipfile(path):
        return [("", read_text(path))]
    try:
        if parts := _unpacked(path):
            return parts
    except InputError:
        raise
    # A damaged package raises errors of zipfile, lxml, openpyxl or python-docx.
    except Exception as error:
        raise InputError(
            say(f"壊れています: {error}", f"is broken: {error}"),
            place=str(path),
            remedy=say("書き出し直してください", "export it again"),
        ) from None
    raise InputError(
        say("読める会話が入っていません", "holds no conversation that can be read"),
        place=str(path),
        remedy=say(
            "テキスト・CSV・xlsx・docx で書き出してください", "export it as text, CSV, xlsx or docx"
        ),
    )


def _unpacked(path: Path) -> list[Part]:
    """The texts of an Office file or a ZIP archive; none if it holds no conversation."""
    with ZipFile(path) as package:
        names = [each.filename for each in package.infolist() if not each.is_dir()]
        if sum(each.file_size for each in package.infolist()) > TEXT_FILE:
            most = f"{TEXT_FILE / 1e6:.0f} MB"
            raise InputError(say(f"{most} を超えています", f"is over {most}"), place=str(path))
        if "xl/workbook.xml" in names:
            return [*_sheets(path)]
        if "word/document.xml" in names:
            return [("", "\n".join(_paragraphs(path)))]
        inside = sorted(n for n in names if PurePosixPath(n).suffix.lower() in _INSIDE)
        return [(name, text_of(package.read(name), f"{path}/{name}")) for name in inside]


def _sheets(path: Path) -> Iterator[Part]:
    """Yield each visible non-empty sheet as CSV."""
    import openpyxl  # type: ignore[import-untyped]

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    for sheet in book.worksheets:
        rows = [["" if cell is None else str(cell) for cell in row] for row in sheet.values]
        if sheet.sheet_state == "visible" and any(any(row) for row in rows):
            out = io.StringIO()
            csv.writer(out, lineterminator="\n").writerows(rows)
            yield f"{sheet.title}.csv", out.getvalue()
    book.close()


def _paragraphs(path: Path) -> Iterator[str]:
    """Yield the paragraphs, and the table rows with tab-separated cells."""
    import docx
    from docx.table import Table

    for block in docx.Document(str(path)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield "\t".join(" ".join(cell.text.split()) for cell in row.cells)
        else:
            yield block.text


def channels(parts: list[Part], path: Path) -> list[tuple[str, list[Any]]]:
    """Name and rows of each channel of a Slack export; [] for other files.

    Raises:
        InputError: the folder is not a Slack export.
    """
    found: dict[str, list[Any]] = {}
    for name, text in parts:
        at = PurePosixPath(name)
        if at.suffix == ".json" and at.stem[:4].isdigit():
            rows = load_json(text, f"{path}/{name}")
            channel = found.setdefault(at.parent.name or at.stem, [])
            channel += rows if isinstance(rows, list) else []
    if any(isinstance(row, dict) and "ts" in row for rows in found.values() for row in rows):
        return [*found.items()]
    if path.is_dir():
        raise InputError(
            say(
                "ファイルではなくフォルダーです (Slack のエクスポートではありません)",
                "this is a folder, not a file, and no export of Slack",
            ),
            place=str(path),
            remedy=say("中のファイルを渡してください", "give a file of it"),
        )
    return []


def slack_names(text: str, place: str) -> dict[str, str]:
    """Id → name from a Slack export's users.json."""
    data = load_json(text, place)
    if isinstance(data, dict):
        return {key: name for key, name in data.items() if isinstance(name, str) and name}
    names = {}
    for user in data if isinstance(data, list) else []:
        if isinstance(user, dict) and isinstance(user.get("id"), str):
            profile = user["profile"] if isinstance(user.get("profile"), dict) else {}
            given = (profile.get("display_name"), user.get("real_name"), user.get("name"))
            names[user["id"]] = next((n for n in given if isinstance(n, str) and n), user["id"])
    return names


def users_beside(path: Path) -> dict[str, str]:
    """`slack_names` of the users.json in a file's folder or its parent; {} if there is none."""
    for folder in (path.parent, path.parent.parent):
        if (users := folder / "users.json").is_file():
            return slack_names(read_text(users), str(users))
    return {}


def load_json(text: str, place: str) -> Any:
    """Parse JSON, or JSON lines as a list of objects. Raises `InputError`."""
    try:
        data = json_of(text)
    except (ValueError, RecursionError) as error:
        rows = [(n, row) for n, row in enumerate(text.splitlines(), 1) if row.strip()]
        if len(rows) < 2:
            raise _no_json(error, place) from None
        return [_entry(row, number, place) for number, row in rows]
    if isinstance(data, dict) and json_form_of(data) is None and "text" in data:
        return [_entry(text, 1, place)]  # a file with one row
    return data


def _entry(row: str, number: int, place: str) -> Any:
    try:
        data = json_of(row)
    except (ValueError, RecursionError) as error:
        raise _no_json(error, f"{place}:{number}") from None
    if not isinstance(data, dict):
        return data
    entry = RowObject(data)
    entry.row = number
    return entry


def _no_json(error: Exception, place: str) -> InputError:
    return InputError(
        say(f"JSON として読めません: {error}", f"is no JSON: {error}"),
        place=place,
        remedy=say(
            '1 行に一つ、{"speaker": "…", "text": "…"} の形で書いてください',
            'write one object a row: {"speaker": "…", "text": "…"}',
        ),
    )
