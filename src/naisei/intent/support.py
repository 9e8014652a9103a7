"""Checks an answer's sentences against the passages they cite, by rules and by a model.

Rules check numbers, amounts and dates (by value: 1万5千円 is 15,000円) unless they are computed
from those, and the row or column of each. Everything else (whose condition it is, yes or no,
limits, whom to ask, merged statements) is checked by a model that sees only the question, the cited
passages and the sentences: word rules found none of 29 wrong sentences of that kind. Sentences
without a claim (sympathy, an offer of help) are not checked. Unsupported ones are replaced by the
passage's own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from naisei.core import Chat, Evidence, Flow
from naisei.intent.alignment import across, aligned, in_range, measures
from naisei.intent.extraction import best_passage
from naisei.intent.messages import verifier_messages
from naisei.intent.rules import Setting
from naisei.intent.things import headings_of
from naisei.japanese.content_preservation import Quantity, missing, quantities
from naisei.japanese.query_analysis import is_stopword
from naisei.japanese.sentences import search_tokens
from naisei.lang import Language
from naisei.retrieval.chunking import cells_of, spans
from naisei.schema import model_field


@cache
def _courtesies() -> frozenset[str]:
    """Search words of sympathy, thanks and offers of help."""
    return frozenset((files("naisei.intent") / "courtesies.txt").read_text("utf-8").split())


#: Statements about the documents themselves, not their content.
_OF_SOURCES = re.compile(
    "(?:資料|文書|出典|ご?案内|ページ)の?中?(?:から|に|で)は?[^。]{0,12}(?:書かれて|記載され|載って|示されて|記載が?|分かり|わかり|確認でき)[^。]{0,6}(?:いません|ません|ない|なく)"
)


def claims(sentence: str, question: str) -> bool:
    """Whether a sentence makes a checkable claim: it contains a quantity, or a word that is not a
    courtesy and, beside a courtesy, not from the question."""
    if quantities(sentence):
        return True
    if _OF_SOURCES.search(sentence):
        return False
    said = {w for w in search_tokens(sentence) if not is_stopword(w)}
    kind = said & _courtesies()
    return not said <= (kind | set(search_tokens(question)) if kind else kind)


def unsupported(
    sentence: str,
    sources: Sequence[Evidence],
    language: Language,
    *,
    question: str = "",
) -> str:
    """Return why a sentence is unsupported; empty if it is supported or has no claim.

    question: names in it need not occur in the sources. Its numbers are not a source, except for
    the person's own case; even then not if the sentence affirms a number for which the sources have
    another.
    """
    affirmed = f"{question}\n{sentence}" if _AFFIRMS.match(sentence) else sentence
    if not claims(affirmed if quantities(question) else sentence, question):
        return ""
    ja = language == "ja"
    if not sources:
        return "出典がない" if ja else "no source is cited"
    places = "\n".join("\n".join([*headings_of(s), str(s.meta.get("date") or "")]) for s in sources)
    texts = "\n".join(s.text for s in sources)
    cells = [
        cell
        for source in sources
        for unit in spans(source.text)
        if unit.header
        for cell in cells_of(unit.written)
    ]
    own = f"{places}\n{texts}"
    near = "\n".join(aligned(affirmed, (source.text for source in sources)))
    asked = quantities(question)
    counted = quantities(sentence) if _COUNTS.search(sentence) else frozenset()
    if gone := [
        q
        for q in missing(affirmed, own)
        if not (_among(q, asked) and not (affirmed != sentence and _rivals(q, near)))
        and not _told_otherwise(q, sentence, own)
        and not _worked_out(q, quantities(near), (asked | counted) - {q})
        and not _worked_out(q, counted - {q}, quantities(own))
        and not any(in_range(q, cell) for cell in [*cells, *near.split("\n")])
    ]:
        named = "、".join(q.value + q.unit for q in gone)
        return f"出典にない数値: {named}" if ja else f"not in the sources: {named}"
    plain = _ANSWERING.sub("", sentence)
    if what := across(plain, texts):
        other = ("別の行・列の値", "the value of another row or column")
        return f"{other[0]}: {what}" if ja else f"{other[1]}: {what}"
    return ""


#: Phrases that affirm the question.
_AFFIRMS = re.compile(r"^\s*(?:はい|ええ|そのとおり|その通り|おっしゃるとおり|yes\b)", re.I)


def _among(value: Quantity, others: Set[Quantity]) -> bool:
    """Whether it is one of the others; one without a unit is compared by value."""
    return value in others or (not value.unit and value.value in {q.value for q in others})


def _rivals(value: Quantity, passage: str) -> bool:
    """Whether a passage has a different value for the measure of a number in the question."""
    others = {q for q in quantities(passage) if q.unit == value.unit}
    return bool(value.unit and others) and not in_range(value, passage)


#: Signs that a number is computed from others in its sentence.
_COUNTS = re.compile(
    "[×✕＋+−＝=]|合計|計|合わせ|足[すし]|引[いくき]|残り|差|分(?:で|の|は|、|が)|ので|加え|加算|"
    "(?:安|高|多|少な|長|短)く|超え|増え|減[るりっ]"
)


def _worked_out(value: Quantity, cited: Set[Quantity], others: Set[Quantity]) -> bool:
    """Whether a number is the sum, difference or product of a cited one and another, which is
    cited, from the question, or from a sentence that shows the calculation."""
    total = float(value.value)
    for one in cited:
        for two in (cited | others) - {one}:
            a, b = float(one.value), float(two.value)
            same = one.unit == two.unit == value.unit
            if same and total in (a + b, abs(a - b)):
                return True
            if value.unit in ("", one.unit, two.unit) and one.unit != two.unit and total == a * b:
                return True
    return False


#: Yes and no belong to the question.
_ANSWERING = re.compile(r"^\s*(?:はい|いいえ|いえ)[、。,]\s*")


def _told_otherwise(value: Quantity, sentence: str, text: str) -> bool:
    """Whether a number counts things that the text names, occurs there in another unit, or is the
    sum of others that the sentence names."""
    if value.unit in ("", "つ", "個", "人") and value.value in ("1", "2", "3", "4", "5", "0.5"):
        return True
    if Quantity(value.value, "つ") in quantities(text):
        return True
    if value.unit == "時" and Quantity(f"{float(value.value) + 12:.10g}", "時") in quantities(text):
        return True
    told = {base for number, base in measures(sentence) if number == value.value}
    if told & {base for _, base in measures(text)}:
        return True
    parts = [float(q.value) for q in quantities(sentence) - {value} if q.unit == value.unit]
    return "計" in sentence and len(parts) > 1 and sum(parts) == float(value.value)


class CheckedSentence(BaseModel):
    """A sentence of an answer. sources: numbers of hits, from 1. why: the reason it is not
    supported; empty if it is."""

    model_config = ConfigDict(frozen=True)

    text: str
    sources: tuple[int, ...] = ()
    why: str = ""


class Finding(BaseModel):
    """The verifying model's verdict on one sentence."""

    model_config = ConfigDict(frozen=True)

    sentence: int = model_field("文の番号", "Number of the sentence")
    problem: str = model_field(
        "食い違いを一言で。なければ空", "What differs; empty if nothing does", ""
    )
    holds: bool = model_field("資料のとおりか", "Whether the documents bear it out")


