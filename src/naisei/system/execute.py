"""Carrying out runs: one configuration, or several in one study. Every system's executor."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import Field

from naisei.core import Event, InputError
from naisei.lang import own_prompts, say
from naisei.models.base import Mode
from naisei.runs.budget import Budget
from naisei.runs.task import EpisodeRow, Metric, Summary, Table
from naisei.system.config import Config, Options, engine_flag, flag, store_flag
from naisei.system.declare import blocking
from naisei.system.sampling import completed, of_config

if TYPE_CHECKING:
    from naisei.models.base import ModelSettings
    from naisei.runs.cluster_pool import Cluster
    from naisei.runs.engine import Engine
    from naisei.runs.export import Frame, Library
    from naisei.runs.result import RunResult
    from naisei.runs.task import Task
    from naisei.runs.tracking import Tracker
    from naisei.system.declare import Experiment

C = TypeVar("C", bound=Config)
#: Before the seed, at the end of the label of a configuration that runs under several.
SEED = "seed="


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
        """For so many requests at a time."""
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
    """How a run is carried out: what may differ from time to time without changing a result."""

    cache: Path | None = flag(
        None, "応答のキャッシュの置き場所", "Keep replies here, and use those kept.", panel="models"
    )
    concurrency: int | None = flag(
        None, "同時に進めるエピソードの数", "Episodes at a time.", panel="run", ge=1
    )
    max_usd: float | None = flag(
        None,
        "この実行全体の上限 (米ドル)。達したら止まり、再開できる",
        "Stop, resumably, when the whole run has cost so many US dollars.",
        panel="budget",
    )
    max_tokens: int | None = flag(
        None, "この実行全体の上限 (トークン)", "… or so many tokens.", panel="budget"
    )
    max_minutes: float | None = flag(
        None,
        "今回の上限 (分)",
        "… or when this session has taken so many minutes.",
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
        "Whom to tell of the run, repeatable: otel, mlflow, wandb, tensorboard.",
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


@dataclass(frozen=True, slots=True)
class Study:
    """Several configurations side by side: results by label, where each lies, tables over them."""

    configs: Mapping[str, Any]
    results: dict[str, RunResult]
    path: Path
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """That of a run that was stopped, else of one in which nothing was scored."""
        codes = {result.exit_code for result in self.results.values()}
        return next((code for code in (130, 3, 4) if code in codes), 0)

    @property
    def summaries(self) -> dict[str, Summary]:
        """By label."""
        return {label: result.summary for label, result in self.results.items()}

    @property
    def metrics(self) -> dict[str, dict[str, Metric]]:
        """Label → name → metric."""
        return {label: {m.name: m for m in s.metrics} for label, s in self.summaries.items()}

    @property
    def seed(self) -> int:
        """That of the first configuration: of the tests between them."""
        return int(next(iter(self.configs.values())).seed)

    def frame(self, *, each: str | None = None) -> Frame:
        """One row a trial of every configuration; see `naisei.runs.export.frame`."""
        from naisei.runs.export import frame

        return frame(self.path, each=each)

    def to_dataframe(self, library: Library = "pandas", *, each: str | None = None) -> Any:
        """`frame` as a `pandas.DataFrame`, or as a `polars.DataFrame` (extra `frames`)."""
        return self.frame(each=each).to_dataframe(library)

    def _repr_html_(self) -> str:
        from naisei.runs.export import tables_html

        return tables_html(self.tables, self.notes)


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
    """Run, or continue, one configuration in its run directory.

    Args:
        run_dir: by default one under `runs/`, named by all that decides (`naisei.identity`).
        task: loaded before, from the same configuration.
        on_event, on_episode: see `naisei.runs.engine.run_task`.
        trackers: beside those of `options.track`; see `naisei.runs.tracking`.
        cluster: workers that several runs share; by default each run has its own.

    Raises:
        InputError: unusable data, names, models or directory; nothing is left behind.
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
        from naisei.system.engines import check_engine

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
    from naisei.system.engines import open_engine

    load = partial(experiment.load, config)
    return open_engine(engine, concurrency=concurrency, load=load, world=world, cluster=cluster)


#: `aexecute` for callers that do not await, also in a notebook.
execute = blocking(aexecute)


def check_models(experiment: Experiment[C], config: C, engine: str = "local") -> None:
    """Raises `InputError` if a role that will be called has no model, or a prompt of somebody's own
    does not fit."""
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


def execute_study(
    experiment: Experiment[C],
    configs: Mapping[str, C],
    options: RunOptions = RunOptions(),
    *,
    title: str,
    run_dir: Path | None = None,
) -> Study:
    """Run each configuration in a folder of its own under `run_dir`, then compare them.

    Writes `study.html`, `study.md` and a CSV file a table into `run_dir`.

    Args:
        title: of the study, such as `clarify ablate`; it names the default directory.
    """
    from naisei.runs.frozen import Frozen, named_path, tell_changes
    from naisei.runs.report import write_study
    from naisei.system.studies import conditions, one_by_one, seed_tables, side_by_side

    if run_dir is not None and (run_dir / "config.json").exists():
        raise InputError(
            say("1 つの実行のディレクトリです", "is the directory of a single run"),
            place=str(run_dir),
            remedy=say(
                "比較には別の --run-dir を指定してください", "give another --run-dir to a study"
            ),
        )
    for config in configs.values():
        check_models(experiment, config, options.engine)
    configs = {label: completed(experiment, config) for label, config in configs.items()}
    tasks = {label: experiment.load(config) for label, config in configs.items()}
    if run_dir is None:
        frozen = {label: Frozen.of(task) for label, task in tasks.items()}
        run_dir = named_path(title.replace(" ", "-"), [*frozen.values()])
        if not run_dir.exists():
            label, first = next(iter(frozen.items()))
            tell_changes(run_dir, first, folder_of(label))
    carry_out = one_by_one if options.engine == "local" else side_by_side
    folders = {label: run_dir / folder_of(label) for label in configs}
    results = carry_out(experiment, configs, options, folders, tasks)
    study = Study(configs, results, run_dir)
    module, _, function = experiment.tables.partition(":")
    tables = seed_tables(study, experiment.headline) or tuple(
        getattr(import_module(module), function)(study)
    )
    notes = tuple(dict.fromkeys(n for r in results.values() for n in r.summary.notes))
    links = {k: str(r.report.resolve().relative_to(run_dir.resolve())) for k, r in results.items()}
    told = conditions({label: Frozen.of(task) for label, task in tasks.items()})
    write_study(run_dir, f"naisei {title}", tables, runs=links, notes=notes, conditions=told)
    return Study(configs, results, run_dir, tables, notes)


def folder_of(label: str) -> str:
    """The folder of a configuration within its study."""
    return re.sub(r"[^\w.@-]+", "_", label).strip("_")
