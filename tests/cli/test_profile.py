"""`naisei.toml`: who wins, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.cli.profile import defaults
from naisei.core import InputError

FILE = """
[defaults]
concurrency = 2
[defaults.clarify.run]
limit = 2
embedder = "ngram"
[profiles.guess.clarify.run]
agent = "random"
limit = 3
[profiles.misspelt.clarify.run]
limits = 3
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NAISEI_CONFIG", raising=False)
    (tmp_path / "naisei.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def _frozen(naisei: Naisei, place: Path, *args: str) -> dict[str, Any]:
    run = place / "run"
    code, _, err = naisei(*args, "-q", "--run-dir", run)
    assert code == 0, err
    config: dict[str, Any] = json.loads((run / "config.json").read_text("utf-8"))["config"]
    return config


def test_defaults_of_a_command(naisei: Naisei, place: Path) -> None:
    found = _frozen(naisei, place, "clarify", "run")
    assert (found["limit"], found["embedder"], found["agent"]) == (2, "ngram", "bayes")


def test_a_profile_and_the_command_line(
    naisei: Naisei, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_PROFILE", "guess")
    found = _frozen(naisei, place, "clarify", "run", "--limit", "1")
    assert (found["limit"], found["agent"]) == (1, "random")


@pytest.mark.parametrize(
    ("text", "profile", "told"),
    [
        (FILE, "nobody", "guess"),
        ("[defaults]\nquota = 1\n", None, "max_usd"),
        ("[default]\n", None, "profiles"),
        ("defaults = 1\n", None, "tables"),
        ("[defaults\n", None, "TOML"),
    ],
)
def test_what_is_wrong_is_told(
    text: str, profile: str | None, told: str, place: Path, english: Path
) -> None:
    (place / "naisei.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told) as error:
        defaults(profile)
    assert "naisei.toml" in error.value.place


def test_a_flag_that_a_command_has_not(naisei: Naisei, place: Path) -> None:
    code, _, err = naisei("--profile", "misspelt", "clarify", "run")
    assert code == 2 and "'limits'" in err and "clarify.run" in err


def test_no_file_no_defaults(naisei: Naisei, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAISEI_CONFIG", str(place / "gone.toml"))
    assert naisei("clarify", "run")[0] == 2
    (place / "naisei.toml").unlink()
    monkeypatch.delenv("NAISEI_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place))
    assert defaults(None) is None
    assert "--profile x" in naisei("--profile", "x", "runs", "list")[2]


def test_no_key_goes_to_an_address_of_the_file(
    naisei: Naisei, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`naisei.keys` sends keys to addresses in the command or the environment alone."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("NAISEI_FORBID_MODELS", raising=False)
    text = '[defaults]\nmodel = "openai:x"\nbase-url = "http://127.0.0.1:9/v1"\n'
    (place / "naisei.toml").write_text(text, encoding="utf-8")
    _, out, err = naisei("clarify", "run", "--agent", "llm", "--limit", "1", "-q")
    assert "OPENAI_API_KEY is not sent to http://127.0.0.1:9/v1" in out + err
