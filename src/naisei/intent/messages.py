"""Messages of the assistant to people, and prompts for models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from naisei import lang
from naisei.core import Evidence, Message, assistant, fingerprint, system, user
from naisei.intent.dialogue import Dialogue
from naisei.intent.rules import Setting
from naisei.intent.schemas import Citation, Contact, Exchange
from naisei.intent.things import place_of
from naisei.lang import Language

_OPEN = {
    "ja": (
        "もう少し詳しく教えてください。何について、どんなことを知りたいですか。",
        "どの制度や手続きのことか、具体的な名前や場面を教えていただけますか。",
        "あと少し具体的に教えてください。どんな場面で、何を知りたいですか（期限、金額、手順、対象者など）。",
    ),
    "en": (
        "Could you say a little more: what is it about, and what do you want to know?",
        "Which rule or procedure do you mean? A name or a situation would help.",
        "A little more detail, please: in which situation, and what do you want to know (deadline, "
        "amount, steps, who is eligible)?",
    ),
}
_CHOOSE = {
    "ja": (
        "知りたいことは次のどれに近いですか。番号か、ご自分の言葉で答えてください。\n{list}",
        "では、次の中にはありますか。番号か、ご自分の言葉で答えてください。\n{list}",
        "もう一度だけ伺います。次の中に近いものはありますか。番号か、ご自分の言葉で答えてください。\n{list}",
    ),
    "en": (
        "Which of these comes nearest? Answer by number or in your own words.\n{list}",
        "Is it one of these, then? Answer by number or in your own words.\n{list}",
        "Once more: does one of these come near? Answer by number or in your own words.\n{list}",
    ),
}
_WITHIN = {
    "ja": "「{title}」の、どんなことですか。番号か、ご自分の言葉で答えてください。\n{list}",
    "en": "What about “{title}”? Answer by number or in your own words.\n{list}",
}
_WORRY = {
    "ja": (
        "もう少し聞かせてください。いまどんな状況で、何が気がかりですか。何を知りたいか、どうしたいかも教えてください。",
        "ありがとうございます。そのうえで、いちばん知りたいこと、確かめたいことは何ですか。",
        "ほかに、関係しそうな事情（時期や相手など）があれば教えてください。",
    ),
    "en": (
        "Please tell me a little more: what is the situation, what troubles you, and what would "
        "you like to know or do?",
        "Thank you. What would you most like to know?",
        "Is there anything else that matters, such as when it was or who is concerned?",
    ),
}


def numbered(options: Sequence[str]) -> str:
    return "\n".join(f"{n}. {option}" for n, option in enumerate(options, 1))


def choose_question(
    dialogue: Dialogue, options: Sequence[str], language: Language, *, within: str = ""
) -> str:
    """Offer topics to choose from. within: the document that contains them."""
    if within:
        return _WITHIN[language].format(title=within, list=numbered(options))
    return _turn(_CHOOSE[language], dialogue).format(list=numbered(options))


_KIND = {
    "ja": "お答えは、次のどれにあたるかで変わります。番号か、ご自分の言葉でどうぞ。\n{list}",
    "en": "The answer depends on which of these applies to you. Answer by number or in your own "
    "words.\n{list}",
}


def kind_question(kinds: Sequence[str], language: Language) -> str:
    """Ask for the kind of person that the answer depends on."""
    return _KIND[language].format(list=numbered(kinds))


def as_told(said: str, kind: str, language: Language) -> str:
    """Return a note on whom the answer applies to, and why."""
    if language == "ja":
        return f"（「{said}」とうかがっているので、「{kind}」の場合をお答えしました）"
    return f"(You told me “{said}”, so this is for “{kind}”.)"


def open_question(dialogue: Dialogue, language: Language) -> str:
    """Return an open question without options; a different text each time."""
    return _turn(_OPEN[language], dialogue)


def worry_question(dialogue: Dialogue, language: Language) -> str:
    """Return a question that draws out a worry; a different text each time."""
    return _turn(_WORRY[language], dialogue)


def _turn(texts: Sequence[str], dialogue: Dialogue) -> str:
    return texts[min(len(dialogue.exchanges), len(texts) - 1)]


def no_evidence(language: Language) -> str:
    if language == "ja":
        return "お尋ねの内容に答えられる記載は、資料の中に見つかりませんでした。"
    return "The documents hold nothing that answers this."


def nearest(language: Language) -> str:
    """The line before passages that may not answer."""
    if language == "ja":
        return "お尋ねどおりの記載は確かめられませんでした。資料の中で近い箇所は次のとおりです。"
    return "The documents do not clearly say this. The nearest passages are:"


_NAMES = {"ja": {"ja": "日本語", "en": "英語"}, "en": {"ja": "Japanese", "en": "English"}}


def other_language(documents: Language, language: Language, *, found: bool) -> str:
    """State the language of the documents. found: whether a passage follows."""
    name = _NAMES[language][documents]
    if language == "ja":
        told = f"資料は{name}で書かれています。{name}でお尋ねください。"
        return f"{told}意味の近い箇所は次のとおりです。" if found else told
    told = f"The documents are in {name}. Please ask in {name}."
    return f"{told} The nearest passage is:" if found else told


def newer_document(date: str, title: str, language: Language) -> str:
    """The line before a differing passage of a newer document."""
    if language == "ja":
        return f"より新しい資料「{title}」（{date}）では次のとおりです。"
    return f"A newer document, “{title}” ({date}), says:"


def left_out(sentences: int, language: Language) -> str:
    """Return a note on the number of sentences replaced by quotes; empty for none."""
    if not sentences:
        return ""
    if language == "ja":
        return f"（資料で確かめられない {sentences} 文を除き、該当箇所があれば引用しました）"
    return f"({sentences} sentences not supported by the documents were replaced by quotes.)"


def ask_contact(contact: Contact | None, language: Language, *, only: bool) -> str:
    """Name the contact to ask; `only`: the documents have no answer. Empty without a contact."""
    if contact is None:
        if not only:
            return ""
        ja = "担当の部署に確認してください。"
        return ja if language == "ja" else "Please ask the department in charge."
    where = (
        f"（{contact.address}）"
        if contact.address and language == "ja"
        else (f" ({contact.address})" if contact.address else "")
    )
    note = f" {contact.note}" if contact.note else ""
    if language == "ja":
        verb = "へお問い合わせください。" if only else "にも確認することをおすすめします。"
        return f"{contact.department}{where}{verb}{note}"
    verb = "Please ask" if only else "It may be worth asking"
    return f"{verb} {contact.department}{where}.{note}"


def greeting(language: Language) -> str:
    if language == "ja":
        return "こんにちは。資料について、知りたいことを書いてください。"
    return "Hello. What would you like to know from the documents?"


def farewell(language: Language) -> str:
    return "またいつでもどうぞ。" if language == "ja" else "Come back any time."


def out_of_scope(language: Language) -> str:
    if language == "ja":
        return "これは資料でお答えする範囲の外のようです。"
    return "This seems to lie outside of what the documents are about."


def rests_on(citations: Sequence[Citation], language: Language) -> str:
    """The dates of the cited documents; empty if none has a date."""
    dates = sorted({c.date for c in citations if c.date}, reverse=True)
    if not dates:
        return ""
    if language == "ja":
        return f"（{'、'.join(dates)} 付の資料によります）"
    return f"(As of {', '.join(dates)}.)"


_OFFERED = {"ja": "示した選択肢", "en": "Offered"}


class Fence:
    """key: derived from all content, so that no content can contain it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.key = fingerprint(list(texts))[:12]

    @classmethod
    def around(cls, dialogue: Dialogue) -> Fence:
        """A fence around the offered headings in a dialogue."""
        return cls([dialogue.model_dump_json()])

    def data(self, text: str) -> str:
        return f"<<<{self.key}>>>{text}<<<{self.key} />>>"

    def question(self, exchange: Exchange) -> str:
        """A question back without the offered headings, which are document text."""
        return exchange.question.removesuffix(numbered(exchange.options)).rstrip()

    def answer(self, exchange: Exchange, language: Language) -> str:
        """An answer below the offered options; headings are marked as data."""
        offered = sorted((o for o in exchange.options if o), key=len, reverse=True)
        if not offered:
            return exchange.answer
        any_of = re.compile("|".join(map(re.escape, offered)))
        said = any_of.sub(lambda m: self.data(m[0]), exchange.answer)
        return f"{_OFFERED[language]}: {self.data(' / '.join(exchange.options))}\n{said}"


