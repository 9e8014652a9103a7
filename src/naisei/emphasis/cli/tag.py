"""`naisei emphasis tag`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.lang import say

__all__ = ["command"]

_OUTPUT = say("出力", "Output")
_CHOICE = say("選び方", "Choice")

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=say(
            "文書: Markdown、HTML、テキスト (.docx は --html のみ)",
            "A document: Markdown, HTML, text (.docx with --html only).",
        ),
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        show_default=say("標準出力", "standard output"),
        help=say(
            "強調案を入れた文書。ほかは 1 バイトも変えない",
            "The document with suggestions; not one other byte is changed.",
        ),
        rich_help_panel=_OUTPUT,
    ),
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="PAGE",
        help=say(
            "語ごとの確率を色で見るページを書く",
            "Write a page that shows each word's probability as a colour.",
        ),
        rich_help_panel=_OUTPUT,
    ),
]
TaggerName = Annotated[
    str | None,
    typer.Option(
        "--tagger",
        metavar="NAME|FILE",
        show_default=say("同梱のタガー", "the one that comes with naisei"),
        help=say(
            "rule (段落の最初の文)、または学習したタガーのファイル",
            "rule (the first sentence of each paragraph), or the file of a trained tagger.",
        ),
        rich_help_panel=_CHOICE,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        min=0,
        max=1,
        show_default=say("タガーに任せる", "the tagger decides"),
        help=say(
            "確率がこの値以上の語を選ぶ",
            "Take the words whose probability is at least this.",
        ),
        rich_help_panel=_CHOICE,
    ),
]
MaxShare = Annotated[
    float,
    typer.Option(
        "--max-share",
        min=0,
        max=1,
        help=say(
            "強調する語の割合の上限 (もとからの太字も数える)。確率の高い所から残す",
            "Emphasise at most this share of the words, counting those that are bold already; "
            "the likeliest stay.",
        ),
        rich_help_panel=_CHOICE,
    ),
]
WholePhrases = Annotated[
    bool,
    typer.Option(
        "--whole-phrases",
        help=say("文節の切れ目に合わせる", "Begin and end where phrases (文節) do."),
        rich_help_panel=_CHOICE,
    ),
]


def command(
    file: File,
    out: Out = None,
    html: Page = None,
    tagger: TaggerName = None,
    threshold: Threshold = None,
    max_share: MaxShare = 1.0,
    whole_phrases: WholePhrases = False,
) -> None:
    # The other commands do not wait for it.
    from naisei.emphasis.taggers.any import load_tagger
    from naisei.emphasis.taggers.default import default_tagger
    from naisei.emphasis.tagging.commands import tag

    tag(
        file,
        load_tagger(tagger) if tagger else default_tagger(),
        out=out,
        page=html,
        threshold=threshold,
        max_share=max_share,
        whole_phrases=whole_phrases,
    )
