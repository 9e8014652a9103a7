"""People read episodes and labels: what they say is kept, agrees or not, and goes out as files."""

from __future__ import annotations

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.runs.annotations import (
    FILE,
    Annotation,
    agreement,
    agreements,
    instances,
    labels,
    read_annotations,
    rubrics,
    shuffled,
    written_on,
)
from naisei.web.state import RECORDED
from servers.web_server import WebServer


def said(reader: str, unit: str, **answers: tuple[str, ...]) -> Annotation:
    return Annotation(reader=reader, rubric="asked-and-acted", unit=unit, answers=answers)


def test_the_last_word_of_each_reader_counts_and_none_is_lost(tmp_path: Path) -> None:
    def write(n: int) -> None:
        said(f"r{n % 4}", f"u{n // 4}", act=("right" if n % 3 else "wrong",)).add(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(80)))
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write('{"reader": "r0", "uni')
    assert len(read_annotations(tmp_path)) == 80
    said("r0", "u0", act=("part",)).add(tmp_path)
    kept = {(a.reader, a.unit): a for a in read_annotations(tmp_path)}
    assert len(kept) == 80 and kept["r0", "u0"].answers == {"act": ("part",)}


def test_what_cannot_be_read_is_no_silence(tmp_path: Path) -> None:
    assert read_annotations(tmp_path) == []
    file = tmp_path / "annotations.jsonl"
    file.write_text('{"reader": "a", "note": "x"}\n{"reader": "b", "no', encoding="utf-8")
    assert [each.reader for each in read_annotations(tmp_path)] == ["a"]
    file.write_text('{"reader": "a"}\n[1, 2]\n', encoding="utf-8")
    with pytest.raises(InputError) as told:
        read_annotations(tmp_path)
    assert told.value.place == f"{file}:2"
    file.unlink()
    file.mkdir()
    with pytest.raises(InputError):
        read_annotations(tmp_path)


def test_labels_of_ambigact40_are_read_against_themselves() -> None:
    rows = instances("ambigact40-hard")
    rubric = rubrics()["plausible-actions"]
    told = labels(rubric, rows)
    again = [a.model_copy(update={"reader": "somebody"}) for a in told]
    table = agreement(rubric, [*told, *again])
    assert [(row[0], row[3], row[4], row[-1]) for row in table.rows] == [
        ("plausible", 1.0, 1.0, 280),
        ("gold", 1.0, 1.0, 280),
    ]
    assert sorted(shuffled([*rows])) == sorted(rows) and shuffled([*rows]) != [*rows]
    assert set(rubric.shows).isdisjoint(q.name for q in rubric.questions)


def test_two_read_a_run_and_their_readings_go_out(server: WebServer, tmp_path: Path) -> None:
    address = "/runs/annotate/~clarify"
    with server.visitor() as client:
        for reader, act in (("花子", "right"), ("Ken", "right")):
            where = f"{address}?reader={reader}&rubric=asked-and-acted"
            while 'name="e"' in (page := client.get(where).text):
                unit = page.partition('name="e" value="')[2].partition('"')[0]
                given = {"question": "needed", "act": act, "note": "見た", "next": "1"}
                given |= {"rubric": "asked-and-acted", "reader": reader, "e": unit}
                answer = client.post(address, data=given)
                query = parse_qs(urlsplit(answer.headers["hx-redirect"]).query)
                assert answer.status_code == 204 and query["reader"] == [reader]
        assert client.post(address, data={"rubric": "thumb", "e": "no"}).status_code == 404
        nothing = {**given, "note": "", "question": "", "act": "none of them"}
        for bad in (nothing, {**given, "reader": "data"}, {**given, "reader": "x" * 41}):
            assert client.post(address, data=bad).status_code == 422
        table = list(csv.DictReader(io.StringIO(client.get(f"{address}?as=csv").text)))
        lines = client.get(f"{address}?as=jsonl").text.splitlines()
        assert "花子" in client.get(address).text
    folder = tmp_path / "runs" / "annotations" / "clarify"
    assert [json.loads(line)["unit"] for line in lines] == [row["unit"] for row in table]
    assert {row["reader"] for row in table} == {"花子", "Ken"} and table[0]["note"] == "見た"
    tables = agreements(folder, [a for a in read_annotations(folder) if a.unit])
    assert {row[-1] for t in tables for row in t.rows} == {len(lines) // 4}


def test_a_thumb_stands_on_an_episode_and_not_on_its_run(server: WebServer, tmp_path: Path) -> None:
    episode = "a002-1#0"
    with server.visitor() as client:
        page = client.get("/runs/show/~clarify").text
        episode = page.partition("/runs/episode/~clarify?e=")[2].partition('"')[0]
        unit = episode.replace("%23", "#")
        address, shown = "/runs/annotate/~clarify", f"/runs/episode/~clarify?e={episode}"
        for thumb in ("good", "bad"):
            given = {"rubric": "thumb", "e": unit, "thumb": thumb, "note": f"note {thumb}"}
            kept = client.post(address, data=given).text
        for page in (kept, client.get(shown).text):
            assert 'value="note bad"' in page and 'value="bad" aria-pressed="true"' in page
        assert 'role="status"' in kept and "note good" not in page
        with server.visitor() as other:  # sees it, and does not overwrite it
            page = other.get(shown).text
            assert "note bad" in page and 'aria-pressed="true"' not in page
            other.post(address, data={**given, "note": "note other"})
        page = client.get(shown).text
        assert 'value="note bad"' in page and "note other" in page
    folder = tmp_path / "runs" / "annotations" / "clarify"
    found = written_on(folder, unit, "thumb")
    assert [a.note for a in found.values()] == ["note bad", "note other"]
    assert written_on(folder) == {}
    assert not (RECORDED / "clarify" / FILE).exists()


def test_a_rubric_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "rubrics").mkdir()
    own = tmp_path / "rubrics" / "tone.toml"
    own.write_text(
        'title = ["口調", "Tone"]\n[[questions]]\nname = "tone"\ntitle = ["口調は", "Tone"]\n'
        'options = [["ok", "合う", "fits"], ["off", "合わない", "does not fit"]]\n',
        encoding="utf-8",
    )
    assert rubrics(tmp_path)["tone"].questions[0].name == "tone"
    own.write_text("title = 3", encoding="utf-8")
    with pytest.raises(InputError) as told:
        rubrics(tmp_path)
    assert "tone.toml" in str(told.value.place)


def test_chosen_runs_and_studies_are_one_chart(
    server: WebServer, tmp_path: Path, naisei: Naisei
) -> None:
    words = ["clarify", "run", "--agent", "bayes", "--limit", "4", "--trials", "1", "--quiet"]
    for quota in ("0", "1"):
        to = tmp_path / "runs" / "study" / f"q{quota}"
        assert naisei(*words, "--quota", quota, "--run-dir", to).code == 0
    with server.client() as client:
        page = client.get("/runs/chart?run=study").text
        assert '<svg class="chart"' in page and "rules.quota" in page
        given = client.get("/runs/chart?run=study&as=svg&metric=pass@1")
        assert given.headers["content-type"].startswith("image/svg+xml")
        rows = list(csv.DictReader(io.StringIO(client.get("/runs/chart?run=study&as=csv").text)))
        assert [row["rules.quota"] for row in rows] == ["0", "1"]
        assert 'class="notice"' in client.get("/runs/chart?run=study/q0").text
        assert client.get("/runs/chart?run=study/q0&as=svg").status_code == 422
        assert 'role="region"' in client.get("/runs/compare?run=study").text
