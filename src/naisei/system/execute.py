"""Execution of the runs of all systems, on this machine or a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import Field

from naisei.core import Event, InputError
from naisei.lang import own_prompts, say
from naisei.models.base import Mode
from naisei.runs.budget import Budget
from naisei.runs.task import EpisodeRow
from naisei.system.config import Config, Options, engine_flag, flag, store_flag
from naisei.system.declare import blocking
from naisei.system.sampling import completed, of_config

if TYPE_CHECKING:
    from naisei.models.base import ModelSettings
    from naisei.runs.cluster_pool import Cluster
    from naisei.runs.engine import Engine
    from naisei.runs.result import RunResult
    from naisei.runs.task import Task
    from naisei.runs.tracking import Tracker
    from naisei.system.declare import Experiment

C = TypeVar("C", bound=Config)


class Endpoint(Options):
    """How models are reached."""

    base_url: str | None = flag(
        None,
        "接続先 URL (既定: OPENAI_BASE_URL)",
        "Endpoint; OPENAI_BASE_URL by default.",
        panel="models",
    )
    timeout: float | None = flag(
        None,
        "リクエスト 1 回の制限時間 (秒)",
        "Seconds allowed to one request.",
        panel="models",
        ge=0.001,
    )
    structured: Mode = flag(
        "json_schema",
        "JSON 出力の指定方法。接続先が対応していなければ、より弱い方法に切り替える: "
        "json_schema、json_object、prompt",
        "First way of asking for JSON; weaker ones follow where the endpoint refuses it.",
        panel="models",
    )
    requests_per_minute: float | None = flag(
        None,
        "各モデルへの 1 分あたりのリクエスト数の上限",
        "Requests a minute to each model.",
        panel="models",
        ge=0.001,
    )
    tokens_per_minute: float | None = flag(
        None,
        "各モデルの 1 分あたりのトークンの上限",
        "Tokens a minute of each model.",
        panel="models",
        ge=0.001,
    )
    api_key: str | None = Field(default=None, repr=False)

    def settings(self, concurrency: int) -> ModelSettings:
        """Return settings for this many concurrent requests."""
        from naisei.models.base import ModelSettings

        return ModelSettings(
            base_url=self.base_url,
            api_key=self.api_key,
            timeout=self.timeout or ModelSettings().timeout,
            concurrency=concurrency,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            structured=self.structured,
        )


class RunOptions(Endpoint):
    """How a run is carried out; none of it changes a result."""

    cache: Path | None = flag(
        None, "応答のキャッシュの置き場所", "Keep replies here, and use those kept.", panel="models"
    )
    concurrency: int | None = flag(
        None, "同時に進めるエピソードの数", "Episodes at a time.", panel="run", ge=1
    )
    max_usd: float | None = flag(
        None,
        "この実行全体の上限 (米ドル)。達したら止まり、再開できる",
        "Most that the whole run may cost, in US dollars; it then stops, and can be resumed.",
        panel="budget",
    )
    max_tokens: int | None = flag(
        None,
        "この実行全体の上限 (トークン)",
        "Most tokens that the whole run may use.",
        panel="budget",
    )
    max_minutes: float | None = flag(
        None,
        "今回の上限 (分)",
        "Most minutes that this session may take.",
        panel="budget",
    )
    accept_changes: bool = flag(
        False,
        "データ・コード・プロンプト・重みが変わっていても、その実行を続ける (両方を記録する)",
        "Go on with a run although its data, code, prompts or weights changed; both are recorded.",
        panel="run",
    )
    track: tuple[str, ...] = flag(
        (),
        "実行を知らせる先 (複数可): otel、mlflow、wandb、tensorboard",
        "Trackers of the run, repeatable: otel, mlflow, wandb, tensorboard.",
        panel="output",
        metavar="NAME",
    )
    store: str | None = store_flag()
    engine: str = engine_flag()
    quiet: bool = flag(
        False, "進捗を表示しない", "No progress.", name="--quiet", short="-q", panel="output"
    )

    @property
    def budget(self) -> Budget:
        return Budget(self.max_usd, self.max_tokens, self.max_minutes)


async def aexecute(
    experiment: Experiment[C],
    config: C,
    options: RunOptions = RunOptions(),
    *,
    run_dir: Path | None = None,
    task: Task[Any] | None = None,
    on_event: Callable[[Event], None] | None = None,
    on_episode: Callable[[EpisodeRow], None] | None = None,
    trackers: Sequence[Tracker] = (),
    cluster: Cluster | None = None,
) -> RunResult:
    """Run or continue one configuration in its run directory.

    Args:
        run_dir: by default a folder under `runs/`, named by the run's identity (`naisei.identity`).
        task: a task already loaded from the same configuration.
        on_event, on_episode: see `naisei.runs.engine.run_task`.
        trackers: in addition to those of `options.track`; see `naisei.runs.tracking`.
        cluster: workers that several runs share; by default each run has its own.

    Raises:
        InputError: unusable data, names, models or directory; no files are left behind.
    """
    check_models(experiment, config, options.engine)
    with own_prompts(config.package, config.prompts):
        return await _perform(
            experiment, config, options, run_dir, task, on_event, on_episode, trackers, cluster
        )


async def _perform(
    experiment: Experiment[C],
    config: C,
    options: RunOptions,
    run_dir: Path | None,
    task: Task[Any] | None,
    on_event: Callable[[Event], None] | None,
    on_episode: Callable[[EpisodeRow], None] | None,
    trackers: Sequence[Tracker],
    cluster: Cluster | None,
) -> RunResult:
    from naisei.models.registry import base_world
    from naisei.runs.directory import RunDirectory
    from naisei.runs.progress import progress
    from naisei.runs.result import finish

    if task is None:
        config = completed(experiment, config)
        task = experiment.load(config)
    if options.engine != "local":
        check_engine(options.engine, task, config.models)
    if options.track or trackers:
        from naisei.runs.tracking import tracked

        tracking = tracked(options.track, trackers, on_event, on_episode)
        on_event, on_episode = tracking.event, tracking.episode
    else:
        tracking = None
    most = 1 if task.alone and options.engine == "local" else task.concurrency
    concurrency = options.concurrency or experiment.concurrency or os.cpu_count() or 1
    concurrency = min(concurrency, most or concurrency)
    opened = partial(
        base_world,
        config.models,
        settings=options.settings(concurrency),
        sampling_of=of_config(config),
        embedder=getattr(config, "embedder", "auto"),
        cache=options.cache,
        resends_of={r.name: r.resends for r in experiment.roles if r.resends is not None},
    )
    async with opened() as world:
        with (
            RunDirectory.of(
                task, run_dir, store=options.store, accept=options.accept_changes
            ) as directory,
            tracking.of(task, directory.path) if tracking is not None else nullcontext(),
        ):
            async with (
                task.during(directory),
                _engine(options.engine, concurrency, experiment, config, opened, cluster) as engine,
            ):
                outcome = await engine(
                    task,
                    directory,
                    world,
                    concurrency=concurrency,
                    budget=options.budget,
                    progress=progress(quiet=options.quiet),
                    on_event=on_event,
                    on_episode=on_episode,
                )
            result = finish(task, directory, outcome)
            task.export(directory, result)
            if tracking is not None:
                tracking.result = result
            return result


def _engine(
    engine: str,
    concurrency: int,
    experiment: Experiment[C],
    config: C,
    world: Callable[..., Any],
    cluster: Cluster | None,
) -> AbstractAsyncContextManager[Engine]:
    if engine == "local":
        from naisei.runs.engine import run_task

        return nullcontext(run_task)
    load = partial(experiment.load, config)
    return open_engine(engine, concurrency=concurrency, load=load, world=world, cluster=cluster)


#: Blocking version of `aexecute`, also for notebooks.
execute = blocking(aexecute)


def check_models(experiment: Experiment[C], config: C, engine: str = "local") -> None:
    """Raise `InputError` if a called role has no model, or one of the user's prompts does not
    match."""
    if config.prompts and engine != "local":
        raise InputError(
            say("プロンプトの差し替えは手元の実行だけです", "own prompts are for local runs alone"),
            place="--prompts",
            remedy="--engine local",
        )
    with own_prompts(config.package, config.prompts):
        pass
    for role in experiment.roles:
        if not role.needed(config) or role.name in config.models:
            continue
        ja, en = role.without
        raise InputError(
            say(
                f"役割 {role.name} のモデルが指定されていません",
                f"the {role.name} needs a model, and none is given",
            ),
            place="--model" if role.like else f"--{role.name}-model",
            remedy=say(
                "--model PROVIDER:NAME を付けてください (例: --model openai:gpt-5-nano、"
                "--model local:、--model scripted:FILE。環境変数 NAISEI_MODEL でも可)"
                + (f"。または{ja}" if ja else ""),
                "give --model PROVIDER:NAME, e.g. --model openai:gpt-5-nano, --model local: or "
                "--model scripted:FILE, or set NAISEI_MODEL" + (f"; or {en}" if en else ""),
            ),
        )


#: Provider of models whose replies a person types at this terminal.
_BY_HAND = "hand:"


def check_engine(engine: str, task: Task[Any], models: Mapping[str, str]) -> None:
    """Raise `InputError` for an unknown engine, or one that cannot run the task."""
    if engine != "ray" and not engine.startswith("ray://"):
        raise InputError(
            say(f"{engine!r} という実行エンジンはありません", f"there is no engine {engine!r}"),
            place="--engine",
            remedy=say(
                "local、ray、ray://HOST:PORT のどれかにしてください",
                "use local, ray or ray://HOST:PORT",
            ),
        )
    by_hand = any(model.startswith(_BY_HAND) for model in models.values())
    if by_hand or task.in_terminal:
        raise InputError(
            say(
                "この端末の人が答える実行は、ほかのマシンでは進められません",
                "what a person at this terminal answers cannot run elsewhere",
            ),
            place="--engine",
            remedy=say("--engine を外してください", "leave out --engine"),
        )


@asynccontextmanager
async def open_engine(
    engine: str,
    *,
    concurrency: int,
    load: Callable[[], Task[Any]],
    world: Callable[..., Any],
    cluster: Cluster | None = None,
) -> AsyncIterator[Engine]:
    """Open a Ray cluster's engine; closed on exit.

    Args:
        engine: `ray` or `ray://HOST:PORT`.
        concurrency: number of concurrent episodes.
        load, world: factories called on workers; see `naisei.runs.cluster.RayEngine`.
        cluster: existing workers, left running.

    Raises:
        InputError: the cluster cannot be reached.
    """
    from naisei.runs.cluster import RayEngine, ray_cluster

    if cluster is not None:
        yield RayEngine(cluster, load, world)
        return
    async with ray_cluster(engine, concurrency=concurrency) as opened:
        yield RayEngine(opened, load, world)
