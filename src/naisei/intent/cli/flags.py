"""The flags of the assistant's commands, as annotated types and groups for typer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.lang import say

__all__ = ["Behaviour", "IndexDir", "Models", "Person", "User"]

_DOCUMENTS = say("資料", "Documents")
_ASKING = say("聞き返し", "Asking back")
_PERSON = say("ユーザー", "Person")
_MODELS = say("モデル", "Models")

IndexDir = Annotated[
    Path,
    typer.Option(
        "--index",
        metavar="DIR",
        help=say("索引のフォルダー", "Folder of the index."),
        rich_help_panel=_DOCUMENTS,
    ),
]
User = Annotated[
    str,
    typer.Option(
        "--user",
        metavar="NAME",
        help=say("評価を覚えておくユーザーの名前", "Whose feedback counts."),
        rich_help_panel=_PERSON,
    ),
]
SearchMode = Annotated[
    Literal["hybrid", "bm25", "dense"],
    typer.Option("--mode", help=say("検索のしかた", "How to search."), rich_help_panel=_DOCUMENTS),
]
Top = Annotated[
    int,
    typer.Option(
        "-k",
        min=1,
        max=50,
        help=say("答えの根拠にする件数", "Chunks that an answer may rest on."),
        rich_help_panel=_DOCUMENTS,
    ),
]
Budget = Annotated[
    int,
    typer.Option(
        "--budget",
        min=0,
        max=20,
        help=say("一つの用件で聞き返す回数の上限", "Questions back per request, at most."),
        rich_help_panel=_ASKING,
    ),
]
Cut = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        metavar="NAME=1..5",
        help=say(
            "しきい値 (複数可): clarity is_question is_consultation in_internal_docs ask_person",
            "A threshold, repeatable: clarity, is_question, is_consultation, in_internal_docs, "
            "ask_person.",
        ),
        rich_help_panel=_ASKING,
    ),
]
Extended = Annotated[
    str,
    typer.Option(
        "--extended",
        metavar="NAMES",
        help=say(
            "6 分岐に加える場合: greeting,out_of_scope,needs_person または none",
            "Cases beyond the six, by commas: greeting, out_of_scope, needs_person; or none.",
        ),
        rich_help_panel=_ASKING,
    ),
]
AskProfile = Annotated[
    bool,
    typer.Option(
        "--ask-profile/--no-ask-profile",
        help=say("所属などを尋ねてよいか", "Whether department and the like may be asked for."),
        rich_help_panel=_ASKING,
    ),
]
Unsupported = Annotated[
    Literal["mark", "drop"],
    typer.Option(
        "--unsupported",
        help=say(
            "出典で確認できない文: 印を付けて残す、または省く",
            "Sentences that the sources do not bear out: marked, or left out.",
        ),
        rich_help_panel=_DOCUMENTS,
    ),
]
Talk = Annotated[
    Literal["ja", "en"] | None,
    typer.Option(
        "--talk",
        help=say("応答の言語 (既定: 表示言語)", "Language of the replies; that of messages."),
        rich_help_panel=_ASKING,
    ),
]
ProfileFile = Annotated[
    Path | None,
    typer.Option(
        "--profile",
        metavar="FILE",
        help=say("所属などの TOML か JSON", "Department, office, …: TOML or JSON."),
        rich_help_panel=_PERSON,
    ),
]
ContactsFile = Annotated[
    Path | None,
    typer.Option(
        "--contacts",
        metavar="FILE",
        help=say("話題ごとの問い合わせ先の TOML", "Whom to ask about what: TOML."),
        rich_help_panel=_DOCUMENTS,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        envvar="NAISEI_MODEL",
        help=say(
            "全役割のモデル。なければ規則だけで動く",
            "Model of every role; without one, rules do it all.",
        ),
        rich_help_panel=_MODELS,
    ),
]
EvaluatorModel = Annotated[str | None, options.role_model("evaluator")]
RewriterModel = Annotated[str | None, options.role_model("rewriter")]
AnswererModel = Annotated[str | None, options.role_model("answerer")]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the assistant asks, searches and answers."""

    mode: SearchMode = "hybrid"
    k: Top = 5
    budget: Budget = 3
    threshold: Cut = None
    extended: Extended = "greeting"
    ask_profile: AskProfile = False
    unsupported: Unsupported = "mark"
    talk: Talk = None
    contacts: ContactsFile = None


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks."""

    profile: ProfileFile = None
    user: User = "default"


@dataclass(frozen=True, slots=True)
class Models:
    """Who plays which role; a role without a model is played by rules."""

    model: Model = None
    evaluator_model: EvaluatorModel = None
    rewriter_model: RewriterModel = None
    answerer_model: AnswererModel = None

    @property
    def named(self) -> dict[str, str]:
        """Role → model, of the roles that have one."""
        own = {
            "evaluator": self.evaluator_model,
            "rewriter": self.rewriter_model,
            "answerer": self.answerer_model,
        }
        return {role: name for role, one in own.items() if (name := one or self.model)}
