"""`naisei emphasis tag`, performed."""

from __future__ import annotations

import sys
from pathlib import Path

from naisei.core import InputError
from naisei.emphasis.corpus.files import read_document
from naisei.emphasis.schemas import Tagger
from naisei.emphasis.tagging.heat_map import heat_map
from naisei.emphasis.tagging.suggestions import Suggestions, marked, suggest
from naisei.files import write_atomically
from naisei.lang import say

__all__ = ["tag"]


def tag(
    file: Path,
    tagger: Tagger,
    *,
    out: Path | None = None,
    page: Path | None = None,
    threshold: float | None = None,
    max_share: float = 1.0,
    whole_phrases: bool = False,
) -> None:
    """Writes the document with suggestions to `out`, or to standard output if neither `out` nor
    `page` (the heat map) is given; says on standard error what was done.

    Raises:
        InputError: the document cannot be read or marked, or would be written over itself.
    """
    for path in (out, page):
        if path is not None and path.exists() and path.samefile(file):
            raise InputError(
                say("元の文書に上書きすることになります", "this would write over the document"),
                place=str(path),
                remedy=say("別の名前にしてください", "give another name"),
            )
    document = read_document(file)
    found = suggest(
        document, tagger, threshold=threshold, max_share=max_share, whole_phrases=whole_phrases
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
