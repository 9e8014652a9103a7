"""The document assistant as a system: it asks back before it searches."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from naisei.intent.config import (
    ROLES,
    AssistConfig,
    Behaviour,
    EvalConfig,
    PersonalBehaviour,
    settle,
)
from naisei.intent.feedback import data_file
from naisei.intent.rules import Contacts, load_contacts
from naisei.system.declare import Ablation, Experiment, RawOptions, Role, Row, System, Verb
from naisei.system.registry import BUILT_IN

if TYPE_CHECKING:
    from naisei.intent.evaluation.task import EvalTask
    from naisei.intent.task import ConversationTask
    from naisei.runs.result import RunResult
    from naisei.runs.task import Digest


def _settle(given: RawOptions) -> dict[str, Any]:
    values, setting = settle(given)
    data_file("feedback", values.get("user", "default"), option="--user")
    return {**values, "setting": setting}


def _settle_eval(given: RawOptions) -> dict[str, Any]:
    """The bundled questions come with the departments of the bundled handbook."""
    values, setting = settle(given)
    contacts = setting.contacts
    if values.get("data", "handbook") == "handbook" and not contacts.contact:
        contacts = _handbook_contacts()
    if values.get("split") == "all":
        values["split"] = None
    return {**values, "rules": setting.rules, "contacts": contacts}


def _handbook_contacts() -> Contacts:
    bundled = files("naisei") / "data" / "handbook" / "contacts.toml"
    if not bundled.is_file():
        return Contacts()
    with as_file(bundled) as path:
        return load_contacts(path)


def _load(config: AssistConfig) -> ConversationTask:
    from naisei.intent.task import ConversationTask

    return ConversationTask(config)


def _last_reply(task: ConversationTask, result: RunResult, as_json: bool) -> str:
    """The reply as `ask` prints it; "" if the last step has none yet."""
    from naisei.intent.chat import line
    from naisei.intent.lines import terminal_text

    conversation = task.conversation
    if conversation.last is None or conversation.pending:
        return ""
    where = {"run_dir": str(result.run_dir), "tokens": result.outcome.ledger.to_json()}
    return line(conversation.last, **where) if as_json else terminal_text(conversation.last)


def _load_eval(config: EvalConfig) -> EvalTask:
    from naisei.intent.evaluation.task import EvalTask

    return EvalTask(config)


def _assistant(role: str) -> Role[AssistConfig]:
    # A malformed reply is repaired once; then the rules take over.
    return Role(role, lambda c: role in c.setting.rules.roles, sampled=False, resends=0)


def _evaluated(role: str) -> Role[EvalConfig]:
    # A malformed evaluation is repaired once; other roles use the gateway's default number.
    resends = 0 if role == "evaluator" else None
    return Role(role, lambda c: role in c.rules.roles, sampled=False, resends=resends)


def _row(**change: Any) -> Row[EvalConfig]:
    """The changes of a row relative to the full system."""

    def changed(config: EvalConfig) -> EvalConfig:
        own = {key: value for key, value in change.items() if key in EvalConfig.model_fields}
        rules = config.rules.model_copy(update={k: v for k, v in change.items() if k not in own})
        return config.model_copy(update={**own, "rules": rules})

    return Row(changed)


#: Runs of conversations, which `ask` and `chat` start.
def _digest(result: Any) -> Digest:
    from naisei.intent.evaluation.metrics import item_digest

    return item_digest(result)


ASSIST: Experiment[AssistConfig] = Experiment(
    verb="",
    about=("会話", "A conversation."),
    config=AssistConfig,
    inputs=PersonalBehaviour,
    load=_load,
    settle=_settle,
    roles=tuple(map(_assistant, ROLES)),
    concurrency=1,
    output=_last_reply,
)

EVAL: Experiment[EvalConfig] = Experiment(
    verb="eval",
    task="eval",
    about=(
        "質問集で測る: 聞き返しの前後の検索、答え、費用",
        "Measure on a file of questions: search before and after asking, answers, cost.",
    ),
    config=EvalConfig,
    inputs=Behaviour,
    load=_load_eval,
    headline=("recall@5_after", "answered"),
    digest=_digest,
    settle=_settle_eval,
    roles=(
        *map(_evaluated, ROLES),
        Role("simulator", lambda c: c.user == "llm", sampled=False),
    ),
    ablation=Ablation(
        rows={
            "full": _row(),
            "no-asking": _row(asking=False),
            "no-rewriting": _row(rewriting=False),
            "bm25": _row(mode="bm25"),
            "dense": _row(mode="dense"),
            "unknowing": _row(user="unknowing"),
        },
        about=(
            "聞き返しなし、書き直しなし、BM25 だけ、埋め込みだけ、何も知らないユーザーと比べる",
            "Compare: no asking, no rewriting, BM25 only, dense only, a user who knows nothing.",
        ),
    ),
    columns=(
        *(
            "routing_agreement",
            "questions",
            "clear/recall@5_before",
            "vague/recall@5_before",
            "vague/recall@5_after",
        ),
        *(
            "vague/mrr@10_after",
            "consultation/recall@5_after",
            "refusals_right",
            "refusals_wrong",
            "cited_gold",
        ),
    ),
)

_SERVED = ("index", "mode", *Behaviour.model_fields)
_SHARED = (*_SERVED, "profile", "user", "max_usd", "max_tokens", "cache", "store")

SYSTEM = System(
    name="intent",
    about=BUILT_IN["intent"],
    experiments=(EVAL, ASSIST),
    verbs=(
        Verb(
            "index",
            (
                "フォルダーの資料を索引にする (変わったものだけ)",
                "Index a folder of documents; only what changed is read again.",
            ),
            "naisei.intent.indexing:index_command",
        ),
        Verb(
            "ask",
            (
                "一つ尋ねる。答えの代わりに聞き返されることもある",
                "Ask one thing; the reply may be a question back.",
            ),
            "naisei.intent.chat:ask_command",
            shares=ASSIST,
            flags=_SHARED,
        ),
        Verb(
            "chat",
            ("ターミナルで話す", "Talk to it in the terminal."),
            "naisei.intent.chat:chat_command",
            shares=ASSIST,
            flags=_SHARED,
        ),
        Verb(
            "feedback",
            (
                "聞き返しの多さなどの評価を見る・付ける・取り消す",
                "Show, give, undo or reset feedback on how much is asked.",
            ),
            "naisei.intent.feedback:feedback_command",
        ),
        Verb(
            "memory",
            (
                "覚えていること (--remember) を見る・忘れる",
                "Show or forget what is remembered of a person (--remember).",
            ),
            "naisei.intent.remembering:memory_command",
        ),
        Verb(
            "audit",
            (
                "サーバーで誰に何が示されたかを見る、ユーザーの記録を消す",
                "Who was shown what by a server; erase what is kept of a user.",
            ),
            "naisei.intent.serve.people:audit_command",
        ),
        Verb(
            "serve",
            (
                "HTTP で応答する (JSON、SSE、OpenAI 互換)",
                "Answer over HTTP: JSON, server-sent events, OpenAI-compatible.",
            ),
            "naisei.intent.serve.app:serve_command",
            shares=ASSIST,
            flags=_SERVED,
        ),
    ),
    demo="naisei.intent.demo:PART",
    page="naisei.web.pages.documents:PAGE",
    replay="naisei.web.replays.intent:REPLAY",
)
