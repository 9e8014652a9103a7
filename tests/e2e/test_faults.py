"""A fifth of the answers spoilt: every instance is scored, and not one figure changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commandline import Naisei
from e2e.helpers import brain, rows, run_flags, write_rows
from servers.faults import KINDS, Faults
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]

SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4, 5))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_faulty_run_equals_a_clean_one(
    openai_server: Serve, naisei: Naisei, tmp_path: Path, seed: int
) -> None:
    data = write_rows(tmp_path / "data.jsonl", rows(30))
    clean = openai_server(brain)
    # A busy machine is slow by itself: requests that are given up before they come are not counted.
    timed = seed > 1
    kinds = (*KINDS, "trickle") if timed else tuple(kind for kind in KINDS if kind != "slow")
    spoilt = openai_server(brain, faults=Faults(rate=0.2, kinds=kinds, seed=seed, slow_s=1.5))
    flags = ["--concurrency", "64", "--timeout", "1" if timed else "120"]
    good = naisei(*run_flags(data, clean.url, tmp_path / "good"), *flags)
    bad = naisei(*run_flags(data, spoilt.url, tmp_path / "bad"), *flags)

    assert (good.code, bad.code) == (0, 0), bad.err
    assert len(spoilt.met) > 6 and sum(spoilt.met.values()) > 0.1 * spoilt.calls
    assert bad.result["n"] == 30 and bad.result["n_unscored"] == 0
    for part in ("metrics", "intervals", "n", "n_unscored", "n_pending"):
        assert bad.result[part] == good.result[part], part
    results = [(tmp_path / name / "results.jsonl").read_bytes() for name in ("good", "bad")]
    assert results[0] == results[1]

    roles = bad.result["tokens"]
    assert set(roles) == {"agent", "reflector", "simulator"}
    attempts = sum(role["attempts"] for role in roles.values())
    assert attempts >= spoilt.calls if timed else attempts == spoilt.calls
    assert all(role["attempts"] > role["calls"] for role in roles.values())
    paid = sum(role["total"] - role["lost"] for role in roles.values())
    assert paid == sum(role["total"] for role in good.result["tokens"].values())


@pytest.mark.parametrize("kind", ["429-after", "cut", "truncated"])
def test_a_fault_at_every_first_try(
    openai_server: Serve, naisei: Naisei, tmp_path: Path, kind: str
) -> None:
    data = write_rows(tmp_path / "data.jsonl", rows(3))
    server = openai_server(brain, faults=Faults(rate=1, kinds=(kind,), most=1))
    flags = run_flags(data, server.url, tmp_path / "run", trials=1)
    done = naisei(*flags, "--timeout", "120")
    assert done.code == 0 and (done.result["n"], done.result["n_unscored"]) == (3, 0)
    spent = done.result["tokens"]["agent"]
    assert spent["attempts"] == 2 * spent["calls"]


def test_what_never_answers_is_unscored_and_tried_again_by_the_same_command(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    data = write_rows(tmp_path / "data.jsonl", rows(4))
    down = {"error": {"message": "maximum context length exceeded"}}
    ill = True

    def respond(body: dict[str, object]) -> tuple[int, dict[str, str], object] | None:
        return (400, {}, down) if ill and "2件目" in str(body["messages"]) else None

    server = openai_server(brain, respond=respond)
    flags = run_flags(data, server.url, tmp_path / "run")
    done = naisei(*flags)
    assert done.code == 0 and (done.result["n"], done.result["n_unscored"]) == (3, 1)
    assert "1 of 4" in done.err
    assert "context length" in (tmp_path / "run/report.html").read_text(encoding="utf-8")

    ill, before = False, server.calls
    again = naisei(*flags)
    assert (again.result["n"], again.result["n_unscored"]) == (4, 0)
    mine = server.requests[before:]
    assert mine and all("2件目" in str(request["messages"]) for request in mine)
