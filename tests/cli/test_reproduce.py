"""`naisei reproduce`: a source's tables beside ours, the same bytes after two kills."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from commandline import Naisei, Start
from naisei.cli.reproduction import Reproduction
from naisei.cli.sources import NAMES, read_source
from naisei.emphasis.corpus.store import load_corpus
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]


def check_latex(text: str) -> int:
    """Braces and environments are closed in order, nothing special is bare, and every row of a
    table has its columns; returns how many rows there are."""
    bare = re.sub(r"\\[\\&%$#_{}]", "", text)
    assert bare.count("{") == bare.count("}")
    opened: list[str] = []
    rows = 0
    for kind, name, columns in re.findall(r"\\(begin|end)\{(\w+\*?)\}(?:\{([lr]+)\})?", text):
        if kind == "end":
            assert opened.pop() == name
            continue
        opened.append(name)
        if name == "tabular":
            body = text.partition(f"{{{columns}}}")[2].partition(r"\end{tabular}")[0]
            for row in body.split("\n"):
                if row.endswith(r"\\"):
                    rows += 1
                    assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1
                    assert not re.search(r"(?<!\\)[%#_]", row)
    assert not opened
    return rows


@pytest.mark.parametrize("name", NAMES)
def test_every_source_declares_what_its_commands_know(name: str) -> None:
    source = read_source(name)
    assert source.tables
    for table in source.tables:
        assert table.figure in ("", *(column.head for column in table.columns))
        for row in table.rows:
            assert len(row.paper) <= len(table.columns)
            # A row that is the source's alone: the table says why.
            assert row.ours or table.why[0] or name == "r-clarify", (table.name, row.name)
            assert not row.ours or (row.study or table.study) in source.studies
    for runs in source.studies.values():
        assert set(re.findall(r"\{(\w+)\}", runs.command)) == set(runs.needs)


def test_two_kills_leave_the_same_bytes(
    openai_server: Serve, naisei: Naisei, start: Start, tmp_path: Path
) -> None:
    words = ("reproduce", "r-clarify", "--model", "openai:toy", "--limit", "2", "-q", "-o")

    def env(server: OpenAIServer) -> dict[str, str]:
        return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}

    whole = openai_server()
    assert naisei(*words, "whole", **env(whole)).code == 0
    for calls in (2, 4):
        held = openai_server(holds=calls)
        process = start(*words, "killed", **env(held))
        held.reached(calls + 1, process)
        process.kill()
        process.wait()
    again = openai_server()
    assert naisei(*words, "killed", **env(again)).code == 0
    assert again.answered < whole.answered
    made = {p.name for p in Path("whole").iterdir() if p.is_file()}
    for number in (1, 2, 3):
        assert {f"table-{number}.{e}" for e in ("tex", "md", "csv")} <= made
        assert check_latex(Path("whole", f"table-{number}.tex").read_text("utf-8")) > 4
    check_latex(Path("whole/all.tex").read_text("utf-8"))
    assert {"table-1.svg", "caption.md", "references.bib"} <= made
    for name in made:
        ours, theirs = Path("whole", name).read_bytes(), Path("killed", name).read_bytes()
        assert ours.replace(b"-o whole", b"") == theirs.replace(b"-o killed", b""), name
    caption = Path("whole/caption.md").read_text("utf-8")
    assert "openai:toy" in caption and "@misc" in caption and "alpha" in caption
    assert "66.97" in Path("whole/table-2.md").read_text("utf-8")


def test_what_is_missing_is_named(naisei: Naisei) -> None:
    code, _, err = naisei("reproduce", "r-clarify")
    assert code == 2 and "--model" in err
    code, _, err = naisei("reproduce", "thesis")
    assert code == 2 and "--input twc" in err and "--input corpus" in err
    code, _, err = naisei("reproduce", "r-clarity")
    assert code == 2 and "r-clarify" in err


def test_seeds_share_their_instances_and_are_pooled(naisei: Naisei) -> None:
    run = ("clarify", "run", "--limit", "4", "--trials", "1", "-q", "--run-dir", "study")
    agents = ("--agent", "random", "--agent", "embed", "--embedder", "ngram")
    done = naisei(*run, *agents, "--seed", "0", "--seed", "1", "--json")
    assert done.code == 0 and set(done.result["runs"]) == {
        f"{agent} seed={seed}" for agent in ("random", "embed") for seed in (0, 1)
    }
    ids = {
        tuple(sorted(json.loads(line)["instance"] for line in out.splitlines()))
        for place in Path("study").iterdir()
        if place.is_dir() and (out := naisei("runs", "export", place, "--format", "jsonl").out)
    }
    assert len(ids) == 1
    rows = naisei("runs", "compare", "study", "--json").result["differences"]
    table = list(csv.DictReader(io.StringIO(Path("study/table-1.csv").read_text("utf-8"))))
    assert rows and {row["seeds"] for row in table} == {"2"}
    told = json.loads(Path("study/study.json").read_text("utf-8"))["conditions"]
    assert (told["seed"], told["limit"]) == ("0, 1", "4")
    assert {"digest of the data", "quota", "repeats", "simulator", "beta"} <= told.keys()
    assert Path("study/conditions.csv").is_file() and Path("study/study.svg").is_file()
    compared = naisei("runs", "compare", "study", "--json").result["differences"]
    assert {line["first"] for line in compared} == {"random seed=0"}


def test_own_prompts_stand_in_and_are_told_apart(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    server = openai_server(keep=True)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "agent.ja.md").write_text("自分の指示 $actions", encoding="utf-8")
    run = ("clarify", "run", "--limit", "1", "--trials", "1", "-q", "--json", "--model")
    env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
    plain = naisei(*run, "openai:toy", **env).result["run_dir"]
    first = naisei(*run, "openai:toy", "--prompts", mine, **env).result["run_dir"]
    assert "自分の指示" in json.dumps(server.requests[-1], ensure_ascii=False)
    (mine / "agent.ja.md").write_text("自分の別の指示 $actions", encoding="utf-8")
    second = naisei(*run, "openai:toy", "--prompts", mine, **env).result["run_dir"]
    assert len({plain, first, second}) == 3
    (mine / "agent.ja.md").write_text("$nothing", encoding="utf-8")
    code, _, err = naisei(*run, "openai:toy", "--prompts", mine, **env)
    assert code == 2 and "$nothing" in err and "agent.ja.md" in err
    (mine / "agent.ja.md").rename(mine / "agnet.ja.md")
    code, _, err = naisei(*run, "openai:toy", "--prompts", mine, **env)
    assert code == 2 and "agnet" in err


def test_markings_of_people_are_rows_each_and_their_mean(naisei: Naisei, tmp_path: Path) -> None:
    articles = files("naisei") / "data" / "emphasis_articles"
    assert naisei("emphasis", "corpus", "--from", articles, "--out", "corpus.jsonl").code == 0
    corpus = load_corpus(Path("corpus.jsonl"))
    first = corpus[:10]
    # One marks what is bold, one the first word of each sentence; a third nothing but one word.
    exact = [
        ("ana", a.id, s.index, t.start - s.tokens[0].start, t.end - s.tokens[0].start)
        for a in first
        for s in a.sentences
        for t in s.tokens
        if t.label
    ]
    starts = [("ben", a.id, s.index, 0, 1) for a in first for s in a.sentences]
    heads = ("person", "document", "sentence", "start", "end")
    Path("ana.csv").write_text(
        "\n".join(",".join(map(str, row)) for row in (heads, *exact)), encoding="utf-8"
    )
    Path("ben.jsonl").write_text(
        "".join(json.dumps(dict(zip(heads, row, strict=True))) + "\n" for row in starts), "utf-8"
    )
    thesis = read_source("thesis")
    (table,) = (t for t in thesis.tables if t.name == "table-4-2")
    own = thesis.model_copy(update={"studies": {"people": thesis.studies["people"]}})
    inputs = {"corpus": "corpus.jsonl", "people": "ana.csv,ben.jsonl"}
    bench = Reproduction(own, Path("out"), [], [0], inputs, ("-q",))
    bench.carry_out()
    ours = {row[0]: row for row in bench.table(table).rows if row[1] != "paper" and row[-1] == 10}
    assert ours["person 1"][2:9:3] == (1.0, 1.0, 1.0)
    assert 0 < ours["person 2"][8] < 0.5
    assert ours["people, mean"][8] == pytest.approx((1 + ours["person 2"][8]) / 2, abs=2e-3)
    Path("ben.jsonl").write_text('{"person": "ben"}\n', "utf-8")
    told = naisei("emphasis", "eval", "corpus.jsonl", "--tagger", "people:marks=ben.jsonl")
    assert told.code == 2 and "ben.jsonl:1" in told.err and "document" in told.err
