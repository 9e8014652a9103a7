"""`naisei director characters`: list, show, check."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import read_text

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say("人物のプロファイルを見る・検査する", "List, show and check characters' profiles."),
)


@app.command("list", help=say("同梱の人物の一覧", "The characters that ship."))
def list_(
    as_json: Annotated[
        bool, typer.Option("--json", help=say("JSON で出す", "Print JSON."))
    ] = False,
) -> None:
    from rich.table import Table

    from naisei.director.character import shipped
    from naisei.terminal import Console

    if as_json:
        found = [{"id": c.id, "names": list(c.names), "persona": c.persona} for c in shipped()]
        print(json.dumps(found, ensure_ascii=False))
        return
    grid = Table("id", say("名前", "names"), say("人物", "persona"))
    for character in shipped():
        persona = character.persona.strip().splitlines()[0]
        grid.add_row(character.id, " ".join(character.names), persona)
    Console().print(grid)


@app.command("show", help=say("人物のプロファイル (TOML) を出す", "Print a profile (TOML)."))
def show(
    character: Annotated[
        str, typer.Argument(metavar="ID|FILE", help=say("id、名前、ファイル", "Id, name or file."))
    ],
) -> None:
    from naisei.director.character import load_character

    found = load_character(character)
    if character.endswith(".toml"):
        text = read_text(character)
    else:
        bundled = files("naisei.data") / "characters" / f"{found.id}.toml"
        text = bundled.read_text(encoding="utf-8")
    sys.stdout.write(text)


@app.command(
    "check",
    help=say(
        "自作のプロファイルを検査し、誤りを行とキーで説明する",
        "Check a profile of your own; faults are explained with line and key.",
    ),
)
def check(
    file: Annotated[Path, typer.Argument(help=say("TOML ファイル", "A TOML file."))],
) -> None:
    # The other commands do not wait for it.
    from naisei.director.character import load_character
    from naisei.director.faults import faults

    found = faults(file)
    if found:
        rows = [
            f"{_place(file, fault.line)}: {fault.key + ': ' if fault.key else ''}{fault.message}"
            f"\n  → {fault.remedy}"
            for fault in found[1:]
        ]
        first = found[0]
        raise InputError(
            f"{first.key + ': ' if first.key else ''}{first.message}",
            place=_place(file, first.line),
            remedy="\n".join([first.remedy, *rows]),
        )
    character = load_character(file)
    tone = character.tone
    parts = [bool(tone.markers), bool(tone.vocabulary), tone.style is not None]
    print(say(f"{file}: 使えます", f"{file}: fine"))
    print(f"  {character.id} ({', '.join(character.names)})")
    print(
        say(
            f"  口調の手がかり: {sum(parts)}/3 部、設定: {len(character.setting)} 件、"
            f"褒め言葉の検査: {'あり' if character.praise else 'なし'}",
            f"  tone: {sum(parts)} of 3 parts; setting facts: {len(character.setting)}; praise "
            f"check: {'yes' if character.praise else 'no'}",
        )
    )
    if not any(parts):
        print(
            say(
                "  注意: 口調の手がかりがないので、口調はすべて合格になります",
                "  note: without any part of a tone, every line passes that check",
            )
        )


def _place(file: Path, line: int) -> str:
    return f"{file}:{line}" if line else str(file)
