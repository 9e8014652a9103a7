"""`naisei emphasis corpus`: a corpus is built, and what it consists of is printed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from naisei.core import InputError
from naisei.emphasis.corpus.build import BOOKS, LONGEST, Built, build, installed
from naisei.emphasis.corpus.store import describe, save_corpus
from naisei.emphasis.schemas import Article
from naisei.lang import say
from naisei.system.config import Options, flag

__all__ = ["CorpusOptions", "make_corpus"]

_SOURCES = ("元の文書", "Sources")
_CHOICE = ("選び方", "Choice")


class CorpusOptions(Options):
    """Where documents come from, and which articles are taken. share: where books of Debian are
    installed."""

    out: Path = flag(
        ...,
        "コーパスを書くファイル (JSON Lines)",
        "The corpus to write (JSON lines).",
        metavar="FILE",
        panel="output",
    )
    folders: tuple[Path, ...] = flag(
        (),
        "太字のある文書のフォルダー (複数可): Markdown、HTML、.docx",
        "A folder of documents with bold words, repeatable: Markdown, HTML, .docx.",
        name="--from",
        metavar="DIR",
        panel=_SOURCES,
    )
    debian: bool = flag(
        False,
        "このマシンに入っている Debian の日本語文書",
        "The Japanese documentation of Debian that is installed on this machine.",
        panel=_SOURCES,
    )
    share: Path = Path("/usr/share")
    longest: int = flag(
        LONGEST,
        "これより長い文書は見出しで記事に分ける (文字数)",
        "Documents longer than this many characters are cut at their headings.",
        metavar="N",
        panel=_CHOICE,
        ge=1,
    )
    least: int = flag(
        1,
        "強調された語がこれより少ない記事は除く",
        "Leave out articles with fewer emphasised words.",
        metavar="N",
        panel=_CHOICE,
        ge=1,
    )
    any_language: bool = flag(
        False,
        "日本語でない記事も入れる",
        "Also take articles that are not Japanese.",
        panel=_CHOICE,
    )


def make_corpus(options: CorpusOptions) -> None:
    """Writes the corpus and prints what it consists of.

    Raises:
        InputError: nothing to read from, no such folder, no article with emphasis, or `out`
            cannot be written.
    """
    articles: list[Article] = []
    left_out: Counter[str] = Counter()
    for name, folder, pattern in _sources(options.folders, options.debian, options.share):
        print(f"{name} …", file=sys.stderr, flush=True)
        built = build(
            name,
            folder,
            pattern=pattern,
            longest=options.longest,
            least=options.least,
            any_language=options.any_language,
        )
        _show(name, built)
        articles += built.articles
        left_out += built.left_out
    if not articles:
        raise InputError(
            say("太字のある文書が一つもありません", "no document has any emphasis"),
            place=", ".join(map(str, options.folders)),
            remedy=say(
                "太字 (**…**、<strong>、Word の太字) のある日本語の文書を与えてください。"
                "ほかの言語なら --any-language",
                "give Japanese documents with bold words (**…**, <strong>, bold in Word); "
                "--any-language for others",
            ),
        )
    save_corpus(options.out, articles)
    _total(articles, left_out, options.out)


def _sources(folders: Sequence[Path], debian: bool, share: Path) -> Iterator[tuple[str, Path, str]]:
    if not folders and not debian:
        raise InputError(
            say("文書の場所がありません", "there is nothing to read from"),
            remedy=say("--from DIR か --debian を付けてください", "give --from DIR or --debian"),
        )
    for folder in folders:
        if not folder.is_dir():
            raise InputError(say("フォルダーがありません", "no such folder"), place=str(folder))
    names = Counter[str]()
    for folder in folders:
        name = folder.resolve().name or "documents"
        names[name] += 1
        yield name if names[name] == 1 else f"{name}-{names[name]}", folder, "*"
    if debian:
        found = list(installed(share))
        if not found:
            raise InputError(
                say("Debian の日本語文書がありません", "no Japanese documentation is installed"),
                place=str(share),
                remedy="apt-get install " + " ".join(book.package for book in BOOKS),
            )
        missing = [b.package for b in BOOKS if b not in [book for book, _ in found]]
        if missing:
            names_left = ", ".join(missing)
            note = say(f"入っていないもの: {names_left}", f"not installed: {names_left}")
            print(note, file=sys.stderr)
        yield from ((book.name, folder, book.pattern) for book, folder in found)


def _show(name: str, built: Built) -> None:
    for path, why in built.unreadable[:10]:
        print(f"  {path}: {why}", file=sys.stderr)
    if built.articles:
        tokens = sum(len(s.tokens) for a in built.articles for s in a.sentences)
        words = sum(sum(s.labels) for a in built.articles for s in a.sentences)
        text = say(
            f"{name}: {len(built.articles):,} 記事、{tokens:,} 語、うち強調 {words:,} 語",
            f"{name}: {len(built.articles):,} articles, {tokens:,} words, {words:,} emphasised",
        )
    else:
        text = say(f"{name}: 使える記事なし", f"{name}: no article that can be used")
    print(text)


def _total(articles: Sequence[Article], left_out: Counter[str], out: Path) -> None:
    found = describe(articles)
    print(
        say(
            f"計 {found.articles:,} 記事。1 記事あたり {found.sentences:.1f} 文、"
            f"{found.tokens:.1f} 語、うち強調 {found.emphasised:.1f} 語 "
            f"(強調できる語の {100 * found.rate:.1f} %)",
            f"{found.articles:,} articles. Each: {found.sentences:.1f} sentences, "
            f"{found.tokens:.1f} words, {found.emphasised:.1f} emphasised "
            f"({100 * found.rate:.1f} % of those that can be)",
        )
    )
    reasons = {
        "plain": say("太字なし", "without emphasis"),
        "same": say("ほかと同じ内容", "the same as others"),
        "foreign": say("日本語でない", "not Japanese"),
        "short": say("短すぎる", "too short"),
        "unreadable": say("読めない", "unreadable"),
    }
    told = [f"{text} {left_out[key]}" for key, text in reasons.items() if left_out[key]]
    if told:
        print(say("除いたもの: ", "left out: ") + ", ".join(told))
    print(f"→ {out}")
