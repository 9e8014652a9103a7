"""Every function that reads text of others, and units that made some reader look back again and
again: four times the text may take six times the processor's time at most."""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from naisei.lengths import FIELD, LINE, MESSAGE

_WORDS = """
    .1 .M v1. 第1 1.1版 [ ![ [a]( ![a]( [a][ [a]: ]( ]] ( （ ) （（ 「 」 『 「「 「あ」 （あ あ[
    あ( あ「 あ。 あ、 あ あa a aあ ア ｱ ｶﾞ ば は は、 が を の のの の話 まだ なく 未 ね。 です
    です。 ない ないない でない じゃない さかな 海は青い。 別居 一人暮らし すごい 姉様は
    すごい姉様 やなの家に やな： ごはんは まだね もし一人暮らし 電車 さん 田中さん 様、 社長 1 １
    12 1.2 1/ 1- 令和1年 2024年 2024-01 4月1日 二十 十 円 3,000 1, ! ！ ? ？ !? … ー 〜 ~ ・ = ＝
    / | |a |- |-| : :a: ; & &amp &#1; % # ## ### * ** *a **a __a _a ~~ ~~a ` `` ```a $ $a $$ {{ {%
    {# < <a <a> </a> <!-- --> <! <? <![CDATA[ <p> <div> <b/> <table><tr><td> a@ https://a.
    姉様、すごい、 。」 か？ それとも とか という
    """
#: What is repeated; each is a text that somebody might write a bit of.
UNITS = [
    *_WORDS.split(),
    *("\\", '<a\thref="', " ", "\t", "\u3000", "\n", " \n", "\n\n", "\r", "--\n", "- \n"),
    *("-\n", "> ", "1. ", "\\\n", "|-|\n", "|a|\n", "| \n", "===\n", "#\n", "```\n", "~~~\n"),
    *(":::\n", "[a]: b\n", "[^a]: b\n", "---\na: b\n", "第1条\n", "（1）\n", "a:\n", "a: [\n"),
    *("+++\n", "\u200b", "\ufe0f", "\u0301", "\U0001f468\u200d", "\x1b[", "\x1b]", "\x9d"),
    *("\ud800", "\x00"),
]


@dataclass(frozen=True)
class Entry:
    """most: characters that get so far in use; longer texts are refused before."""

    name: str
    read: Callable[[str], object]
    most: int = 100_000


@dataclass(frozen=True)
class Slow:
    """times: of the time for a quarter."""

    entry: str
    unit: str
    size: int
    seconds: float
    times: float


class _TooLong(Exception):
    pass


def _stop(_signal: int, _frame: object) -> None:
    raise _TooLong


def _spent(entry: Entry, text: str, limit: float) -> float:
    """Seconds of the processor; `limit` where it takes longer."""
    before = signal.signal(signal.SIGPROF, _stop)
    gc.disable()  # it looks through all that other tests hold
    began = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        with contextlib.suppress(_TooLong):
            entry.read(text)
            return time.process_time() - began
        return limit
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        gc.enable()


#: Seconds: less says nothing of growth, and more is not waited for.
_FLOOR, _LIMIT = 0.25, 5.0
_TIMES = 6.0


