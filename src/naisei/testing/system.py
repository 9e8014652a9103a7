"""Tests for every experiment of a system (`naisei.system.Experiment`)."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

from naisei.core import Event, InputError, World
from naisei.system.config import Config
from naisei.system.declare import Experiment, System
from naisei.system.execute import RunOptions
from naisei.testing.kit import Kit, expect, raises, temporary


class _Stopped(Exception):
    """Simulates process termination."""


class SystemKit(Kit):
    """Tests one experiment of a system. Subclasses define `system`, `experiment`, `config`."""

    def system(self) -> System:
        raise NotImplementedError

    def experiment(self) -> Experiment[Any]:
        """The system's first experiment; override to test another."""
        return self.system().experiments[0]

    def config(self) -> Config:
        """A configuration that runs in seconds with scripted models only, and yields at least two
        effects."""
        raise NotImplementedError

    def _run(self, folder: Path, **more: Any) -> bytes:
        options = RunOptions(quiet=True, concurrency=2)
        self.experiment().run(self.config(), options, run_dir=folder, **more)
        return (folder / "results.jsonl").read_bytes()

    def test_it_is_declared(self) -> None:
        system = self.system()
        expect(system.name.isidentifier() or "-" in system.name, "it has a name", system.name)
        expect(all(system.about), "it is described in both languages", system.about)
        names = [(each.verb, each.task) for each in system.experiments]
        expect(len(names) == len({*names}), "its experiments have different names", names)
        for each in system.experiments:
            expect(all(each.about), "each experiment is described", each.verb)

    def test_a_configuration_is_frozen_and_read_back(self) -> None:
        config = self.config()
        frozen = json.loads(config.model_dump_json())
        expect(
            type(config).model_validate(frozen) == config, "it is equal after a round trip", frozen
        )
        with raises(ValueError, "and it is immutable"):
            config.seed = 1

    def test_loading_is_deterministic(self) -> None:
        one, other = (self.experiment().load(self.config()) for _ in range(2))
        expect(one.data_hash == other.data_hash, "the data digest is stable", one.data_hash)
        expect([*one.episodes()] == [*other.episodes()], "the order of episodes is stable")
        names = [where.episode for where in one.episodes()]
        expect(bool(names) and len(names) == len({*names}), "and names are unique", names[:9])

    def test_a_flow_yields_and_performs_nothing(self) -> None:
        task = self.experiment().load(self.config())
        flow, world = task.start(task.episodes()[0], World({}))
        expect(isinstance(flow, Generator), "an episode is a generator", type(flow).__name__)
        expect(isinstance(world, World), "in a world of its own", type(world).__name__)
        flow.close()

    def test_metrics_without_scored_episodes_are_undefined(self) -> None:
        for metric in self.experiment().load(self.config()).summarise([]).metrics:
            if metric.value != metric.value:
                expect(bool(metric.reason), "an undefined metric has a reason", metric.name)
            else:
                expect(metric.n == 0, "a metric over nothing is not defined", metric)

    def test_the_same_configuration_gives_the_same_results(self) -> None:
        with temporary() as folder:
            one, other = self._run(folder / "one"), self._run(folder / "other")
            expect(one == other, "byte for byte")
            expect(self._run(folder / "one") == one, "and a finished run is unchanged")

    def test_a_stopped_run_resumes(self) -> None:
        with temporary() as folder:
            events: list[Event] = []
            whole = self._run(folder / "whole", on_event=events.append)
            expect(len(events) >= 2, "the kit needs two effects", len(events))
            seen = 0

            def stop(event: Event) -> None:
                nonlocal seen
                seen += 1
                if seen == len(events) // 2:
                    raise _Stopped

            with raises(_Stopped, "the run stops halfway"):
                self._run(folder / "run", on_event=stop)
            again: list[Event] = []
            found = self._run(folder / "run", on_event=again.append)
            expect(found == whole, "results equal those of an uninterrupted run")
            expect(
                len(again) < len(events), "and only the remaining effects are performed", len(again)
            )

    def test_another_configuration_is_refused(self) -> None:
        with temporary() as folder:
            self._run(folder / "run")
            config = self.config()
            other = config.model_copy(update={"seed": config.seed + 1})
            with raises(InputError, "a run directory has one configuration"):
                self.experiment().run(other, RunOptions(quiet=True), run_dir=folder / "run")