#: The prompts in use, by role.
PROMPTS = {
    "evaluator": "evaluator.v4",
    "context": "context.v2",
    "answerer": "answerer.v2",
    "documents": "documents.v1",
    "verifier": "verifier.v1",
    "verified": "verified.v1",
}
_UNKNOWN = {"ja": "（不明）", "en": "(unknown)"}
_NONE = {"ja": "（なし）", "en": "(none)"}
_COLLECTION = {"ja": "（説明なし）", "en": "(not described)"}


def evaluator_messages(
    dialogue: Dialogue,
    setting: Setting,
    *,
    headings: Sequence[str] = (),
    today: str = "",
    kinds: Sequence[str] = (),
) -> list[Message]:
    """The dialogue so far. It contains only headings of the documents, as data in the user's role:
    those from a first search, and the chosen ones of those offered. kinds: of persons by which the
    answer differs, if this person's is unknown."""
    language = setting.rules.language
    fence = Fence([dialogue.model_dump_json(), *headings, *kinds])
    collection = setting.collection or _COLLECTION[language]
    told = _render(setting, "evaluator", collection=collection)
    found = "\n".join(f"- {heading}" for heading in headings)
    before = "\n".join(f"- {q}" for q in dialogue.earlier)
    first = _render(
        setting,
        "context",
        today=today or _UNKNOWN[language],
        profile=setting.profile.prompt_lines() or _UNKNOWN[language],
        headings=fence.data(found) if found else _NONE[language],
        kinds=fence.data(" / ".join(kinds)) if kinds else _NONE[language],
        earlier=fence.data(before) if before else _NONE[language],
        said=dialogue.utterance,
    )
    turns = [user(first)]
    for e in dialogue.exchanges:
        turns += [assistant(fence.question(e)), user(fence.answer(e, language))]
    return [system(told), *turns]


