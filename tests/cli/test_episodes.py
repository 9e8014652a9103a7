"""Episodes found by their text, and made instances of data sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.web.state import RECORDED


def test_all_runs_are_searched_and_it_is_said_which(tmp_path: Path, naisei: Naisei) -> None:
    found = naisei("runs", "search", "９０度前後", RECORDED, "--json")
    hits = [json.loads(line) for line in found.out.splitlines()]
    assert hits and {Path(hit["run"]).name for hit in hits} == {"emphasis"}
    assert all("90度前後" in hit["excerpt"] for hit in hits) and "6" in found.err
    told, more = (
        naisei("runs", "search", "JSON", RECORDED, *flag) for flag in ((), ("--prompts",))
    )
    assert len(told.out.splitlines()) < len(more.out.splitlines())
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{", "utf-8")
    (tmp_path / "one").symlink_to(RECORDED / "clarify")
    assert "broken" in naisei("runs", "search", "コップ", tmp_path).err
    assert naisei("runs", "search", "コップ", tmp_path / "nowhere").code == 2


@pytest.mark.parametrize(
    ("system", "form"), [("clarify", "ambigact40-open"), ("director", "director-lines/natural")]
)
def test_an_episode_becomes_an_instance(
    tmp_path: Path, naisei: Naisei, system: str, form: str
) -> None:
    results = (RECORDED / system / "results.jsonl").read_text("utf-8").splitlines()
    first = json.loads(results[0])
    episode, to = f"{first['instance']}#{first['trial']}", tmp_path / "kept.jsonl"
    words = ["runs", "keep", RECORDED / system, "--episode", episode, "--to", to]
    assert naisei(*words).code == 0
    assert naisei("data", "validate", to, "--as", form).code == 0
    before = to.read_bytes()
    # The same once more, and what the form does not know.
    for more in ((), ("--set", "id=other", "--set", "colour=red")):
        assert naisei(*words, *more).code == 2 and to.read_bytes() == before


def test_what_is_no_instance_is_refused(tmp_path: Path, naisei: Naisei) -> None:
    words = ["--episode", "engineers#1", "--to", tmp_path / "kept.jsonl"]
    assert naisei("runs", "keep", RECORDED / "relationship", *words).code == 2
    assert not (tmp_path / "kept.jsonl").exists()


def test_one_chart_over_runs_pools_what_differs_in_the_seed_alone(
    tmp_path: Path, naisei: Naisei
) -> None:
    run = ["clarify", "run", "--agent", "bayes", "--limit", "6", "--trials", "1", "--quiet"]
    for quota in ("0", "1"):
        for seed in ("0", "1"):
            to = ["--quota", quota, "--seed", seed, "--run-dir", tmp_path / f"q{quota}s{seed}"]
            assert naisei(*run, *to).code == 0
    runs, to = sorted(tmp_path.iterdir()), tmp_path / "chart.svg"
    done = naisei("runs", "chart", *runs, "--metric", "pass@1", "-o", to, "--json")
    rows = done.result["rows"]
    assert [(row["rules.quota"], row["seeds"], row["n"]) for row in rows] == [(0, 2, 6), (1, 2, 6)]
    assert to.read_text("utf-8").startswith("<svg xmlns")
    by_seed = naisei("runs", "chart", *runs, "--metric", "pass@1", "--x", "seed", "--json").result
    means = [row["pass@1"] for row in by_seed["rows"] if row["configuration"].endswith("0")]
    assert sum(means) / 2 == pytest.approx(rows[0]["pass@1"])
    for wrong in (["--x", "nothing"], ["--metric", "nothing"], ["-o", tmp_path / "chart.bmp"]):
        assert naisei("runs", "chart", *runs, *wrong).code == 2
    assert naisei("runs", "chart", runs[0]).code == 2
