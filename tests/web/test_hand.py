"""The page where people answer in the place of models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from naisei.models.providers.hand import Ask, Mailbox
from naisei.web.options import WebOptions
from servers.web_server import WebServer

FORM = {
    "type": "object",
    "properties": {
        "thought": {"type": "string", "description": "理由"},
        "choice": {"type": "string", "enum": ["ask", "act"], "description": "どちらか"},
        "action": {"type": "integer", "description": "番号"},
    },
}


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mailbox:
    monkeypatch.setenv("NAISEI_HAND", str(tmp_path / "hand"))
    box = Mailbox()
    told = ({"role": "system", "content": "規則<b>"}, {"role": "user", "content": "どうする？"})
    for n, form in enumerate((FORM, {})):
        box.put(
            Ask(
                id=f"{n}" * 16, who="aya", role="agent", at=f"i{n}#0 step 0", asked=n,
                pid=os.getpid(), messages=told, form=form,
            )
        )  # fmt: skip
    return box


@pytest.fixture
def options(tmp_path: Path) -> WebOptions:
    return WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")


def test_a_form_keeps_drafts_and_answers(box: Mailbox, options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert "i0#0" in client.get("/hand").text
        shown = client.get(f"/hand/{'0' * 16}").text
        assert "規則&lt;b&gt;" in shown and "理由" in shown and "<option" in shown
        begun = {"thought": "迷う", "choice": "", "action": ""}
        assert client.post(f"/hand/{'0' * 16}/draft", data=begun).status_code == 204
        assert "迷う" in client.get(f"/hand/{'0' * 16}").text
        assert "下書きあり" in client.get("/hand/waiting").text
        refused = client.post(f"/hand/{'0' * 16}", data=begun)
        assert refused.status_code == 422 and "choice" in refused.text
        whole = {"thought": "迷う", "choice": "act", "action": "3"}
        done = client.post(f"/hand/{'0' * 16}", data=whole)
        assert done.headers["hx-redirect"] == f"/hand/{'1' * 16}"
        assert box.taken("0" * 16) == '{"thought": "迷う", "choice": "act", "action": 3}'
        assert client.post(f"/hand/{'0' * 16}", data=whole).status_code == 410
        assert "回答" in client.get(f"/hand/{'1' * 16}").text
        assert client.post(f"/hand/{'1' * 16}", data={"text": " "}).status_code == 422


@pytest.mark.slow
def test_in_a_browser(box: Mailbox, options: WebOptions, browser: Any) -> None:
    with WebServer(options) as server, browser.page(server.url) as page:
        page.goto("/hand")
        page.get_by_role("link", name="i0#0").click()
        page.get_by_label("thought").fill("迷う")
        with page.expect_response("**/draft"):
            page.get_by_label("thought").press("End")
            page.get_by_label("thought").press_sequentially("が")
        page.reload()
        browser.expect(page.get_by_label("thought")).to_have_value("迷うが")
        page.get_by_label("choice").select_option("act")
        page.get_by_label("action").fill("3")
        browser.look(page, "hand")
        page.get_by_role("button", name="答える").click()
        page.wait_for_url(f"**/hand/{'1' * 16}")
        page.get_by_label("回答").fill("やろう")
        page.get_by_role("button", name="答える").click()
        browser.expect(page.get_by_text("待っている依頼はありません")).to_be_visible()
    assert box.taken("0" * 16) == '{"thought": "迷うが", "choice": "act", "action": 3}'
    assert box.taken("1" * 16) == "やろう"
