"""`naisei demo`: every system, at its place, in both languages; what fails keeps nobody from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len

from commandline import Naisei
from naisei.core import InputError
from servers.openai_server import OpenAIServer

SYSTEMS = ["clarify", "director", "relationship", "textgame", "intent", "emphasis"]


def broken(stage: object) -> None:
    raise InputError("no legs", place="stage", remedy="grow some")


def test_what_fails_is_told_and_the_rest_goes_on(
    naisei: Naisei, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("naisei.director.demo")
    monkeypatch.setattr(module, "PART", replace(module.PART, show=broken))
    done = naisei("demo", "director", "emphasis", "--run-dir", "demo")
    assert done.code == 2
    assert "stage: no legs" in done.err and "grow some" in done.err
    assert "Could not be shown: The director" in done.out
    assert "serve --runs demo" in done.out.splitlines()[-1]


def test_an_unknown_part_is_an_input_error(naisei: Naisei) -> None:
    done = naisei("demo", "cooking", "--run-dir", "demo")
    assert done.code == 2 and "clarify, director" in done.err
    assert not Path("demo").exists()


def test_japanese_data_are_announced_to_english_readers_only(
    naisei: Naisei, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Japanese data only" in naisei("emphasis", "demo", "--run-dir", "one").out
    monkeypatch.setenv("NAISEI_LANG", "ja")
    done = naisei("emphasis", "demo", "--run-dir", "two")
    assert "自動強調付与：" in done.out and "Japanese" not in done.out
    assert "ブラウザで見るには:" in done.out


def test_with_a_model_that_one_speaks(
    naisei: Naisei, openai_server: Callable[..., OpenAIServer]
) -> None:
    server = openai_server(lambda messages, schema: "えー、雨だよ。洗濯物どうしよっかな？")
    model = f"openai-compatible:m@{server.url}"
    done = naisei("demo", "director", "--model", model, "--run-dir", "demo")
    assert done.code == 0, done.err
    assert "from a script" not in done.out and "洗濯物どうしよっかな" in done.out
    config = json.loads(Path("demo/director/config.json").read_text("utf-8"))
    assert model in json.dumps(config, ensure_ascii=False)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["ja", "en"])
def test_all_of_it_fits_a_terminal_and_names_what_it_left(
    language: str, naisei: Naisei, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NAISEI_LANG", language)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NAISEI_CACHE", str(tmp_path / "cache"))
    done = naisei("demo", "--run-dir", "demo")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert max(map(cell_len, lines)) <= 80
    heads = [at for at, line in enumerate(lines) if line.endswith("──")]
    assert len(heads) == len(SYSTEMS) + 1
    assert max(b - a for a, b in pairwise(heads)) <= 36, "a screen each"
    pages = [line.split()[-1] for line in lines if line.endswith(".html")]
    assert len(pages) == len(SYSTEMS) and all(Path(page).is_file() for page in pages)
    listed = naisei("runs", "list", "demo", "--json")
    found = {row["system"] for row in listed.result}
    assert found == {*SYSTEMS} - {"emphasis"}
