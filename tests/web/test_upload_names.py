"""Uploads go into their own folder under a tame name, and are what they say."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from naisei.web.pages.documents.uploads import safe_name
from naisei.web.pages.documents.uploads import store as store_upload


@pytest.mark.parametrize(
    "name",
    [
        "../evil.md",
        "../../../../tmp/evil.md",
        "/etc/evil.md",
        "..\\..\\evil.md",
        "C:\\evil.md",
        "．．／evil.md",
        "sub/evil.md",
        "evil.md\x00.txt",
        "..%2Fevil.md",
        "~/evil.md",
        "file:///evil.md",
    ],
)
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = (tmp_path / "a" / "b" / "up").resolve()
    folder.mkdir(parents=True)
    before = set(tmp_path.rglob("*"))
    try:
        made = store_upload(folder, name, b"# text")
    except HTTPException:
        made = None
    after = set(tmp_path.rglob("*")) - before
    assert all(p.parent == folder for p in after) and len(after) == (made is not None)


@given(st.text(max_size=40), st.sampled_from([".md", ".txt", ".pdf", ".MD"]))
def test_a_tame_name_is_one_plain_part(stem: str, suffix: str) -> None:
    try:
        name = safe_name(stem + suffix)
    except HTTPException:
        return
    assert Path(name).name == name and not name.startswith(".") and ".." not in name
    assert len(name.encode()) <= 120 and name == safe_name(name)


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "up", tmp_path / "outside.md"
    folder.mkdir()
    outside.write_text("mine")
    (folder / "a.md").symlink_to(outside)
    (folder / "b.md").symlink_to(tmp_path / "not-there.md")
    for name in ("a.md", "b.md"):
        with pytest.raises(HTTPException):
            store_upload(folder, name, b"# theirs")
    assert outside.read_text() == "mine" and not (tmp_path / "not-there.md").exists()


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("a.exe", b"MZ", 415),
        ("a.pdf", b"<html>", 415),
        ("a.docx", b"# text", 415),
        ("a.txt", b"\x7fELF\x00\x00", 415),
        ("a.md", b"%PDF-1.7", 415),
        ("a.md", b"  \n", 400),
        ("a.md", b"", 400),
        ("", b"# a", 415),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(
    name: str, data: bytes, status: int, tmp_path: Path
) -> None:
    with pytest.raises(HTTPException) as refused:
        store_upload(tmp_path, name, data)
    assert refused.value.status_code == status and list(tmp_path.iterdir()) == []
