"""What the assistant says of its own accord, in Japanese and English."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.intent.dialogue import Dialogue
from naisei.intent.schemas import Citation, Contact
from naisei.lang import Language

__all__ = [
    "ask_contact",
    "choose_question",
    "greeting",
    "no_evidence",
    "open_question",
    "out_of_scope",
    "rests_on",
    "worry_question",
]

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
    """Offers topics to choose from. within: the document of which they are sections."""
    if within:
        return _WITHIN[language].format(title=within, list=numbered(options))
    return _turn(_CHOOSE[language], dialogue).format(list=numbered(options))


def open_question(dialogue: Dialogue, language: Language) -> str:
    """Asks for more where there is nothing to offer; another text each time."""
    return _turn(_OPEN[language], dialogue)


def worry_question(dialogue: Dialogue, language: Language) -> str:
    """Draws a worry out; another text each time."""
    return _turn(_WORRY[language], dialogue)


def _turn(texts: Sequence[str], dialogue: Dialogue) -> str:
    return texts[min(len(dialogue.exchanges), len(texts) - 1)]


def no_evidence(language: Language) -> str:
    if language == "ja":
        return "お尋ねの内容に答えられる記載は、資料の中に見つかりませんでした。"
    return "The documents hold nothing that answers this."


def ask_contact(contact: Contact | None, language: Language, *, only: bool) -> str:
    """Whom to ask; `only` where the documents do not answer. Empty if nobody is known."""
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
        return "こんにちは。社内の資料について、知りたいことを書いてください。"
    return "Hello. What would you like to know from the documents?"


def out_of_scope(language: Language) -> str:
    if language == "ja":
        return "これは社内の資料でお答えする範囲の外のようです。"
    return "This seems to lie outside of what the documents are about."


def rests_on(citations: Sequence[Citation], language: Language) -> str:
    """Which dates the answer rests on; empty where no document has one."""
    dates = sorted({c.date for c in citations if c.date}, reverse=True)
    if not dates:
        return ""
    if language == "ja":
        return f"（{'、'.join(dates)} 付の資料によります）"
    return f"(As of {', '.join(dates)}.)"