def answerer_messages(query: str, hits: Sequence[Evidence], setting: Setting) -> list[Message]:
    """The rules in the system role; the documents as data in the user's, between delimiters."""
    profile = setting.profile.prompt_lines() or _UNKNOWN[setting.rules.language]
    told = system(_render(setting, "answerer", profile=profile))
    key, documents = _fenced(query, dict(enumerate(hits, 1)))
    text = _render(setting, "documents", key=key, documents=documents, question=query)
    return [told, user(text)]


def verifier_messages(
    query: str,
    lines: Sequence[tuple[str, Sequence[int]]],
    hits: Sequence[Evidence],
    setting: Setting,
) -> list[Message]:
    """The question, the cited documents, and the sentences, each with its documents."""
    cited = sorted({n for _, sources in lines for n in sources})
    key, documents = _fenced(query, {n: hits[n - 1] for n in cited})
    listed = "\n".join(
        f"{at}. {text} [{', '.join(map(str, sources))}]"
        for at, (text, sources) in enumerate(lines, 1)
    )
    text = _render(
        setting, "verified", key=key, documents=documents, question=query, sentences=listed
    )
    return [system(_render(setting, "verifier")), user(text)]


def _fenced(query: str, hits: Mapping[int, Evidence]) -> tuple[str, str]:
    """Return (key of the delimiters, numbered documents between delimiters)."""
    blocks = {}
    for number, hit in hits.items():
        date = f" ({hit.meta['date']})" if hit.meta.get("date") else ""
        head = " ".join(f"{hit.meta.get('path') or ''}: {place_of(hit)}{date}".split())
        blocks[number] = f"{head}\n{hit.text}"
    # From texts, titles and paths alike: none of them can contain the delimiter.
    key = Fence([query, *blocks.values()]).key
    return key, "\n".join(
        f"<<<{key} {n}>>>\n{block}\n<<<{key} /{n}>>>" for n, block in blocks.items()
    )


def _render(setting: Setting, role: str, **values: object) -> str:
    return lang.render("naisei.intent", PROMPTS[role], setting.rules.language, **values)
