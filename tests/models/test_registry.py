"""Names of models, mistakes in them, and providers from other packages."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from models.helpers import QUICK, perform
from naisei.core import InputError
from naisei.models.base import ModelSettings
from naisei.models.gateway import Gateway
from naisei.models.registry import Roles, open_model, open_roles
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("gpt-4", r"PROVIDER:NAME.*known providers: .*openai.*naisei\.providers"),
        ("opnai:gpt-4", r"unknown provider 'opnai'.*naisei\.providers"),
        ("", "PROVIDER:NAME"),
        ("openai:", "openai:NAME"),
        ("openai:gpt-4.1", "no API key.*OPENAI_API_KEY"),
        ("openai-compatible:m", "no base URL.*OPENAI_BASE_URL"),
        ("openai-compatible:@http://127.0.0.1:1/v1", "model name is missing"),
        ("openai-compatible:m@http://127.0.0.1:port/v1", "URL of an endpoint"),
        ("scripted:", "scripted:PATH"),
    ],
)
def test_a_name_that_cannot_be_opened_says_why(spec: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        open_model(spec)


@pytest.mark.parametrize(
    ("spec", "module", "variable"),
    [
        ("anthropic:claude", "anthropic", "ANTHROPIC_API_KEY"),
        ("google:gemini", "google.genai", "GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_names_the_variable(spec: str, module: str, variable: str) -> None:
    pytest.importorskip(module)
    with pytest.raises(InputError, match=rf"no API key.*{variable}"):
        open_model(spec)


@pytest.mark.parametrize(
    ("provider", "module", "extra"),
    [("anthropic", "anthropic", "anthropic"), ("google", "google.genai", "google")],
)
def test_a_missing_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, provider: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"pip install 'naisei\[{extra}\]'"):
        open_model(f"{provider}:x", ModelSettings(api_key="k"))


@pytest.mark.parametrize("provider", ["openai", "openai-compatible"])
def test_the_variables_are_honoured(
    monkeypatch: pytest.MonkeyPatch, openai_server: Start, provider: str
) -> None:
    server = openai_server()
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    roles = open_roles(f"{provider}:test")
    assert perform(Gateway(roles, patience=QUICK)).value == "了解です"
    assert "secret" not in repr(ModelSettings(api_key="secret"))


def test_a_base_url_variable_that_is_no_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "127.0.0.1:8000")
    with pytest.raises(InputError, match="OPENAI_BASE_URL"):
        open_model("openai-compatible:m")


def test_each_role_may_have_an_endpoint_of_its_own(openai_server: Start) -> None:
    one, other = openai_server(lambda m, s: "甲"), openai_server(lambda m, s: "乙")
    roles = open_roles(
        f"openai-compatible:a@{one.url}", {"simulator": f"openai-compatible:b@{other.url}"}
    )
    assert perform(Gateway(roles)).value == "甲"
    roles = open_roles(None, {"simulator": f"openai-compatible:b@{other.url}"})
    assert perform(Gateway(roles), role="simulator").value == "乙"
    assert other.requests[0]["model"] == "b"
    with pytest.raises(InputError, match="--judge-model"):
        roles.model("judge")


def test_roles_that_name_the_same_model_share_it(tmp_path: Path) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"reply": "はい"}\n', "utf-8")
    roles = open_roles(f"scripted:{script}", {"judge": f"scripted:{script}"})
    assert roles.model("judge") is roles.model("agent")
    assert len(roles.all()) == 1


def test_settings_validate_themselves() -> None:
    for wrong in (
        {"timeout": 0},
        {"concurrency": 0},
        {"requests_per_minute": -1},
        {"base_url": "nowhere"},
    ):
        with pytest.raises(InputError):
            ModelSettings(**wrong)  # type: ignore[arg-type]


PROVIDER = """
from naisei.models.base import ChatReply

class Echo:
    offline = True

    def __init__(self, name):
        self.name = f"echo:{name}"

    async def complete(self, request):
        return ChatReply(request.messages[-1].content, model=self.name)

    async def aclose(self):
        pass

def build(name, settings):
    return Echo(name)
"""


def _install(folder: Path, module: str, code: str | None, entry: str) -> None:
    """A distribution as pip would leave it, on a folder of the path."""
    if code is not None:
        (folder / f"{module}.py").write_text(code, "utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[naisei.providers]\n{entry}\n")


def test_a_provider_comes_from_outside_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, "echo_provider", PROVIDER, "echo = echo_provider:build")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    done = perform(Gateway(Roles(open_model("echo:me"))), "やまびこ")
    assert done.value == "やまびこ"
    assert done.usage is not None and done.usage.model == "echo:me"


def test_a_provider_that_does_not_load_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, "broken_provider", None, "broken = broken_provider:build")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    with pytest.raises(InputError, match=r"cannot be loaded.*broken_provider"):
        open_model("broken:x")


def test_endpoints_need_no_sdk() -> None:
    code = (
        "import sys\n"
        "sys.modules['openai'] = sys.modules['pydantic_ai'] = None\n"
        "from naisei.models.registry import open_model\n"
        "from naisei.models.embedders import open_embedder\n"
        "from naisei.models import check, gateway\n"
        "url = 'openai-compatible:m@http://127.0.0.1:9/v1'\n"
        "print(open_model(url).name == open_embedder(url).name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
