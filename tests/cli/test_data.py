"""`naisei data`: every bundled data set has the form that it says, and comes back as it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.data_sets import Rows, catalogue, export, load_exported, validate

NAMES = [*catalogue()]


def _plain(rows: Rows) -> Rows:
    return [{k: v for k, v in row.items() if v is not None} for row in rows]


def test_list_and_show(naisei: Naisei) -> None:
    listed = json.loads(naisei("data", "list", "--json")[1])
    assert [each["name"] for each in listed] == NAMES and len(NAMES) >= 10
    rows = listed[0]["rows"]["ja"]
    assert rows == {"train": 117, "dev": 107, "test": 321}
    _, out, _ = naisei("data", "show", "ambigact40-open")
    assert "test 321" in out and "utterance" in out and "# ambigact40-open" in out
    code, _, err = naisei("data", "show", "ambigact")
    assert code == 2 and "ambigact40-hard" in err


@pytest.mark.parametrize("name", NAMES)
def test_bundled_rows_are_valid(name: str, naisei: Naisei) -> None:
    assert naisei("data", "validate", name)[1] == "valid\n"


@pytest.mark.parametrize("name", NAMES)
def test_an_export_reads_back(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    data = catalogue()[name]
    export(data, tmp_path / "out")
    back = load_exported(tmp_path / "out")
    for config in data.configs:
        for split, rows in config.splits().items():
            assert _plain(back[config.name][split]) == _plain(rows)
    head = (tmp_path / "out" / "README.md").read_text("utf-8").split("---")[1]
    assert f'license: "{data.licence}"' in head and '"default": true' in head
    with pytest.raises(InputError, match="empty folder"):
        export(data, tmp_path / "out")


def test_faults_are_told_by_line(tmp_path: Path, naisei: Naisei) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text('{"id": "a", "kind": "clear", "text": "?", "split": "dev"}\n{"id": 1}\n')
    form = catalogue()["city-questions"].configs[0].form()
    faults = validate(mine, form)
    assert faults and all(fault.startswith(f"{mine}:2: ") for fault in faults)
    code, _, err = naisei("data", "validate", mine, "--as", "city-questions")
    assert code == 2 and "mine.jsonl:2" in err
    assert "--as NAME" in naisei("data", "validate", mine)[2]
    mine.write_text("[]\n")
    assert naisei("data", "validate", mine, "--as", "city-questions")[0] == 2


def test_jsonl_needs_no_other_library(tmp_path: Path) -> None:
    data = catalogue()["city-questions"]
    export(data, tmp_path / "out", "jsonl")
    assert load_exported(tmp_path / "out")["default"] == data.configs[0].splits()


@pytest.mark.slow
def test_hugging_face_opens_an_export(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    export(catalogue()["ambigact40-hard"], tmp_path / "out")
    script = (
        "import datasets, sys; d = datasets.load_dataset(sys.argv[1], 'en');"
        "print({k: v.num_rows for k, v in d.items()}, d['dev'][0]['surroundings'][0].keys())"
    )
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    call = [sys.executable, "-c", script, str(tmp_path / "out")]
    done = subprocess.run(call, env=offline, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{'dev': 101, 'test': 179} dict_keys(['key', 'value'])"), done
