"""Output files: whole or not at all, and one message when the disk will not have them."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from commandline import Alone, Naisei
from naisei.cli.errors import exit_code, report
from naisei.core import InputError
from naisei.files import check_place, output_error, write_atomically, written_beside


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_atomically(target, "one")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(target, "two\ud83d")
    with pytest.raises(ZeroDivisionError), written_beside(target) as scratch:
        scratch.write_text("half")
        _ = 1 / 0
    assert target.read_text() == "one" and list(tmp_path.iterdir()) == [target]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from naisei.files import written_beside\n"
        "with written_beside(Path(sys.argv[1])) as scratch:\n"
        "    scratch.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    target = tmp_path / "a.txt"
    subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    (left,) = tmp_path.iterdir()
    living = left.with_name(left.name.replace(left.name.split("-")[2], str(os.getpid())))
    living.touch()
    write_atomically(target, "one")
    assert set(tmp_path.iterdir()) == {target, living}


def test_folders_are_made_and_line_ends_kept(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new/er/a.csv", "a\r\nb\n")
    assert (tmp_path / "new/er/a.csv").read_bytes() == b"a\r\nb\n"
    write_atomically(tmp_path / "b", b"\xff")
    assert (tmp_path / "b").read_bytes() == b"\xff"


def test_rights_and_links_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "a", tmp_path / "link"
    old = os.umask(0o022)
    try:
        write_atomically(target, "one")
    finally:
        os.umask(old)
    assert target.stat().st_mode & 0o777 == 0o644
    target.chmod(0o600)
    link.symlink_to(target)
    write_atomically(link, "two")
    assert link.is_symlink() and target.read_text() == "two"
    assert target.stat().st_mode & 0o777 == 0o600


def test_what_is_no_file_is_written_directly() -> None:
    write_atomically(Path("/dev/null"), "gone")
    with pytest.raises(InputError, match=r"/dev/full"):
        write_atomically(Path("/dev/full"), "x")


def test_a_place_that_cannot_be_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/out\.txt: cannot be written: .* is a file"):
        write_atomically(tmp_path / "file" / "out.txt", "x")
    with pytest.raises(InputError, match="folder"):
        write_atomically(tmp_path, "x")
    with pytest.raises(InputError, match="too long"):
        write_atomically(tmp_path / ("x" * 300) / "y", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_error_of_any_depth_is_the_users(
    code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    error = OSError(code, os.strerror(code), "games/a.z8")
    assert output_error(error, "x").remedy
    group = ExceptionGroup("several", [ValueError(), ExceptionGroup("inner", [error])])
    for raised in (error, group):
        assert report(raised) == exit_code(raised) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 2 and said.startswith("error: games/a.z8: cannot be written: ")


def test_sqlite_errors_and_folders_that_vanish_are_the_users_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "no.sqlite").write_text("no database " * 100)
    with (
        closing(sqlite3.connect(tmp_path / "no.sqlite")) as db,
        pytest.raises(sqlite3.DatabaseError) as damaged,
    ):
        db.execute("SELECT * FROM t")
    with pytest.raises(FileNotFoundError) as gone:
        (tmp_path / "gone" / "x").write_text("x")
    for error in (damaged.value, gone.value):
        assert report(error) == 2
        assert "unexpected" not in capsys.readouterr().err
    with closing(sqlite3.connect(":memory:")) as db, pytest.raises(sqlite3.Error) as ours:
        db.execute("SELEKT")
    assert exit_code(ours.value) == 1  # a bug of ours


def test_a_disk_that_fills_up_under_a_run_is_one_message(
    naisei: Naisei, alone: Alone, tiny: Path
) -> None:
    done = alone("clarify", "run", "--agent", "random", "--run-dir", tiny / "run", "--quiet")
    assert done.code == 2
    assert "space" in done.err and "never retrieved" not in done.err
    assert len(done.err.splitlines()) == 2
    # What was logged until then can be read, and the run goes on where there is room.
    shutil.copytree(tiny / "run", "elsewhere")
    assert naisei("runs", "resume", "elsewhere", "--quiet").code == 0


def test_a_full_disk_behind_stdout_is_one_message(alone: Alone, naisei: Naisei) -> None:
    assert naisei("clarify", "run", "--agent", "random", "--limit", 3, "--run-dir", "run").code == 0
    command = [sys.executable, "-m", "naisei", "runs", "export", "run"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "space" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_closed_streams_are_empty(english: Path) -> None:
    """`naisei … <&-`: no traceback, and no file takes the number of a stream."""
    line = f"{sys.executable} -m naisei clarify chat --name x <&- >&-"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True)
    assert "unexpected" not in done.stderr


def test_a_place_is_tried_before_long_work(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    check_place(kept)
    check_place(tmp_path / "new" / "file")
    assert kept.read_text() == "as it was"
    with pytest.raises(InputError, match="folder"):
        check_place(tmp_path / "new")
    with pytest.raises(InputError, match="path"):
        check_place(kept / "below")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["kept", "new"]
