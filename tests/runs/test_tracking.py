"""Trackers: what OpenTelemetry and the trackers of experiments are told of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from commandline import Naisei
from naisei.core import Event, InputError
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.result import finish
from naisei.runs.task import EpisodeRow
from naisei.runs.tracking import MLflow, Telemetry, TensorBoard, Tracker, tracked

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def _track(toy: Any, path: Path, tracker: Tracker) -> Any:
    """A toy run, one episode of which an instrument fails."""
    task, world = toy.Toy(n=3), toy.model(fails=lambda where: where.instance == "i2")
    trackers = tracked((), [tracker])
    with RunDirectory.of(task, path) as directory, trackers.of(task, path):
        told: Any = {"on_event": trackers.event, "on_episode": trackers.episode}
        outcome = asyncio.run(run_task(task, directory, world, **told))
        trackers.result = finish(task, directory, outcome)
    return trackers.result


class Recorder:
    def __init__(self, fails: str = "") -> None:
        self.told: list[str] = []
        self._fails = fails

    def _tell(self, what: str) -> None:
        self.told.append(what)
        if what == self._fails:
            raise RuntimeError(what)

    def begin(self, task: Any, path: Path) -> None:
        self._tell("begin")

    def event(self, event: Event) -> None:
        self._tell("event")

    def episode(self, row: EpisodeRow) -> None:
        self._tell("episode")

    def end(self, result: Any) -> None:
        self._tell("end" if result is not None else "broken off")


def test_a_tracker_is_told_all_and_cannot_break_a_run(tmp_path: Path, toy: Any) -> None:
    good = Recorder()
    _track(toy, tmp_path / "a", good)
    assert good.told[0] == "begin" and good.told[-1] == "end"
    assert good.told.count("episode") == 3 and good.told.count("event") > 12
    bad = Recorder(fails="event")
    assert _track(toy, tmp_path / "b", bad).outcome.scored == 2
    assert bad.told == ["begin", "event"]
    with (
        pytest.raises(ZeroDivisionError),
        tracked((), [late := Recorder()]).of(toy.Toy(), tmp_path),
    ):
        raise ZeroDivisionError
    assert late.told == ["begin", "broken off"]
    with pytest.raises(InputError, match="tensorboard"):
        tracked(["nobody"])


@pytest.mark.parametrize("content", [False, True])
def test_spans(
    content: bool, spans: Any, tmp_path: Path, toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTENT, str(content).lower())
    _track(toy, tmp_path / "r", Telemetry())
    found = spans.get_finished_spans()
    by_id = {span.context.span_id: span for span in found}
    episodes = [s for s in found if s.name == "invoke_agent toy"]
    assert {s.attributes["gen_ai.conversation.id"] for s in episodes} == {"i0#0", "i1#0", "i2#0"}
    chats = [s for s in found if s.attributes.get("gen_ai.operation.name") == "chat"]
    assert len(chats) >= 12 and all(by_id[s.parent.span_id] in episodes for s in chats)
    assert all(s.end_time >= s.start_time and s.kind.name == "CLIENT" for s in chats)
    good = next(s for s in chats if s.status.is_ok or not s.attributes.get("error.type"))
    assert good.attributes["gen_ai.usage.input_tokens"] > 0
    failed = next(s for s in episodes if s.attributes["gen_ai.conversation.id"] == "i2#0")
    assert failed.attributes["error.type"] == "InstrumentFailure"
    assert any(s.attributes.get("gen_ai.tool.name") == "ask_user" for s in found)
    (run,) = [s for s in found if s.parent is None]
    assert {e.name for e in run.events} == {"gen_ai.evaluation.result"}
    assert (toy.RULES[:8] in str([dict(s.attributes) for s in found])) is content


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    got: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            got.append((self.path, self.rfile.read(length)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_command_sends_to_a_collector(
    collector: Any, naisei: Naisei, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    command = ["clarify", "run", "--agent", "random", "--limit", "3", "-q", "--track", "otel"]
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    code, _, err = naisei(*command, "--run-dir", tmp_path / "r")
    assert code == 2 and "OTEL_EXPORTER_OTLP_ENDPOINT" in err and not (tmp_path / "r").exists()
    url, got = collector
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    assert naisei(*command, "--run-dir", tmp_path / "r")[0] == 0
    names: list[str] = []
    for path, body in got:
        assert path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            names += [span.name for scope in resource.scope_spans for span in scope.spans]
    assert names.count("invoke_agent random") == 3 and "naisei clarify" in names
    assert names.count("execute_tool act") >= 3


def test_experiment_trackers(tmp_path: Path, toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboardX")
    _track(toy, tmp_path / "t", TensorBoard())
    assert any((tmp_path / "t" / "tensorboard").glob("events.*"))
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    monkeypatch.chdir(tmp_path)
    _track(toy, tmp_path / "m", MLflow())
    (run,) = mlflow.MlflowClient().search_runs(["0"])
    assert run.info.status == "FINISHED" and run.data.params["n"] == "3"
    assert run.data.metrics["episodes"] == 3 and run.data.metrics["tokens"] > 0
