"""`naisei emphasis tag`: suggested words in a document, their marks, and a heat map."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.corpus.read import Document, article_of, is_japanese, read_document
from naisei.emphasis.marks import Stretch, stretches
from naisei.emphasis.metrics import spans
from naisei.emphasis.phrases import whole_phrases
from naisei.emphasis.review import (
    Format,
    accepted,
    insertions,
    listed,
    source_of,
    why_none,
)
from naisei.emphasis.schemas import CONTENT, Article, Sentence, Span, Tagger
from naisei.emphasis.taggers.crf import default_tagger
from naisei.emphasis.taggers.registry import BUNDLED, load_tagger
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.runs.report import templates
from naisei.system.config import Options, flag

# Selection of suggested words: the tagger's own choice or a threshold, extended to whole
# phrases, at most a share of the document.


def choose(
    article: Article,
    tagger: Tagger,
    *,
    threshold: float | None = None,
    max_share: float = 1.0,
) -> tuple[Span, ...]:
    """Choose whole phrases, in document order. Words already emphasised are not suggested.

    threshold: least probability of a chosen word; None: the tagger decides. max_share: highest
    share of the words that can be emphasised, including those that already are; if exceeded, the
    runs with the highest mean probability remain.
    """
    if threshold is None:
        said = tagger.labels(article)
    else:
        likely = tagger.probabilities(article)
        said = [[bool(value >= threshold) for value in row] for row in likely]
    runs = tuple(
        Span(number, first, last)
        for number, (sentence, row) in enumerate(zip(article.sentences, said, strict=True))
        for first, last in sorted(spans(whole_phrases(sentence, _new(sentence, row))))
        if any(token.pos in CONTENT for token in sentence.tokens[first:last])
    )
    return runs if max_share >= 1 else _limited(runs, article, tagger, max_share)


def _new(sentence: Sentence, row: Sequence[bool]) -> list[bool]:
    """Drop runs that contain bold words, since the rest of them would be fragments."""
    out = list(row)
    for first, last in spans(row):
        if any(token.label for token in sentence.tokens[first:last]):
            out[first:last] = [False] * (last - first)
    return out


def _limited(
    runs: Sequence[Span], article: Article, tagger: Tagger, max_share: float
) -> tuple[Span, ...]:
    likely = tagger.probabilities(article)
    counted = sum(sum(s.counted) for s in article.sentences)
    left = max_share * counted - sum(sum(s.labels) for s in article.sentences)
    kept: list[Span] = []
    for run in sorted(runs, key=lambda run: -likely[run.sentence][run.first : run.last].mean()):
        if (size := run.last - run.first) <= left + 1e-9:
            kept.append(run)
            left -= size
    return tuple(sorted(kept, key=lambda run: (run.sentence, run.first)))


@dataclass(frozen=True)
class Suggestions:
    """A tagger's suggestions for a document. runs: in order. threshold: see `choose`.
    over: whether there would be any without `max_share`."""

    document: Document
    article: Article
    tagger: Tagger
    runs: tuple[Span, ...]
    threshold: float | None = None
    over: bool = False

    @cached_property
    def probabilities(self) -> list[NDArray[np.float64]]:
        """Probabilities per sentence and word; computed only when displayed."""
        return self.tagger.probabilities(self.article)

    @property
    def words(self) -> int:
        """Number of suggested words."""
        return sum(run.last - run.first for run in self.runs)

    @property
    def counted(self) -> int:
        """Number of words that can be emphasised."""
        return sum(sum(sentence.counted) for sentence in self.article.sentences)


def suggest(
    document: Document,
    tagger: Tagger,
    *,
    threshold: float | None = None,
    max_share: float = 1.0,
) -> Suggestions:
    """Suggest words to emphasise; for the options see `choose`."""
    article = article_of(document.name, document.parsed)
    runs = choose(article, tagger, threshold=threshold, max_share=max_share)
    over = max_share < 1 and not runs and bool(choose(article, tagger, threshold=threshold))
    return Suggestions(document, article, tagger, runs, threshold, over)


def marked(
    suggestions: Suggestions, found: Sequence[Stretch] | None = None
) -> tuple[bytes, int, int]:
    """The document with its marks, and how many were inserted and how many could not be.

    found: stretches to mark; None: all suggestions.

    Removing the marks restores the document byte for byte.

    Raises:
        InputError: a docx, or ISO-2022-JP.
    """
    document = suggestions.document
    source = source_of(document)
    if found is None:
        runs = suggestions.runs
        found = stretches(runs, suggestions.article, document.parsed, source.text)
    marks, lost = insertions(found, document)
    return source.with_marks(marks), len(marks) // 2, lost


@dataclass(frozen=True, slots=True)
class TextRun:
    """A word, or the text between two. heat: 0 to 10, ten times the probability;
    bold: bold in the document; chosen: suggested."""

    text: str
    heat: int
    percent: int
    bold: bool
    chosen: bool


def heat_map(suggestions: Suggestions) -> str:
    """One HTML page without scripts or external links."""
    article = suggestions.article
    return (
        templates("naisei.emphasis")
        .get_template("heat_map.html")
        .render(
            say=say,
            language=language(),
            title=article.title or suggestions.document.name,
            tagger=suggestions.tagger.name,
            words=suggestions.words,
            counted=suggestions.counted,
            runs=len(suggestions.runs),
            paragraphs=list(paragraphs(suggestions)),
        )
    )


def paragraphs(suggestions: Suggestions) -> Iterator[list[TextRun]]:
    """The running text, paragraph by paragraph."""
    chosen = {(run.sentence, i) for run in suggestions.runs for i in range(run.first, run.last)}
    blocks: dict[int, list[TextRun]] = {}
    ends: dict[int, int] = {}
    for number, sentence in enumerate(suggestions.article.sentences):
        text = suggestions.document.parsed.blocks[sentence.block].text
        own = blocks.setdefault(sentence.block, [])
        likely = suggestions.probabilities[number]
        for i, token in enumerate(sentence.tokens):
            between = text[ends.get(sentence.block, 0) : token.start]
            if between:
                own.append(TextRun(between, 0, 0, False, False))
            p = float(likely[i])
            bold = token.label is True
            is_chosen = (number, i) in chosen
            own.append(
                TextRun(token.surface, min(10, int(p * 10)), round(p * 100), bold, is_chosen)
            )
            ends[sentence.block] = token.end
    yield from blocks.values()


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
    format: Format = flag(
        "document",
        "document: 案を入れた文書。textlint: textlint の JSON。lsp: エディター向けの JSON",
        "document: with the suggestions in it. textlint: textlint's JSON. lsp: for editors.",
        panel="output",
    )
    review: bool = flag(
        False,
        "案を理由とともに一つずつ示し、採るかどうかを聞く",
        "Show the suggestions one by one with their reasons, and ask which to accept.",
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
    like: Path | None = flag(
        None,
        "この書き手の太字つき文書 (3〜10 件ほど) の癖に合わせる",
        "Adapt to the habit of the writer of these emphasised documents; 3 to 10 will do.",
        metavar="DIR",
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


def command(options: TagOptions) -> None:
    tagger = load_tagger(options.tagger or BUNDLED)
    if options.like:
        from naisei.emphasis.train import adapted  # with all training dependencies

        base = tagger if options.tagger else default_tagger()
        tagger = adapted(base, options.like, but=options.file)
    tag(options, tagger)


def tag(options: TagOptions, tagger: Tagger) -> None:
    """Write the document with suggestions to `out`, or to standard output if neither `out` nor
    `html` (the heat map) is set; report on standard error.

    Raises:
        InputError: the document cannot be read or marked, or would be overwritten.
    """
    file, out, page = options.file, options.out, options.html
    _check(options)
    document = read_document(file)
    found = suggest(
        document,
        tagger,
        threshold=options.threshold,
        max_share=options.max_share,
    )
    if options.format != "document":
        text = listed(found, options.format)
        if out is None:
            sys.stdout.write(text)
        else:
            write_atomically(out, text)
        return
    if out is not None or page is None or options.review:
        data, count, lost = marked(found, accepted(found) if options.review else None)
        if out is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            write_atomically(out, data)
    else:
        count, lost = len(found.runs), 0
    if page is not None:
        write_atomically(page, heat_map(found))
    if options.review:
        text = say(f"{count:,} か所の案を採りました", f"{count:,} accepted")
        print(f"{file}: {text}", file=sys.stderr)
        return
    hint = options.tagger is None and options.like is None and is_japanese(found.article)
    _report(file, found, count, lost, [p for p in (out, page) if p], hint=hint)


def _check(options: TagOptions) -> None:
    file, out, page = options.file, options.out, options.html
    paths = [(path, path.resolve()) for path in (file, out, page) if path]
    for number, (path, place) in enumerate(paths):
        if any(place == before for _, before in paths[:number]):
            raise InputError(
                say("二つのファイルが同じです", "this would write over another of the files"),
                place=str(path),
                remedy=say("別の名前にしてください", "give another name"),
            )
    if options.format != "document" and (options.review or page is not None):
        raise InputError(
            say(
                "--format の JSON は --review や --html と一緒に使えません",
                "JSON (--format) does not go with --review or --html",
            ),
            remedy=say("どちらか一方にしてください", "give one of them"),
        )


def _report(
    file: Path, found: Suggestions, count: int, lost: int, written: list[Path], *, hint: bool
) -> None:
    if found.runs:
        share = f"{100 * found.words / found.counted:.1f} %"
        text = say(
            f"{count:,} か所を強調しました (強調できる {found.counted:,} 語の {share})",
            f"{count:,} suggestion{'s' * (count != 1)} "
            f"({share} of the {found.counted:,} words that can be emphasised)",
        )
    else:
        reason = why_none(found)
        text = say(f"案はありません: {reason}", f"no suggestion: {reason}")
        if not hint and is_japanese(found.article):
            text += say(
                "。--threshold P なら確率が P 以上の語を選びます",
                "; --threshold P takes the words whose probability is at least P",
            )
    if lost:
        text += say(
            f"。{lost} か所は印を付けると別の意味になるため見送りました",
            f"; {lost} left out, as marks there would be read as something else",
        )
    if hint:
        text += say(
            "。書き手の癖は知りません: 太字のある文書があれば --like DIR で合わせられます",
            "; the writer's habit is not known: --like DIR learns it from emphasised documents",
        )
    if written:
        text += " → " + ", ".join(map(str, written))
    print(f"{file}: {text}", file=sys.stderr)
