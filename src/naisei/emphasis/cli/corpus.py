"""`naisei emphasis corpus`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.lang import say

__all__ = ["command"]

_SOURCES = say("元の文書", "Sources")
_CHOICE = say("選び方", "Choice")

Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="FILE",
        help=say("コーパスを書くファイル (JSON Lines)", "The corpus to write (JSON lines)."),
    ),
]
From = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="DIR",
        help=say(
            "太字のある文書のフォルダー (複数可): Markdown、HTML、.docx",
            "A folder of documents with bold words, repeatable: Markdown, HTML, .docx.",
        ),
        rich_help_panel=_SOURCES,
    ),
]
Debian = Annotated[
    bool,
    typer.Option(
        "--debian",
        help=say(
            "このマシンに入っている Debian の日本語文書",
            "The Japanese documentation of Debian that is installed on this machine.",
        ),
        rich_help_panel=_SOURCES,
    ),
]
Longest = Annotated[
    int,
    typer.Option(
        "--longest",
        min=1,
        metavar="N",
        help=say(
            "これより長い文書は見出しで記事に分ける (文字数)",
            "Documents longer than this many characters are cut at their headings.",
        ),
        rich_help_panel=_CHOICE,
    ),
]
Least = Annotated[
    int,
    typer.Option(
        "--least",
        min=1,
        metavar="N",
        help=say(
            "強調された語がこれより少ない記事は除く",
            "Leave out articles with fewer emphasised words.",
        ),
        rich_help_panel=_CHOICE,
    ),
]
AnyLanguage = Annotated[
    bool,
    typer.Option(
        "--any-language",
        help=say("日本語でない記事も入れる", "Also take articles that are not Japanese."),
        rich_help_panel=_CHOICE,
    ),
]


def command(
    out: Out,
    source: From = None,
    debian: Debian = False,
    longest: Longest = 6_000,
    least: Least = 1,
    any_language: AnyLanguage = False,
) -> None:
    # The other commands do not wait for it.
    from naisei.emphasis.corpus.commands import make_corpus

    make_corpus(
        out,
        folders=source or (),
        debian=debian,
        longest=longest,
        least=least,
        any_language=any_language,
    )
