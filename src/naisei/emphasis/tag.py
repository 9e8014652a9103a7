"""`naisei emphasis tag`: a document gets suggestions, and a page shows them as a heat map."""

from __future__ import annotations

import sys
from pathlib import Path

from naisei.core import InputError
from naisei.emphasis.corpus.read import read_document
from naisei.emphasis.schemas import Tagger
from naisei.emphasis.suggestions import Suggestions, heat_map, marked, suggest
from naisei.emphasis.taggers.crf import default_tagger
from naisei.emphasis.taggers.registry import load_tagger
from naisei.files import write_atomically
from naisei.lang import say
from naisei.system.config import Options, flag

__all__ = ["TagOptions", "command", "tag"]

_CHOICE = ("選び方", "Choice")


class TagOptions(Options):
    """Which document, what is suggested in it, and where that is written."""

    file: Path = flag(
        ...,
        "文書: Markdown、HTML、テキスト (.docx は --html のみ)",
        "A document: Markdown, HTML, text (.docx with --html only).",
        metavar="FILE",
        argument=True,
    )
    out: Path | None = flag(
        None,
        "強調案を入れた文書。ほかは 1 バイトも変えない",
        "The document with suggestions; not one other byte is changed.",
        metavar="FILE",
        shown=("標準出力", "standard output"),
        panel="output",
    )
    html: Path | None = flag(
        None,
        "語ごとの確率を色で見るページを書く",
        "Write a page that shows each word's probability as a colour.",
        metavar="PAGE",
        panel="output",
    )
    tagger: str | None = flag(
        None,
        "rule (段落の最初の文)、または学習したタガーのファイル",
        "rule (the first sentence of each paragraph), or the file of a trained tagger.",
        metavar="NAME|FILE",
        shown=("同梱のタガー", "the one that comes with naisei"),
        panel=_CHOICE,
    )
    threshold: float | None = flag(
        None,
        "確率がこの値以上の語を選ぶ",
        "Take the words whose probability is at least this.",
        shown=("タガーに任せる", "the tagger decides"),
        panel=_CHOICE,
        ge=0,
        le=1,
    )
    max_share: float = flag(
        1.0,
        "強調する語の割合の上限 (もとからの太字も数える)。確率の高い所から残す",
        "Emphasise at most this share of the words, counting those that are bold already; "
        "the likeliest stay.",
        panel=_CHOICE,
        ge=0,
        le=1,
    )
    whole_phrases: bool = flag(
        False,
        "文節の切れ目に合わせる",
        "Begin and end where phrases (文節) do.",
        panel=_CHOICE,
    )


def command(options: TagOptions) -> None:
    tag(options, load_tagger(options.tagger) if options.tagger else default_tagger())


def tag(options: TagOptions, tagger: Tagger) -> None:
    """Writes the document with suggestions to `out`, or to standard output if neither `out` nor
    `html` (the heat map) is given; says on standard error what was done.

    Raises:
        InputError: the document cannot be read or marked, or would be written over itself.
    """
    file, out, page = options.file, options.out, options.html
    for path in (out, page):
        if path is not None and path.exists() and path.samefile(file):
            raise InputError(
                say("元の文書に上書きすることになります", "this would write over the document"),
                place=str(path),
                remedy=say("別の名前にしてください", "give another name"),
            )
    document = read_document(file)
    found = suggest(
        document,
        tagger,
        threshold=options.threshold,
        max_share=options.max_share,
        whole_phrases=options.whole_phrases,
    )
    if out is not None or page is None:
        data, count, lost = marked(found)
        if out is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            write_atomically(out, data)
    else:
        count, lost = len(found.choice.runs), 0
    if page is not None:
        write_atomically(page, heat_map(found, tagger=tagger.name))
    _report(file, found, count, lost, [p for p in (out, page) if p])


def _report(file: Path, found: Suggestions, count: int, lost: int, written: list[Path]) -> None:
    counted, words = found.counted, found.words
    if not counted:
        text = say(
            "強調できる文章がありません。文書はそのままです",
            "there is no running text to emphasise; the document is as it was",
        )
    else:
        share = f"{100 * words / counted:.1f} %"
        text = say(
            f"{count:,} か所を強調しました (強調できる {counted:,} 語の {share})",
            f"{count:,} suggestion{'s' * (count != 1)} "
            f"({share} of the {counted:,} words that can be emphasised)",
        )
    if counted and not found.choice.runs:
        top = max((float(p.max()) for p in found.choice.probabilities if len(p)), default=0.0)
        text += say(
            f"。最も高い確率は {top:.2f} です (--threshold で基準を下げられます)",
            f"; the highest probability is {top:.2f} (--threshold lowers the bar)",
        )
    if lost:
        text += say(
            f"。{lost} か所は印を付けると別の意味になるため見送りました",
            f"; {lost} left out, as marks there would be read as something else",
        )
    if written:
        text += " → " + ", ".join(map(str, written))
    print(f"{file}: {text}", file=sys.stderr)
