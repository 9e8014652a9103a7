"""Emphasis in `naisei demo`: an article with the suggestions and with the writer's emphasis."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import groupby

from rich.text import Text

from naisei.cli.demo import Part, Stage
from naisei.core import arun
from naisei.emphasis.corpus.markdown import read_markdown
from naisei.emphasis.corpus.read import article_of, read_bytes
from naisei.emphasis.flow import examine
from naisei.emphasis.metrics import Counts, token_counts
from naisei.emphasis.results import TaggedDocument, emphasised
from naisei.emphasis.schemas import Article, Sentence, grouped_tokens
from naisei.emphasis.tag import choose, heat_map, suggest
from naisei.emphasis.taggers.crf import default_tagger
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.models.registry import base_world

#: Not among the bundled tagger's training articles.
HELD_OUT = ("stain", "coffee", "meeting", "fridge", "teamwork", "api-doc")
_MARK = "**"
Rows = list[list[bool]]


def _show(stage: Stage) -> None:
    edited = _article(HELD_OUT[0])
    bare = _bare(edited)
    rows = _by_tagger(bare) if stage.model is None else _by_model(bare, stage.model)
    stage.print(Text(f"《{edited.title}》", style="cyan"))
    _print(bare, rows, stage)
    stage.console.print()
    stage.print(say("書き手が太字にした所: ", "The writer's own: ") + _bold(edited), indent=2)
    stage.print(
        say("書き手との一致: ", "Agreement with the writer: ")
        + _agreement(token_counts(edited, rows))
    )
    if stage.model is None:
        source = read_bytes(_plain(HELD_OUT[0]).encode(), "markdown", name=HELD_OUT[0])
        page = heat_map(suggest(source, default_tagger()))
        write_atomically(stage.root / "emphasis.html", page)
        stage.report(say("自動強調付与", "Emphasis"), stage.root / "emphasis.html")


def _source(name: str) -> str:
    return (files("naisei") / "data" / "emphasis_articles" / f"{name}.md").read_text("utf-8")


def _plain(name: str) -> str:
    return _source(name).replace(_MARK, "")


def _article(name: str) -> Article:
    return article_of(name, read_markdown(_source(name)))


def _bare(article: Article) -> Article:
    """The article without its emphasis."""

    def plain(sentence: Sentence) -> Sentence:
        tokens = tuple(
            t._replace(label=None if t.label is None else False) for t in sentence.tokens
        )
        return replace(sentence, tokens=tokens)

    return replace(article, sentences=tuple(plain(s) for s in article.sentences))


def _by_tagger(bare: Article) -> Rows:
    chosen = choose(bare, default_tagger())
    return TaggedDocument(article=bare.id, spans=chosen).labels(bare)


def _by_model(bare: Article, model: str) -> Rows:
    async def go() -> Rows:
        async with base_world({"editor": model}) as world:
            found = await arun(examine(bare, language=language()), world)
        return found.documents[0].labels(bare)

    return asyncio.run(go())


def _agreement(counts: Counts) -> str:
    return say(
        f"適合率 {counts.precision:.2f}、再現率 {counts.recall:.2f}、F1 {counts.f1:.2f}",
        f"precision {counts.precision:.2f}, recall {counts.recall:.2f}, F1 {counts.f1:.2f}",
    )


def _bold(article: Article) -> str:
    """The spans that the writer set in bold."""
    pieces = (piece for s in article.sentences for piece in grouped_tokens(s, s.labels))
    return "、".join(f"「{text}」" for text, bold in pieces if bold)


def _print(article: Article, rows: Sequence[Sequence[bool]], stage: Stage) -> None:
    """Print the article by paragraph, with bold words between marks."""
    pairs = zip(article.sentences, rows, strict=True)
    for _, group in groupby(pairs, lambda pair: pair[0].block):
        stage.print("　" + "".join(emphasised(*pair) for pair in group))


PART = Part(
    title=("自動強調付与：大事な所を示す", "Automatic emphasis: mark what matters"),
    about=(
        "文書の中で読者に見せたい語句を選び、太字の案を付けます（** で囲んだ所）。\n"
        "下の記事は、同梱の CRF の学習には使っていません。",
        "What a reader should see in a document is suggested in bold (between **).\n"
        "The bundled CRF did not learn from the article below.",
    ),
    show=_show,
    hint=(
        "naisei emphasis tag 文書.md --like 太字のある文書のフォルダー",
        "naisei emphasis tag FILE.md --like FOLDER_OF_YOUR_BOLD_ARTICLES",
    ),
    data="ja",
)
