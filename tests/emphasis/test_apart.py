"""Documents read in a process of their own are what they are when read here."""

from __future__ import annotations

import io
import json

import docx
import pytest

from naisei.core import InputError
from naisei.emphasis.corpus import apart
from naisei.emphasis.corpus.apart import answered, read_apart
from naisei.emphasis.corpus.read import Format, read_bytes
from retrieval.test_sandbox import with_body

_MARKDOWN = (
    "# 題\n\n旅費は **3日以内** に、`code` で A&amp;B を申請する。\n\n## 章\n\n**必ず読むこと。**\n"
)
_HTML = (
    "<title>題</title><h1>題</h1><p>旅費は<b>3日</b>以内に&amp;<code>x</code>。\n二行目。<p>終わり"
)


def _word() -> bytes:
    made, out = docx.Document(), io.BytesIO()
    made.add_heading("題", 1)
    made.add_paragraph("旅費は").add_run("3日以内").bold = True
    made.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (_MARKDOWN.encode(), "markdown"),
        (_MARKDOWN.encode("shift_jis"), "markdown"),
        (_HTML.encode("utf-8-sig"), "html"),
        (_word(), "docx"),
    ],
)
def test_a_document_is_the_same_apart(
    data: bytes, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "SMALL_FILE", 0)
    monkeypatch.setattr(apart, "Sandbox", _Here)
    assert read_apart(data, kind, name="a") == read_bytes(data, kind, name="a")


class _Here:
    """In this process, by way of JSON."""

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def call(self, function: str, options: dict[str, str], data: bytes) -> object:
        assert function == f"{answered.__module__}:{answered.__name__}"
        return json.loads(json.dumps(answered(data, options)))


def test_a_hostile_or_broken_file_is_one_message() -> None:
    deep = with_body(b"<w:tbl><w:tr><w:tc>" * 3_000)
    for data in (deep, b"PK"):
        with pytest.raises(InputError) as caught:
            read_apart(data, "docx", name="a.docx")
        assert caught.value.place == "a.docx"
    assert read_apart(_word(), "docx").parsed.blocks
