"""Files made to end their parser: one message each, and the next file is read."""

from __future__ import annotations

import io
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import docx
import pytest

from naisei.retrieval.load import parsed, parsed_apart
from naisei.retrieval.types import LIMITS, Unreadable
from naisei.sandbox import ParserStopped, Sandbox
from retrieval.pdf_file import pdf, show


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seconds=2) as sandbox:
        yield sandbox


def hold(data: bytes, options: dict[str, Any]) -> int:
    """Called in the sandbox: what a hostile file might make a parser do."""
    match options["do"]:
        case "loop":
            while True:
                pass
        case "eat":
            return len([bytes(1_000_000) for _ in range(2_000)])
        case "talk":
            return "あ" * 1_000_000  # type: ignore[return-value]
        case "die":
            os.abort()
        case "keys":
            return int("SECRET_KEY" in os.environ)
    return len(data)


@pytest.mark.parametrize(
    ("do", "said"),
    [("loop", "more than 0.2 s"), ("eat", "memory"), ("talk", "over 1 MB"), ("die", "crash")],
)
def test_each_limit_is_one_message(do: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("SECRET_KEY", "x")
    where = "retrieval.test_sandbox:hold"
    with Sandbox(seconds=0.2, output=1_000_000) as sandbox:
        with pytest.raises(ParserStopped, match=said):
            sandbox.call(where, {"do": do}, b"")
        sandbox.seconds = 10
        assert sandbox.call(where, {"do": "nothing"}, b"abc") == 3
        assert sandbox.call(where, {"do": "keys"}, b"") == 0


def with_body(body: bytes) -> bytes:
    """A Word document with this at the beginning of its body."""
    plain, out = io.BytesIO(), io.BytesIO()
    docx.Document().save(plain)
    with zipfile.ZipFile(plain) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for part in given.infolist():
            data = given.read(part)
            if part.filename == "word/document.xml":
                data = data.replace(b"<w:body>", b"<w:body>" + body)
            made.writestr(part.filename, data)
    return out.getvalue()


def _object(head: bytes, data: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (head, len(data), data)


def _file(content: bytes, *others: bytes) -> bytes:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /XObject << /X 5 0 R >> >> >>",
        content,
        *others,
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer << /Root 1 0 R >>\n%%EOF"


def nested_forms() -> bytes:
    """Each draws the next twice."""
    forms = [
        _object(
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] "
            b"/Resources << /XObject << /X %d 0 R >> >>" % (6 + n),
            b"/X Do /X Do",
        )
        for n in range(25)
    ]
    return _file(_object(b"", b"/X Do"), *forms)


def chained_flate() -> bytes:
    data = bytes(100_000_000)
    for _ in range(3):
        data = zlib.compress(data)
    return _file(_object(b"/Filter [/FlateDecode /FlateDecode /FlateDecode]", data))


def huge_pages() -> bytes:
    text = show("白" * 40, 50, 700, before="1 g") + "q 0.5 g 0 0 100 100 re f Q"
    return pdf(*[text] * 500).replace(b"[0 0 595 842]", b"[0 0 14400 14400]")


_CELL = b"<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>"
HOSTILE = {
    "forms.pdf": nested_forms,
    "flate.pdf": chained_flate,
    "pages.pdf": huge_pages,
    "paragraphs.docx": lambda: with_body(b"<w:p/>" * 3_000_000),
    "tables.docx": lambda: with_body(b"<w:tbl><w:tr>" + _CELL + b"</w:tr></w:tbl>" * 20_000),
    "deep.docx": lambda: with_body(b"<w:tbl><w:tr><w:tc>" * 3_000),
    "deep.html": lambda: b"<p>a" * 3_000_000,
    "long.md": lambda: b"[a](" * 400_000,
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_file_is_left_and_the_next_one_read(name: str, sandbox: Sandbox) -> None:
    try:
        document = parsed_apart(name, HOSTILE[name](), LIMITS, sandbox)
    except Unreadable as error:
        assert error.why
    else:
        assert document.passages
    good = pdf(show("旅費の規程", 50, 700))
    assert parsed_apart("b.pdf", good, LIMITS, sandbox) == parsed("b.pdf", good, LIMITS)
