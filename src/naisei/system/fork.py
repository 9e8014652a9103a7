"""A fork of a run's episode: the same up to a step, then with another answer, prompt or model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from naisei.core import InputError, fingerprint
from naisei.lang import say
from naisei.system.declare import blocking
from naisei.system.execute import RunOptions, aexecute
from naisei.system.registry import experiment_of

if TYPE_CHECKING:
    from naisei.runs.result import RunResult


async def _afork_run(
    parent: Path,
    episode: str,
    step: str,
    *,
    answer: str | None = None,
    prompt: str | None = None,
    models: Mapping[str, str] = {},
    options: RunOptions = RunOptions(),
    run_dir: Path | None = None,
) -> RunResult:
    """Fork an episode and run the fork to its end; an existing fork is continued.

    Args:
        parent: the run. episode: as for `naisei runs show --episode`.
        step: the first effect that is not copied from the parent.
        answer: new result of the step: the user's answer, or a model's reply (JSON if it has
            a schema).
        prompt: new text of the last message to the model at the step.
        models: role → model from the step on, for roles of the run.
        run_dir: by default `runs/<name of the parent>-fork-<digest>`, so that the same fork
            continues in the same directory.

    Raises:
        InputError: the run, episode or step does not exist, the step cannot be changed this way,
        or the run's identity has changed and `options` do not accept that; no files remain.
        ReplayDivergence: the change was accepted, but the parent's log cannot be replayed.
    """
    from naisei.core import EffectFailed, NaiseiError
    from naisei.runs.directory import RunDirectory, remove
    from naisei.runs.fork import Fork, begin, check, events_before
    from naisei.runs.frozen import Frozen
    from naisei.runs.show import find_episode

    place = parent / "config.json"
    frozen = Frozen.read(place)
    experiment = experiment_of(frozen.system, frozen.config, parent)
    config = frozen.config_as(experiment.config, place)
    _check_roles(models, config.models)
    config = config.model_copy(update={"models": {**config.models, **models}})
    task = experiment.load(config)
    accept = options.accept_changes
    with RunDirectory.look(parent) as run:
        if not accept:
            run.current.refuse_changes(Frozen.of(task), parent)
        name = find_episode(run, episode)
        events = run.log.read(name)
        before = events_before(events, step)
        sent = {at: tuple(each) for at, _, each in run.log.sent(name) if isinstance(each, list)}
    fork = Fork(
        parent=str(parent.resolve()),
        episode=name,
        step=step,
        answer=answer,
        prompt=prompt,
        models=dict(models),
    )
    check(fork, next(event for event in events if event.where.step == step))
    digest = fingerprint(fork.model_dump(mode="json"))[:8]
    path = run_dir or Path("runs") / f"{parent.resolve().name}-fork-{digest}"
    fresh = not (path / "config.json").exists()
    with RunDirectory.of(
        task, path, store=options.store, accept=options.accept_changes
    ) as directory:
        if directory.log.get("fork") is None:
            if directory.log.counts() != (0, 0, 0):
                raise InputError(
                    say("分岐ではない実行があります", "holds a run that is not a fork"),
                    place=str(path),
                    remedy=say("別の --run-dir を指定してください", "give another --run-dir"),
                )
            begin(directory.log, fork, before, sent)
    try:
        return await aexecute(experiment, config, options, run_dir=path, task=task)
    except EffectFailed:
        raise
    except NaiseiError:
        with RunDirectory.look(path, check=False) as directory:
            nothing = directory.log.counts()[2] == len(before)
        if fresh and nothing:  # keeps the paid calls
            remove(path)
        raise


#: Blocking version of `_afork_run`, also for notebooks.
fork_run = blocking(_afork_run)


def _check_roles(models: Mapping[str, str], known: Mapping[str, str]) -> None:
    if unknown := [role for role in models if role not in known]:
        roles = ", ".join(known) or say("なし", "none")
        raise InputError(
            say(
                f"この実行に役割 {unknown[0]} のモデルはありません",
                f"the run has no model in the role {unknown[0]}",
            ),
            place=f"--model {unknown[0]}=…",
            remedy=say(f"この実行の役割: {roles}", f"roles of this run: {roles}"),
        )
