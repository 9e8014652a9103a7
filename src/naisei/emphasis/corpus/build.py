"""`naisei emphasis corpus`: builds corpora from folders of documents."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from naisei.core import InputError
from naisei.emphasis.corpus.copies import Editions, without_shared
from naisei.emphasis.corpus.documents import ParsedText
from naisei.emphasis.corpus.read import SUFFIXES, article_of, is_japanese, read_document
from naisei.emphasis.corpus.store import describe, save_corpus
from naisei.emphasis.schemas import Article
from naisei.lang import say
from naisei.system.config import Options, flag

#: Fewest sentences of an article.
_FEWEST = 3


@dataclass(slots=True)
class Built:
    """articles: sorted by id. left_out: documents by reason:
    `unreadable`, `same`, `plain` (nothing is emphasised), `foreign` (not Japanese), `short`.
    unreadable: files, with the reason."""

    articles: list[Article] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unreadable: list[tuple[str, str]] = field(default_factory=list)


def build(
    name: str,
    folder: Path,
    *,
    any_language: bool = False,
    writer_folders: bool = False,
    editions: Editions | None = None,
) -> Built:
    """Build a corpus from a folder. name: the source's name, used as the prefix of ids.
    writer_folders: each direct subfolder of `folder` holds one writer's documents. editions:
    texts already seen in other folders.

    The writer of an article is the writer's folder if there is one, else the author named in the
    document (front matter, `<meta name="author">`), else the source. If documents have the same
    text (a book on one page and in chapters), the smaller ones are used.
    """
    built = Built()
    documents: list[tuple[int, str, ParsedText]] = []
    for path in _files(folder):
        inner = path.relative_to(folder)
        own = inner.parts[0] if writer_folders and len(inner.parts) > 1 else ""
        try:
            parsed = read_document(path).parsed
        except InputError as error:
            built.left_out["unreadable"] += 1
            built.unreadable.append((inner.as_posix(), error.message))
            continue
        size = sum(len(block.text) for block in parsed.blocks)
        written = replace(parsed, writer=own or parsed.writer or name)
        documents.append((size, f"{name}/{inner.as_posix()}", written))
    editions = editions or Editions()
    for _, at, parsed in sorted(documents, key=lambda found: found[:2]):
        match _article(at, parsed, editions, any_language):
            case Article() as article:
                built.articles.append(article)
            case reason:
                built.left_out[reason] += 1
    built.articles.sort(key=lambda article: article.id)
    return built


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        hidden = any(part.startswith((".", "node_modules", "~$")) for part in inner)
        # A link within the folder is the same document again.
        if hidden or path.is_symlink() or not path.is_file():
            continue
        if path.suffix.lower() in SUFFIXES:
            yield path


def _article(
    name: str, parsed: ParsedText, editions: Editions, any_language: bool
) -> Article | str:
    """The article, or the reason why the document is left out."""
    if not any(any(block.bold) for block in parsed.blocks):
        return "plain"
    if editions.is_copy(block.text for block in parsed.blocks):
        return "same"
    article = article_of(name, parsed)
    if not any(any(sentence.labels) for sentence in article.sentences):
        return "plain"
    if len(article.sentences) < _FEWEST:
        return "short"
    return article if any_language or is_japanese(article) else "foreign"


_SOURCES = ("元の文書", "Sources")
_CHOICE = ("選び方", "Choice")


class CorpusOptions(Options):
    """Sources of documents, and which articles to use."""

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
    writer_folders: bool = flag(
        False,
        "--from の直下のフォルダーを、それぞれ一人の書き手とする",
        "Each folder right below --from holds one writer's documents.",
        panel=_SOURCES,
    )
    any_language: bool = flag(
        False,
        "日本語でない記事も入れる",
        "Also take articles that are not Japanese.",
        panel=_CHOICE,
    )


def make_corpus(options: CorpusOptions) -> None:
    """Write the corpus and print a description.

    Raises:
        InputError: no source, no such folder, no article with emphasis, or `out`
            cannot be written.
    """
    articles: list[Article] = []
    left_out: Counter[str] = Counter()
    editions = Editions()
    for name, folder in _sources(options.folders):
        print(f"{name} …", file=sys.stderr, flush=True)
        built = build(
            name,
            folder,
            any_language=options.any_language,
            writer_folders=options.writer_folders,
            editions=editions,
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
    articles, shared = without_shared(articles)
    save_corpus(options.out, articles)
    _total(articles, left_out, shared, options.out)


def _sources(folders: Sequence[Path]) -> list[tuple[str, Path]]:
    """Names of the sources with their folders."""
    if not folders:
        raise InputError(
            say("文書の場所がありません", "there is nothing to read from"),
            remedy=say("--from DIR を付けてください", "give --from DIR"),
        )
    found: list[tuple[str, Path]] = []
    names = Counter[str]()
    for folder in folders:
        if not folder.is_dir():
            raise InputError(say("フォルダーがありません", "no such folder"), place=str(folder))
        name = folder.resolve().name or "documents"
        names[name] += 1
        found.append((name if names[name] == 1 else f"{name}-{names[name]}", folder))
    return found


def _show(name: str, built: Built) -> None:
    for path, why in built.unreadable[:10]:
        print(f"  {path}: {why}", file=sys.stderr)
    if built.articles:
        tokens = sum(len(s.tokens) for a in built.articles for s in a.sentences)
        words = sum(sum(s.labels) for a in built.articles for s in a.sentences)
        whole = len(built.articles)
        text = say(
            f"{name}: {whole:,} 記事、{tokens:,} 語、うち強調 {words:,} 語",
            f"{name}: {whole:,} articles, {tokens:,} words, {words:,} emphasised",
        )
    else:
        text = say(f"{name}: 使える記事なし", f"{name}: no article that can be used")
    print(text)


def _total(articles: Sequence[Article], left_out: Counter[str], shared: int, out: Path) -> None:
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
    if (writers := len({a.writer for a in articles})) > 1:
        print(say(f"書き手 {writers} 人", f"{writers} writers"))
    reasons = {
        "plain": say("太字なし", "without emphasis"),
        "same": say("ほかと同じ内容", "the same as others"),
        "foreign": say("日本語でない", "not Japanese"),
        "short": say("短すぎる", "too short"),
        "unreadable": say("読めない", "unreadable"),
    }
    parts = [f"{text} {left_out[key]}" for key, text in reasons.items() if left_out[key]]
    if shared:
        print(
            say(
                f"複数の記事にある文 {shared} 種は、読むだけで、学習にも採点にも使いません",
                f"{shared} sentences that several articles share are read, "
                "but neither learnt from nor scored",
            )
        )
    if parts:
        print(say("除いたもの: ", "left out: ") + ", ".join(parts))
    print(f"→ {out}")
