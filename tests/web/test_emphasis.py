"""The emphasis page: a heat map, the marked document, and nothing that is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer


@pytest.fixture
def options(tmp_path: Path) -> WebOptions:
    return WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")


TEXT = (
    "# しみ抜きの手順\n\n**すぐに水で流す**ことが何より大切です。こすってはいけません。"
    "<img src=x onerror=alert>\n\n時間がたつと落ちにくくなるので、早めに洗いましょう。\n"
)


def test_a_pasted_text_comes_back_with_a_heat_map_and_marks(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert "強調案を出す" in client.get("/emphasis").text
        given = {"text": TEXT, "max_share": "0.5", "threshold": "0.1"}
        found = client.post("/emphasis/tag", data=given)
        assert found.status_code == 200
        assert "しみ抜きの手順" in found.text and 'class="heat-' in found.text
        assert "<img" not in found.text and "&lt;img" in found.text
        none = client.post("/emphasis/tag", data={**given, "max_share": "0"})
        assert 'class="heat-0 chosen"' not in none.text


def test_files_and_what_cannot_be_used(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        page = "<title>題</title><p>大切なのは<b>早さ</b>です。後は待つだけ。</p>".encode(
            "shift_jis"
        )
        found = client.post("/emphasis/tag", files={"file": ("a.html", page, "text/html")})
        assert found.status_code == 200 and "&lt;b&gt;早さ&lt;/b&gt;" in found.text
        for files in ({"file": ("a.exe", b"MZ", "x/y")}, {"file": ("a.docx", b"PK", "x/y")}):
            assert client.post("/emphasis/tag", files=files).status_code in (415, 422)
        for bad in (
            {"text": ""},
            {"text": "あ", "max_share": "2"},
            {"text": "あ", "threshold": "nan"},
            {"text": "あ", "tagger": "/etc/passwd"},
        ):
            assert client.post("/emphasis/tag", data=bad).status_code == 422
        long = client.post("/emphasis/tag", data={"text": "あ" * 110_000})
        assert long.status_code == 413
        assert list((options.state / "visitors").glob("*/*")) == []
