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
        "どうしても絞り込めません。期限・金額・手順・対象者など、知りたい点を一つ挙げてください。",
    ),
    "en": (
        "Could you say a little more: what is it about, and what do you want to know?",
        "Which rule or procedure do you mean? A name or a situation would help.",
        "I cannot narrow it down. Which point matters: deadline, amount, steps, who is eligible?",
    ),
}
_CHOOSE = {
    "ja": (
        "知りたいことは次のどれに近いですか。番号か、ご自分の言葉で答えてください。\n{list}",
        "では、次の中にはありますか。番号か、ご自分の言葉で答えてください。\n{list}",
    ),
    "en": (
        "Which of these comes nearest? Answer by number or in your own words.\n{list}",
        "Is it one of these, then? Answer by number or in your own words.\n{list}",
    ),
}
_WORRY = {
    "ja": "お困りのことを、もう少し聞かせてください。いつ、何があって、どうしたいとお考えですか。",
    "en": "Please tell me a little more about what troubles you: what happened, and what would you "
    "like to do?",
}
_NEAR = {
    "ja": "\n次のような資料があります。近いものがあれば番号でも答えられます。\n{list}",
    "en": "\nThere are documents on these; if one comes near, a number will do.\n{list}",
}


def numbered(options: Sequence[str]) -> str:
    return "\n".join(f"{n}. {option}" for n, option in enumerate(options, 1))


def choose_question(dialogue: Dialogue, options: Sequence[str], language: Language) -> str:
    """Offers topics to choose from."""
    texts = _CHOOSE[language]
    return texts[min(len(dialogue.exchanges), len(texts) - 1)].format(list=numbered(options))


def open_question(dialogue: Dialogue, language: Language) -> str:
    """Asks for more where there is nothing to offer; never twice the same."""
    texts = _OPEN[language]
    return texts[min(len(dialogue.exchanges), len(texts) - 1)]


def worry_question(said: str, options: Sequence[str], language: Language) -> str:
    """Draws a worry out, and names what the documents could help with."""
    near = _NEAR[language].format(list=numbered(options)) if len(options) >= 2 else ""
    return _WORRY[language] + near


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
