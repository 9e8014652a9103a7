"""Configurations of the assistant and of its evaluation: everything that changes results."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, ValidationError

from naisei.core import InputError
from naisei.intent.rules import (
    Contacts,
    Profile,
    Role,
    Rules,
    Setting,
    fault,
    load_contacts,
    read_model,
)
from naisei.intent.schemas import Extended, Thresholds
from naisei.lang import Language, language, say
from naisei.retrieval.types import Mode
from naisei.system.config import Config, Options, flag
from naisei.system.declare import RawOptions

#: Default file beside the index.
CONTACTS = "contacts.toml"
#: Written by indexing in the index's folder, for the evaluating model; may be edited.
DESCRIPTION = "description.txt"
ROLES: tuple[Role, ...] = get_args(Role)
_GRADED = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")
_DOCUMENTS = ("資料", "Documents")
_ASKING = ("聞き返し", "Asking back")


class Behaviour(Options):
    """How the assistant asks, searches and answers: flags that `settle` turns into rules."""

    k: int = flag(
        5,
        "答えの根拠にする件数",
        "Chunks that an answer may rest on.",
        name="-k",
        panel=_DOCUMENTS,
        ge=1,
        le=50,
    )
    budget: int = flag(
        3,
        "一つの用件で聞き返す回数の上限",
        "Most questions that the assistant asks the person, for one request.",
        panel=_ASKING,
        ge=0,
        le=20,
    )
    threshold: dict[str, str] = flag(
        {},
        "しきい値 (複数可): clarity is_question is_consultation in_internal_docs ask_person",
        "A threshold, repeatable: clarity, is_question, is_consultation, in_internal_docs, "
        "ask_person.",
        panel=_ASKING,
    )
    extended: str = flag(
        "greeting",
        "6 分岐に加える場合: greeting,out_of_scope,needs_person または none",
        "Cases beyond the six, by commas: greeting, out_of_scope, needs_person; or none.",
        panel=_ASKING,
        metavar="NAMES",
    )
    ask_profile: bool = flag(
        False,
        "所属などを尋ねてよいか",
        "Whether department and the like may be asked for.",
        name="--ask-profile/--no-ask-profile",
        panel=_ASKING,
    )
    verify: bool = flag(
        True,
        "モデルの答えを、別の呼び出しで資料と突き合わせるか",
        "Whether a call of its own holds a model's answer against the documents.",
        name="--verify/--no-verify",
        panel=_DOCUMENTS,
    )
    talk: Language | None = flag(
        None,
        "応答の言語 (既定: 質問の言語)",
        "Language of the replies; that of the question.",
        panel=_ASKING,
    )
    contacts: Path | None = flag(
        None,
        "話題ごとの問い合わせ先の TOML",
        "Whom to ask about what: TOML.",
        panel=_DOCUMENTS,
        metavar="FILE",
    )


class PersonalBehaviour(Behaviour):
    """The same, towards one person."""

    profile: Path | None = flag(
        None,
        "所属などの TOML か JSON",
        "Department, office, …: TOML or JSON.",
        panel=("ユーザー", "Person"),
        metavar="FILE",
    )


class Indexed(Config):
    """index: the folder of the index. mode: of the search. groups: of the user: documents of other
    groups are invisible (`naisei.retrieval.permissions`)."""

    index: str = flag(
        ".naisei-index", "索引のフォルダー", "Folder of the index.", panel=_DOCUMENTS, metavar="DIR"
    )
    mode: Mode = flag("hybrid", "検索のしかた", "How to search.", panel=_DOCUMENTS)
    groups: tuple[str, ...] = flag(
        (),
        "尋ねる人のグループ (複数可)。ほかのグループの資料は探さない",
        "A group of who asks, repeatable; documents of other groups are not searched.",
        name="--group",
        panel=_DOCUMENTS,
        metavar="NAME",
    )


class AssistConfig(Indexed):
    """A conversation. user: key of the thresholds. models: of `evaluator`, `answerer`,
    `verifier`."""

    #: Nothing is random, so the seed is left out of the frozen configuration.
    seed: int = Field(default=0, exclude=True)
    setting: Setting = Setting()
    user: str = flag(
        "default",
        "評価を覚えておくユーザーの名前",
        "Whose feedback counts.",
        panel=("ユーザー", "Person"),
        metavar="NAME",
    )


class EvalConfig(Indexed):
    """A row of the evaluation's tables. The contents of the index are in the run's data hash.

    user: who plays the user. rules, contacts: the assistant's.
    """

    task: Literal["eval"] = "eval"
    data: str = flag(
        "handbook",
        "質問集 (JSON Lines)。handbook、city、manual は同梱のもの",
        "Questions as JSON lines; `handbook`, `city` and `manual` are bundled.",
        metavar="FILE",
    )
    split: Literal["dev", "test", "all"] | None = flag(
        None, "質問集のどの部分か", "Which part.", shown="all"
    )
    limit: int | None = flag(
        None,
        "使う件数 (選び方はいつも同じ)",
        "Use so many instances, always the same.",
        panel="run",
        ge=1,
    )
    user: str = flag(
        "rule",
        "ユーザー役: rule (規則)、unknowing (何も知らない対照)、llm",
        "Who plays the user: rule, unknowing (a control that knows nothing), llm.",
        name="--simulator",
    )
    rules: Rules = Rules()
    contacts: Contacts = Contacts()


def settle(given: RawOptions) -> tuple[dict[str, Any], Setting]:
    """Return the given fields, with those of `Behaviour` converted to rules.

    Raises:
        InputError: an invalid threshold, file or name.
    """
    values = dict(given.values)
    told = {key: values.pop(key) for key in PersonalBehaviour.model_fields if key in values}
    behaviour = PersonalBehaviour.model_validate(told)
    index = Path(values.get("index", ".naisei-index"))
    values["index"] = str(index.resolve())
    rules = Rules(
        budget=behaviour.budget,
        k=behaviour.k,
        thresholds=_thresholds(behaviour),
        language=behaviour.talk or language(),
        chosen=behaviour.talk is not None,
        roles=frozenset(
            role
            for role in ROLES
            if given.model_for(role) and (role != "verifier" or behaviour.verify)
        ),
    )
    profile = Profile()
    if behaviour.profile is not None:
        profile = read_model(behaviour.profile, Profile, what="profile")
    contacts = behaviour.contacts
    if contacts is None and (index / CONTACTS).is_file():
        contacts = index / CONTACTS
    found = Contacts() if contacts is None else load_contacts(contacts)
    collection = described(index)
    return values, Setting(rules=rules, profile=profile, contacts=found, collection=collection)


def described(index: Path) -> str:
    """The description of the documents, by the operator or by indexing; may be empty."""
    try:
        text = (index / DESCRIPTION).read_text(encoding="utf-8")
    except OSError:
        return ""
    return " ".join(line for line in text.split("\n") if not line.startswith("#")).strip()


def _thresholds(behaviour: Behaviour) -> Thresholds:
    named = [n.strip() for n in behaviour.extended.split(",") if n.strip() not in ("", "none")]
    given: Any = {"extended": named, "ask_profile": behaviour.ask_profile, **behaviour.threshold}
    try:
        return Thresholds.model_validate(given)
    except ValidationError as error:
        option = "extended" if error.errors()[0]["loc"][0] == "extended" else "threshold"
        raise InputError(
            fault(error),
            place=f"--{option}",
            remedy=say(
                f"名前は {', '.join(_GRADED)}、値は 1〜5 の整数です。--extended は "
                f"{', '.join(get_args(Extended))} か none です",
                f"names: {', '.join(_GRADED)}; values: 1 to 5; --extended: "
                f"{', '.join(get_args(Extended))} or none",
            ),
        ) from error
