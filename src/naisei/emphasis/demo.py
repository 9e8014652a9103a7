"""The demonstration: one article before and after, and what an editor had set in bold."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from itertools import groupby

from rich.rule import Rule
from rich.text import Text

from naisei.cli.lang import say
from naisei.emphasis.corpus.markdown import read_markdown
from naisei.emphasis.corpus.words import article_of
from naisei.emphasis.metrics import span_counts, token_counts
from naisei.emphasis.schemas import Article, Sentence
from naisei.emphasis.taggers.default import default_tagger
from naisei.emphasis.tagging.choice import choose
from naisei.runs.tables import number
from naisei.terminal import Console, Panel

__all__ = ["HELD_OUT", "demo"]

#: Not among the articles that the bundled tagger learnt from.
HELD_OUT = ("stain", "coffee", "meeting", "fridge", "teamwork", "api-doc")
_SHARE = 0.15
_MARK = "**"


def demo(*, name: str = HELD_OUT[0]) -> int:
    """Returns the exit code."""
    console = Console()
    source = (files("naisei") / "data" / "emphasis_articles" / f"{name}.md").read_text("utf-8")
    edited = article_of(name, read_markdown(source))
    console.print(
        Panel(
            say(
                "自動強調付与: 文書の中で読者に見せたい語句を選び、太字の案を付けます。",
                "Automatic emphasis: the words of a document that a reader should see are "
                "chosen,\nand set in bold as a suggestion.",
            ),
            title="naisei 内省",
        )
    )
    bare = _bare(edited)
    console.print(Rule(say("前", "Before")))
    _print(bare, [s.labels for s in bare.sentences], console)
    chosen = choose(bare, default_tagger(), max_share=_SHARE)
    rows = [[False] * len(s.tokens) for s in bare.sentences]
    for run in chosen.runs:
        rows[run.sentence][run.first : run.last] = [True] * (run.last - run.first)
    console.print(Rule(say("後 (タガーの案)", "After (the tagger's suggestions)")))
    _print(bare, rows, console)
    console.print(Rule(say("書き手が太字にした所", "What the writer had set in bold")))
    _print(edited, [s.labels for s in edited.sentences], console)
    tokens, spans = token_counts(edited, rows), span_counts(edited, rows)
    precision, recall, f1 = (number(v) for v in (tokens.precision, tokens.recall, tokens.f1))
    console.print(
        say(
            f"語の一致: 適合率 {precision}、再現率 {recall}、"
            f"F1 {f1}。書き手の {spans.true} か所に対して案は {spans.said} か所です。",
            f"Words in common: precision {precision}, recall {recall}, "
            f"F1 {f1}; spans suggested: {spans.said}, of the writer: {spans.true}.",
        )
    )
    console.print(
        say(
            "自分の文書には: naisei emphasis tag FILE --max-share 0.15",
            "For your own document: naisei emphasis tag FILE --max-share 0.15",
        ),
        style="dim",
    )
    return 0


def _bare(article: Article) -> Article:
    """Without its emphasis, as a writer would give it."""

    def plain(sentence: Sentence) -> Sentence:
        tokens = tuple(
            replace(t, label=None if t.label is None else False) for t in sentence.tokens
        )
        return replace(sentence, tokens=tokens)

    return replace(article, sentences=tuple(plain(s) for s in article.sentences))


def _print(article: Article, rows: list[tuple[bool, ...]] | list[list[bool]], c: Console) -> None:
    """Paragraph by paragraph; bold words also in colour, for terminals that show no bold."""
    c.print(Text(f"《{article.title}》", style="cyan"))
    pairs = zip(article.sentences, rows, strict=True)
    for _, group in groupby(pairs, lambda pair: pair[0].block):
        line = Text("　")
        for sentence, row in group:
            first = sentence.tokens[0].start
            at = 0
            inside = False
            for token, label in zip(sentence.tokens, row, strict=True):
                # The marks as well: not every terminal shows bold.
                line.append(_MARK if inside and not label else "", style="dim")
                line.append(sentence.text[at : token.start - first])
                line.append(_MARK if label and not inside else "", style="dim")
                at, inside = token.end - first, label
                line.append(token.surface, style="bold yellow" if label else "")
            line.append(_MARK if inside else "", style="dim")
            line.append(sentence.text[at:])
        c.print(line)
