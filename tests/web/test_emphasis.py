"""The emphasis page: a heat map, the marked document, and nothing that is run."""

from __future__ import annotations

import re
from html import unescape

from naisei.web.options import WebOptions
from servers.web_server import WebServer

TEXT = (
    "# しみ抜きの手順\n\n**すぐに水で流す**ことが何より大切です。こすってはいけません。"
    "<img src=x onerror=alert>\n\n時間がたつと落ちにくくなるので、早めに洗いましょう。\n"
)


def test_a_pasted_text_comes_back_with_a_heat_map_and_marks(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert "強調案を出す" in client.get("/emphasis").text
        given = {"text": TEXT, "max_share": "0.5"}
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
        for bad in ({"text": ""}, *({"text": "あ", "max_share": n} for n in ("2", "nan"))):
            assert client.post("/emphasis/tag", data=bad).status_code == 422
        long = client.post("/emphasis/tag", data={"text": "あ" * 110_000})
        assert long.status_code == 413
        assert list((options.state / "visitors").glob("*/*")) == []


def test_suggestions_are_reviewed_one_by_one(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        given = {"max_share": "1"}
        first, last = "絶対にお湯を使ってはいけません", "決して火に近づけないでください"
        text = f"# 題\n\n{first}。後は待ちます。\n\n布でふきます。{last}。\n"
        page = f"<title>題</title><p>{first}。後は待ちます。<p>布でふきます。{last}。".encode(
            "cp932"
        )
        for answer in (
            client.post("/emphasis/tag", data={**given, "text": text}),
            client.post("/emphasis/tag", data=given, files={"file": ("a.html", page, "text/html")}),
        ):
            form = answer.text.split("data-review", 1)[1].split("</form>")[0]
            boxes = re.findall(r'name="keep" value="(\d+)" checked', form)
            assert boxes == ["0", "1"]
            hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
            body = unescape(form.split("hidden>\n", 1)[1].split("</textarea>")[0])
            again = client.post("/emphasis/tag", data={**hidden, "text": body, "keep": ["1"]})
            found = unescape(again.text.split('<pre id="marked"')[1])
            before, marked, *_ = re.split(r"\*\*|<strong>", found)
            assert first in before and marked.startswith(last)
            assert re.findall(r'name="keep" value="(\d+)" checked', again.text) == ["1"]
            none = client.post("/emphasis/tag", data={**hidden, "text": body})
            assert not re.search(r"\*\*|<strong>", none.text.split('<pre id="marked"')[1])


def test_the_page_says_why_nothing_is_suggested(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        for text, why in (("# T\n\nAlways wear a helmet.", "日本語"), ("晴れです。", "短く")):
            found = client.post("/emphasis/tag", data={"text": text, "max_share": "0.2"}).text
            assert why in found.partition('role="status"')[2].partition("</p>")[0]