def growth(entry: Entry, unit: str) -> Slow | None:
    """The first size at which the time grows too fast. What looks so is measured three times: a
    machine with much to do makes some runs slow, not the fastest of them."""
    small = 0.0
    size = 1_500
    while size <= max(1_500, entry.most):
        text = (unit * (size // len(unit) + 1))[:size]
        seconds = _spent(entry, text, _LIMIT)
        if seconds > _FLOOR and size > 1_500 and seconds > _TIMES * small:
            # Another text of the same kind: some readers remember what they read.
            texts = [unit[n % len(unit) :] + text[: size - n] for n in (1, 2)]
            seconds = min(seconds, *(_spent(entry, each, _LIMIT) for each in texts))
            quarters = (_spent(entry, each[: size // 4], _LIMIT) for each in texts)
            small = max(small, *quarters)
            if seconds > _FLOOR and seconds > _TIMES * small:
                return Slow(entry.name, unit, size, seconds, seconds / max(small, 1e-9))
        small, size = seconds, size * 4
        if entry.most < size < 4 * entry.most:
            size = entry.most
            small = small if size >= 4 * len(text) else _spent(entry, text[: size // 4], _LIMIT)
    return None


def _entries() -> Iterator[Entry]:
    from naisei.clarify import things
    from naisei.director import check
    from naisei.emphasis.corpus.html import read_html as emphasis_html
    from naisei.emphasis.corpus.markdown import read_markdown as emphasis_markdown
    from naisei.japanese import (
        content_preservation,
        dates,
        folding,
        morph,
        query_analysis,
        questions,
        sentences,
    )
    from naisei.relationship.speech import level, politeness
    from naisei.retrieval import load
    from naisei.retrieval.chunking import raw_chunks
    from naisei.retrieval.types import LIMITS, Document, Passage, Unreadable
    from naisei.terminal import breaks, visible
    from naisei.text_files import decode

    def parsed(name: str) -> Callable[[str], object]:
        def read(text: str) -> None:
            with contextlib.suppress(Unreadable):
                load.parsed(name, text.encode("utf-8", "replace"), LIMITS)

        return read

    def cut(text: str) -> object:
        passage = Passage(text=text)
        return raw_chunks(
            Document(path="a", title="a", format="txt", sha256="", passages=(passage,))
        )

    for module, names in (
        (dates, "dates_in effective_date is_old is_series version_of work_name"),
        (sentences, "sentences sentence_spans outline_level search_tokens codes"),
        (morph, "normalise tokens words"),
        (folding, "fold mend_marks pairs mask"),
        (content_preservation, "quantities denied"),
        (level, "japanese_sentences"),
        (things, "objects"),
        (questions, "parse words denied"),
        (query_analysis, "analyse_query content_words subjectless"),
    ):
        for name in names.split():
            most = 100_000 if module in (dates, sentences, morph) else LINE
            place = module.__name__.removeprefix("naisei.")
            yield Entry(f"{place}.{name}", getattr(module, name), most)
    yield Entry("politeness.name_parts", politeness.name_parts, FIELD * 10)
    for suffix in ("md", "txt", "html", "csv"):
        yield Entry(f"retrieval a.{suffix}", parsed(f"a.{suffix}"))
    title = parsed("a.html")
    yield Entry("retrieval title", lambda text: title(f"<title>{escape(text)}</title><p>a"))
    yield Entry("retrieval.pieces", cut)
    yield Entry("retrieval.seen_text", load.seen_text)
    yield Entry("text_files.decode", lambda text: decode(text.encode("cp932", "ignore") or b"a"))
    yield Entry("terminal.visible", visible)
    yield Entry("terminal.breaks", lambda text: breaks(text, 80))
    yield Entry("emphasis.markdown", emphasis_markdown)
    yield Entry("emphasis.html", emphasis_html)
    yield Entry("emphasis.suggest", _suggested)
    yield Entry("director.check", lambda text: check(text), LINE)
    yield Entry("relationship.estimate", _estimated, LINE)
    yield Entry("clarify.rule", _answered, MESSAGE)
    yield Entry("intent.ask", _asked, MESSAGE)


def _suggested(text: str) -> object:
    from naisei.emphasis.corpus.markdown import read_markdown
    from naisei.emphasis.corpus.read import article_of
    from naisei.emphasis.tag import choose
    from naisei.emphasis.taggers.crf import default_tagger

    return choose(article_of("a", read_markdown(text)), default_tagger())


def _estimated(text: str) -> object:
    from naisei.relationship.speech import estimate

    return estimate([("青木", text), ("赤井", text)], ("青木", "赤井"))


def _answered(text: str) -> object:
    from naisei.clarify.data.bundled import build
    from naisei.clarify.simulator.rule import RuleSimulator

    loaded = _loaded(build)
    return RuleSimulator(loaded.instances[0], loaded.actions).answer(text)


@cache
def _loaded(build: Callable[..., Any]) -> Any:
    return build("", split=None, seed=0, actions=None)


def _asked(text: str) -> object:
    from naisei.intent.dialogue import Dialogue
    from naisei.intent.inquiry import reply_in_memory

    config, index = _documents()
    return reply_in_memory(config, index, Dialogue(utterance=text))


@cache
def _documents() -> tuple[Any, Any]:
    from intent.corpus import write_index
    from naisei.cli.flags import configurations
    from naisei.intent.system import ASSIST
    from naisei.retrieval.index import Index

    folder = TemporaryDirectory()
    path = write_index(Path(folder.name))
    (config,) = configurations(ASSIST, index=str(path)).values()
    index = Index.open(path)
    _kept.append(folder)
    return config, index


_kept: list[TemporaryDirectory[str]] = []
ENTRIES = list(_entries())
