"""A stand-in for the games engine: a row of rooms with a coin at its end, and faults on demand.

It is loaded by real interpreter processes (`PYTHONPATH`). What they are asked is written to the
file `FAKE_LOG`; the files `GAME.crash-N`, `GAME.hang-N`, `GAME.mute-N` in the folder `FAKE_FAULTS`
make game GAME crash at its step N (once each; `always-crash-N` every time), hang, or offer no
command.
"""

import json
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace


def EnvInfos(**_):  # noqa: N802 (the engine's own name)
    return None


def start(path, _infos):
    world = json.loads(Path(path).with_suffix(".json").read_text())
    return _Game(Path(path).stem, world["length"])


class _Game:
    def __init__(self, name, length):
        self.name, self.length = name, length
        self.unwrapped = self

    def _gather_infos(self):
        """The real one asks for description and inventory here; they are told unasked."""

    def reset(self):
        self.at, self.most, self.steps = 0, 0, 0
        self._log("<start>")
        return self._state("Welcome to the fake game.")

    def step(self, command):
        self.steps += 1
        self._fault()
        time.sleep(float(os.environ.get("FAKE_DELAY", "0")))
        self._log(command)
        moves = {"go east": 1, "go west": -1}
        to = self.at + moves.get(command, 0)
        said = "Nothing happens."
        if command in moves and 0 <= to < self.length:
            self.at, said = to, f"-= Room {to} =-\nA room."
        self.most = max(self.most, self.at)
        state = self._state(said)
        return state, 0, state.won

    def _state(self, said):
        commands = ["look", *(["go west"] if self.at else [])]
        commands += ["go east"] if self.at < self.length - 1 else []
        if self._once("mute", self.steps):
            commands = []
        return SimpleNamespace(
            description=f"-= Room {self.at} =-\nA room.",
            inventory="You are carrying nothing.",
            admissible_commands=commands,
            feedback=said,
            score=self.most,
            max_score=self.length - 1,
            won=self.most == self.length - 1,
            lost=False,
        )

    def _fault(self):
        if self._once("crash", self.steps):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._once("hang", self.steps):
            time.sleep(3600)

    def _once(self, kind, step):
        faults = Path(os.environ.get("FAKE_FAULTS", "/nowhere"))
        if (faults / f"{self.name}.always-{kind}-{step}").exists():
            return True
        try:
            (faults / f"{self.name}.{kind}-{step}").unlink()
        except OSError:
            return False
        return True

    def _log(self, command):
        if "FAKE_LOG" in os.environ:
            with Path(os.environ["FAKE_LOG"]).open("a") as log:
                log.write(f"{self.name}\t{self.steps}\t{command}\n")