class Checked(BaseModel):
    """The verifying model's reply. Sentences it omits count as supported."""

    model_config = ConfigDict(frozen=True)

    findings: Annotated[tuple[Finding, ...], Field(max_length=80)] = model_field(
        "文ごとの結果", "One for each sentence"
    )


def verified(
    query: str, said: Sequence[CheckedSentence], hits: Sequence[Evidence], setting: Setting
) -> Flow[list[CheckedSentence]]:
    """Add the errors that the model finds. Asks once, omitting sentences that rules have rejected
    and those without a claim."""
    asked = [n for n, s in enumerate(said) if not s.why and s.sources and claims(s.text, query)]
    if not asked:
        return list(said)
    lines = [(said[n].text, said[n].sources) for n in asked]
    checked = yield from Chat("verifier", verifier_messages(query, lines, hits, setting), Checked)
    wrong = {
        asked[f.sentence - 1]: f.problem or _DIFFERS[setting.rules.language]
        for f in checked.findings
        if not f.holds and 1 <= f.sentence <= len(asked)
    }
    return [s.model_copy(update={"why": wrong.get(n, s.why)}) for n, s in enumerate(said)]


_DIFFERS = {"ja": "資料と違う", "en": "the documents say something else"}


def in_their_words(
    query: str, said: Sequence[CheckedSentence], hits: Sequence[Evidence]
) -> list[tuple[str, tuple[int, ...]]]:
    """The parts of the answer: the supported sentences, then for each of the others the row or
    sentences of the first passage they cite, without duplicates."""
    quotes: list[tuple[str, tuple[int, ...]]] = []
    for s in (s for s in said if s.why and s.sources):
        words = tuple(dict.fromkeys(search_tokens(f"{query} {s.text}")))
        quote = best_passage(words, dict.fromkeys(words, 1.0), hits[s.sources[0] - 1].text)
        part = (f"\n{quote}", s.sources[:1])
        quotes += [part] if part not in quotes else []
    return [*((s.text, s.sources) for s in said if not s.why), *quotes]
