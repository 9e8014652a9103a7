"""Games for the tests: of a stand-in engine, and, where it is installed, of the real one."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_FAKE = Path(__file__).parent / "fake_engine"

HAS_ENGINE = importlib.util.find_spec("textworld") is not None


@dataclass(frozen=True)
class FakeSet:
    """Games of the stand-in engine, and what its interpreters were asked."""

    folder: Path
    faults: Path
    log: Path

    def fault(self, name: str) -> None:
        (self.faults / name).touch()

    @property
    def asked(self) -> list[tuple[str, int, str]]:
        """(game, step, command), in order."""
        if not self.log.exists():
            return []
        rows = (line.split("\t") for line in self.log.read_text().splitlines())
        return [(game, int(step), command) for game, step, command in rows]


def story(path: Path, length: int = 6) -> Path:
    """A whole story file with nothing in it, and its `.json`."""
    body = bytes(64)
    head = bytearray(64)
    head[0] = 8
    head[0x1A:0x1C] = (128 // 8).to_bytes(2)
    head[0x1C:0x1E] = (sum(body) % 65536).to_bytes(2)
    path.write_bytes(bytes(head) + body)
    world = {"world": [], "infos": [], "quests": [], "length": length}
    path.with_suffix(".json").write_text(json.dumps(world))
    return path


@pytest.fixture
def fake(english: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSet]:
    """Six games of the stand-in engine; this process and its children find no other engine."""
    monkeypatch.syspath_prepend(str(_FAKE))
    before = {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "textworld"}
    for name in before:
        monkeypatch.delitem(sys.modules, name)
    # No empty entry: it would be the working folder.
    given = [str(_FAKE), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, given)))
    games = FakeSet(english / "games", english / "faults", english / "asked.tsv")
    for folder in (games.folder, games.faults):
        folder.mkdir()
    monkeypatch.setenv("FAKE_FAULTS", str(games.faults))
    monkeypatch.setenv("FAKE_LOG", str(games.log))
    for number in range(6):
        story(games.folder / f"g{number}.z8")
    yield games
    for name in [n for n in sys.modules if n.partition(".")[0] == "textworld"]:
        del sys.modules[name]  # the real one comes back with the end of monkeypatch


@pytest.fixture(scope="session")
def cleanup_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real game of tidying up: seven things or six in two rooms."""
    from naisei.textgame.make.cleanup import make_cleanup, mess_of

    folder = tmp_path_factory.mktemp("real")
    mess = mess_of("test", "hard", rooms=2, seed=7, number=0)
    made = make_cleanup(mess, "test", "hard", folder, seed=7, number=0)
    return folder / made.file


@pytest.fixture(scope="session")
def needs_engine() -> None:
    if not HAS_ENGINE:
        pytest.skip("textworld is not installed")
