"""The vocabulary of the assistant: thresholds, evaluations, replies."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_serializer

from naisei.japanese.answers import at_a_loss, none_of_them
from naisei.schema import model_field

#: The six cases ① to ⑥ of the article.
Case = Literal[1, 2, 3, 4, 5, 6]
#: Cases beyond the article; each is enabled by its name (`Thresholds.extended`).
Extended = Literal["greeting", "out_of_scope", "needs_person", "farewell"]
#: Worries that get the hotline or help desk at once (`naisei.intent.urgent`).
Urgent = Literal["violence", "life", "illness", "fire", "disaster", "accident", "lost", "fraud"]

Move = Literal["answer", "ask", "small_talk", "new_topic", "urgent", "leave"]

#: Models' words for an empty field.
_HOLLOW = frozenset(
    (
        *("", "なし", "無し", "特になし", "特に無し", "ありません", "特にありません", "不要"),
        *("該当なし", "none", "null", "n/a", "na", "nothing", "-", "ー", "―", "—"),
    )
)


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("true and false are no grades")
    return value


def _text(value: Any) -> Any:
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    stripped = value.strip()
    return "" if stripped.strip("。.「」\"'()（） ").lower() in _HOLLOW else stripped


#: 1 (fully true) to 5 (not true). Anything else is invalid.
Grade = Annotated[int, Field(ge=1, le=5), BeforeValidator(_no_truth_value)]
#: Maximum length of a question.
_Text = Annotated[str, BeforeValidator(_text), Field(max_length=1000)]


def _several(value: Any) -> Any:
    return () if value is None else (value,) if isinstance(value, str) else value


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Evaluation(_Frozen):
    """The evaluation of a dialogue: five indicators from 1 (highest) to 5, and a possible question
    back.

    clarity: the intent is clear. is_question, is_consultation: kind of request.
    in_internal_docs: documents of a company usually say this. ask_person: better asked of the
    person in charge. ask_missing_info: asks for what a question lacks; res_consultation: draws
    out the worry of a consultation; ask_user_meta_info: asks for the person's department,
    office and the like. An empty text, `null` and 「なし」 all mean: nothing to ask.
    reasoning, question, options, move: ours: why, the standalone question, choices for a question
    back, and what to do next; small talk, urgent worries and farewells are not in the article.
    Source: the intent-aware RAG article, "入力文の評価方法" and "Function Callingを工夫する".
    """

    reasoning: str = model_field(
        "何を知りたいのか、見出しのどれが答えるか。二文以内",
        "What is wanted, and which headings answer it; two sentences at most",
        "",
    )
    question: str = model_field(
        "やり取りを見ていない人にも通じる一つの質問文。名称、数、日付、否定はユーザーの語のまま",
        "One question that stands by itself, in the headings' language; names, numbers as said",
        "",
    )
    ask_missing_info: _Text = model_field(
        "質問に足りない情報を尋ねる文。なければ空", "Asks for what is missing; empty if nothing", ""
    )
    res_consultation: _Text = model_field(
        "悩みを引き出す文。なければ空", "Draws the worry out; empty if not needed", ""
    )
    ask_user_meta_info: _Text = model_field(
        "所属などを尋ねる文。なければ空", "Asks for department, …; empty if not needed", ""
    )
    options: Annotated[tuple[str, ...], BeforeValidator(_several), Field(max_length=9)] = (
        model_field(
            "聞き返すときの選択肢。なければ空", "Choices of the question back; empty if none", ()
        )
    )
    is_question: Grade = model_field("質問である。1〜5", "It is a question: 1 to 5")
    is_consultation: Grade = model_field("相談である。1〜5", "It asks for advice: 1 to 5")
    in_internal_docs: Grade = model_field("資料にある内容。1〜5", "The documents say this: 1 to 5")
    ask_person: Grade = model_field(
        "担当者に聞くほうがよい。1〜5", "Better asked of a person: 1 to 5"
    )
    clarity: Grade = model_field(
        "意図が明らか。1（はい）〜5（いいえ）", "The intent is clear: 1 (yes) to 5 (no)"
    )
    move: Move = model_field(
        "次にすること。answer 調べる、ask 聞き返す、small_talk 雑談、"
        "new_topic 新しい話題、urgent 待てない相談、leave 終わり",
        "What to do: answer (search), ask (back), small_talk, new_topic (search), urgent, leave",
        "answer",
        synonyms={
            "answer": ("調べる", "回答", "回答する", "答える", "search"),
            "ask": ("聞き返す", "質問", "質問する", "尋ねる", "ask back"),
            "small_talk": ("雑談", "small talk"),
            "new_topic": ("新しい話題", "new topic"),
            "urgent": ("待てない相談", "緊急"),
            "leave": ("終わり", "終了"),
        },
    )


class Exchange(_Frozen):
    """One question of the assistant and what the person answered. options: those offered."""

    question: str
    answer: str
    options: tuple[str, ...] = ()

    @property
    def is_informative(self) -> bool:
        """Whether the answer has content; 「わかりません」 and the like do not."""
        return not (none_of_them(self.answer) or at_a_loss(self.answer))


class Citation(_Frozen):
    """The source of `[n]` in an answer. quote: the supporting part of the chunk.

    headings: outermost first. page: from 1, `None` where the format has none. date: of the
    document in ISO form, where it is known. url: where a reader finds it, down to page or heading;
    relative to the folder of the documents where their address is not known.
    """

    n: int
    chunk: str
    path: str
    title: str = ""
    headings: tuple[str, ...] = ()
    page: int | None = None
    date: str | None = None
    quote: str = ""
    url: str = ""


class Contact(_Frozen):
    """A contact for a topic, from the contacts file."""

    department: str
    address: str = ""
    note: str = ""


class Unsupported(_Frozen):
    """A sentence of the answer that its cited documents do not support, and why."""

    sentence: str
    why: str


class Reply(_Frozen):
    """The reply to one message: a question back, or an answer with its sources.

    case, evaluation: of the last evaluation. route: `ask` or `search`. message: what to show:
    the question back, or the answer with whom to ask. query: the query; empty for a question back.
    also: what was searched for beside it. answer: empty for a question back and where there is no
    evidence. citations: by number, those that the answer uses. options: topics that may be chosen
    by number. dialogue: questions and answers so far. hits: chunk ids of the search, best first,
    whether cited or not. rewritten: how the query came about. evidence: whether the documents held
    enough to answer. band: whether it is an answer, the nearest passages, or neither. evaluator:
    who evaluated. extended: the case beyond the article that decided, if one did. urgent: a worry
    that is answered at once. contact: whom to ask. failures: instrument failures that were
    survived.
    """

    case: Case
    route: Literal["ask", "search"]
    message: str
    query: str = ""
    also: str = ""
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    evaluation: Evaluation
    evaluator: Literal["model", "rules"] = "rules"
    extended: Extended | None = None
    urgent: Urgent | None = None
    contact: Contact | None = None
    options: tuple[str, ...] = ()
    dialogue: tuple[Exchange, ...] = ()
    rewritten: Literal["unchanged", "model", "joined"] = "unchanged"
    evidence: bool = False
    band: Literal["answer", "nearest", "none"] = "none"
    hits: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether it is a question back, so that the person's next message is its answer."""
        return self.route == "ask" and self.extended is None


class Thresholds(BaseModel):
    """An indicator holds if its grade is at most its threshold.

    The defaults are the article's: clear at 1, everything else at 2. 5 makes an indicator hold
    always. ask_person decides no case; it adds a contact. extended: the cases beyond the
    article that are switched on, none by default. ask_profile: whether `ask_user_meta_info` may
    be asked where the article would search with an unclear intent (③); off by default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    clarity: Grade = 1
    is_question: Grade = 2
    is_consultation: Grade = 2
    in_internal_docs: Grade = 2
    ask_person: Grade = 2
    extended: frozenset[Extended] = frozenset()
    ask_profile: bool = False

    @field_serializer("extended")
    def _ordered(self, extended: frozenset[Extended]) -> list[Extended]:
        return sorted(extended)  # the order of a set differs between processes


class Judged(BaseModel):
    """evaluator: the source of the grades. options: topics offered by the question back.
    failures: instrument failures on the way."""

    model_config = ConfigDict(frozen=True)

    evaluation: Evaluation
    evaluator: Literal["model", "rules"]
    options: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
