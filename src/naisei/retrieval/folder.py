"""The documents below a folder."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.retrieval.limits import LoadLimits
from naisei.retrieval.load import SUFFIXES
from naisei.retrieval.types import Skipped

__all__ = ["walk"]


def walk(
    folder: Path, *, limits: LoadLimits, beside: Path | None = None
) -> tuple[list[tuple[str, Path]], list[Skipped]]:
    """([(name, path)] by name, what was left out). name: the path within the folder, with `/`,
    in NFC (macOS writes NFD). Hidden files and those of Office (`~$…`) are passed over in
    silence, and so are formats that are not read here. Links out of the folder are left out.
    beside: a folder that is passed over, the index's own.

    Raises:
        InputError: more files than the limit.
    """
    root = folder.resolve()
    apart = beside.resolve() if beside is not None else None
    found: dict[str, Path] = {}
    left_out: list[Skipped] = []
    for base, folders, files in os.walk(folder, followlinks=False):
        here = Path(base)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and _apart(here / f, apart))
        for file in sorted(files):
            path = here / file
            if file.startswith((".", "~$")) or path.suffix.lower() not in SUFFIXES:
                continue
            given = path.relative_to(folder).as_posix()
            name = unicodedata.normalize("NFC", given)
            if why := _refused(path, root, given, name in found):
                left_out.append(Skipped(path=name.encode("utf-8", "replace").decode(), why=why))
                continue
            found[name] = path
            if len(found) > limits.files:
                raise InputError(
                    say(
                        f"資料が {limits.files:,} 件を超えています",
                        f"more than {limits.files:,} documents",
                    ),
                    place=str(folder),
                    remedy=say(
                        "小さいフォルダーに分けるか、件数の上限を上げてください",
                        "index a smaller folder, or raise the limit of files",
                    ),
                )
    return sorted(found.items()), left_out


def _apart(path: Path, apart: Path | None) -> bool:
    return apart is None or path.resolve() != apart


def _refused(path: Path, root: Path, given: str, twice: bool) -> str:
    """Why this file is not read; empty if it is."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        return say("ファイル名が UTF-8 ではありません", "its name is not UTF-8")
    if twice:
        return say("同じ名前のファイルが別にあります", "another file has the same name in NFC")
    if path.is_symlink():
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return say("リンク先がありません", "a link to nowhere")
        if not target.is_relative_to(root):
            return say("フォルダーの外へのリンクです", "a link out of the folder")
        path = target
    if not path.is_file():
        return say("通常のファイルではありません", "not a regular file")
    return ""
