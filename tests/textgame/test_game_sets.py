"""Folders of games, the public sets' layouts, and manifests of generated sets."""

from __future__ import annotations

import os
import zipfile
from functools import partial
from pathlib import Path

import pytest

from naisei.core import InputError, InstrumentFailure
from naisei.textgame.games import find_games, games_hash, layout_files
from naisei.textgame.make.many import MANIFEST, make_many, read_manifest
from textgame.makers import killed, made, maker


def files(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


@pytest.fixture
def twc(tmp_path: Path) -> Path:
    for level in ("easy", "medium", "hard"):
        for split in ("train", "valid", "test"):
            stem = f"tw-iqa-cleanup-{level}-{split}"
            files(
                tmp_path,
                *(f"{level}/{split}/{stem}{n}{e}" for n in (1, 2) for e in (".ulx", ".json")),
            )
    return tmp_path


def test_twc_by_split_and_level(twc: Path) -> None:
    games = find_games(f"twc:{twc}", split="valid", level="hard")
    assert [g.id for g in games] == [f"hard/valid/tw-iqa-cleanup-hard-valid{n}" for n in (1, 2)]
    assert {g.path.suffix for g in games} == {".json"}, "the .ulx cannot be loaded"
    assert {g.family for g in games} == {"cleanup"}
    assert len(find_games(f"twc:{twc}")) == 6, "all levels of test"


def test_twc_errors_name_the_place(twc: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="easy, medium and hard"):
        find_games(f"twc:{twc / 'easy'}")
    with pytest.raises(InputError, match="no such folder"):
        find_games(f"twc:{tmp_path / 'nowhere'}")
    with pytest.raises(InputError, match="unknown: dev"):
        find_games(f"twc:{twc}", split="dev")
    with pytest.raises(InputError, match="unknown: harder"):
        find_games(f"twc:{twc}", level="harder")


@pytest.mark.parametrize("inner", ["", "games"])
def test_ftwp_folder(tmp_path: Path, inner: str) -> None:
    root = tmp_path / "ftwp"
    files(root / inner, "test/tw-cooking-a.z8", "test/tw-cooking-a.json", "train/tw-cooking-b.z8")
    games = find_games(f"ftwp:{root}")
    assert [g.path.name for g in games] == ["tw-cooking-a.z8"]
    assert games[0].family == "cooking" and games[0].default_steps == 100


def zipped(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_ftwp_zip(tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "ftwp.zip",
        "ftwp/games/test/tw-a.z8",
        "ftwp/games/test/tw-a.json",
        "ftwp/games/train/tw-b.z8",
        "ftwp/README.md",
    )
    found = layout_files("ftwp", archive, split="test", level="", cache=tmp_path / "cache")
    assert [f.name for f in found] == ["tw-a.z8"]
    assert found[0].with_suffix(".json").is_file()
    again = layout_files("ftwp", archive, split="test", level="", cache=tmp_path / "cache")
    assert again == found


def test_a_point_in_a_name_is_no_ending(tmp_path: Path) -> None:
    # As the games are called that `naisei textgame make` writes.
    files(tmp_path / "ftwp", "test/tw-a-1.0.z8", "test/tw-a-1.0.json", "test/tw-b-1.1.json")
    games = find_games(f"ftwp:{tmp_path / 'ftwp'}")
    assert [g.path.name for g in games] == ["tw-a-1.0.z8", "tw-b-1.1.json"]
    assert all(g.path.is_file() for g in games)


def test_the_games_of_a_zip_are_named_by_their_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_CACHE", str(tmp_path / "cache"))
    archive = zipped(tmp_path / "ftwp.zip", "games/test/tw-a-1.0.z8", "games/test/tw-a-1.0.json")
    assert [g.id for g in find_games(f"ftwp:{archive}")] == ["test/tw-a-1.0"]


def test_hostile_names_in_a_zip_stay_in_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "deep/er/cache"
    archive = zipped(
        tmp_path / "ftwp.zip",
        "games/test/ok.z8",
        "../../../../test/up.z8",
        "/tmp/test/../test/absolute.z8",
        "test/..\\..\\windows.z8",
        "C:\\test\\drive.z8",
        "test/.z8",
        "test/sub/../../../dots.json",
        "test/" + "n" * 300 + ".z8",
    )
    before = {p for p in tmp_path.rglob("*") if cache not in p.parents}
    found = layout_files("ftwp", archive, split="test", level="", cache=cache)
    assert {p for p in tmp_path.rglob("*") if cache not in p.parents} - before <= {
        cache,
        *cache.parents,
    }
    assert all(cache in f.parents and ".." not in f.parts for f in found)
    assert "ok.z8" in {f.name for f in found}


def test_what_is_no_zip_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ftwp.zip").write_text("<html>")
    with pytest.raises(InputError, match="zip"):
        layout_files("ftwp", tmp_path / "ftwp.zip", split="test", level="", cache=tmp_path)
    with pytest.raises(InputError, match="no such file"):
        layout_files("ftwp", tmp_path / "gone.zip", split="test", level="", cache=tmp_path)
    torn = zipped(tmp_path / "torn.zip", "test/g.z8")
    data = bytearray(torn.read_bytes())
    data[45] ^= 255
    torn.write_bytes(bytes(data))
    with pytest.raises(InputError, match="zip"):
        layout_files("ftwp", torn, split="test", level="", cache=tmp_path)
    empty = zipped(tmp_path / "empty.zip", "README.md")
    assert layout_files("ftwp", empty, split="test", level="", cache=tmp_path) == []


def test_any_folder_is_searched_whole_one_file_a_game(tmp_path: Path) -> None:
    files(
        tmp_path, "a/x.z8", "a/x.json", "b/y.json", "b/z.ulx", "b/z.json", ".making-1/t.z8", "n.txt"
    )
    games = find_games(str(tmp_path))
    assert [(g.id, g.path.suffix) for g in games] == [
        ("a/x", ".z8"),
        ("b/y", ".json"),
        ("b/z", ".json"),
    ]


def test_errors_of_folders(tmp_path: Path) -> None:
    for bad in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="no games here"):
            find_games(str(bad))
    with pytest.raises(InputError, match="twc:"):
        find_games(str(tmp_path), split="test")


def test_a_limit_draws_the_same_games(tmp_path: Path) -> None:
    files(tmp_path, *(f"g{n}.z8" for n in range(20)))
    drawn = [find_games(str(tmp_path), limit=5) for _ in range(2)]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 5
    assert games_hash(drawn[0]) != games_hash(find_games(str(tmp_path), limit=6))


JOBS = [(f"g{n}.z8", partial(maker, f"g{n}.z8")) for n in range(4)]


def test_a_manifest_cut_off_by_a_kill_is_mended_and_only_what_is_missing_made(
    tmp_path: Path,
) -> None:
    for name in ("g0.z8", "g1.z8", "g2.z8"):
        (tmp_path / name).write_text("game")
    whole = "".join(made(name).model_dump_json() + "\n" for name in ("g0.z8", "g1.z8"))
    (tmp_path / MANIFEST).write_text(whole + made("g2.z8").model_dump_json()[:40])
    assert [m.file for m in read_manifest(tmp_path)] == ["g0.z8", "g1.z8"]

    found = list(make_many(JOBS, tmp_path, processes=1))
    assert {m.file for m in found} == {name for name, _ in JOBS}
    assert (tmp_path / "made.log").read_text().split() == ["g2.z8", "g3.z8"]
    assert {m.file for m in read_manifest(tmp_path)} == {name for name, _ in JOBS}
    assert list(make_many(JOBS, tmp_path)) and len((tmp_path / "made.log").read_text().split()) == 2


def test_a_broken_line_within_a_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{nonsense}\n" + made("g1.z8").model_dump_json() + "\n")
    with pytest.raises(InputError) as raised:
        read_manifest(tmp_path)
    assert raised.value.place.endswith(f"{MANIFEST}:1")


def test_a_worker_that_is_killed_is_one_message_and_what_was_made_stays(tmp_path: Path) -> None:
    with pytest.raises(InstrumentFailure, match="goes on"):
        list(make_many([*JOBS[:1], ("bad.z8", killed)], tmp_path, processes=1))
    assert {m.file for m in make_many(JOBS, tmp_path, processes=1)} == {name for name, _ in JOBS}


def test_what_killed_makings_left_is_swept_and_what_is_going_on_is_not(tmp_path: Path) -> None:
    for name in (".making-old", ".making-new"):
        files(tmp_path, f"{name}/half.z8")
    os.utime(tmp_path / ".making-old", (0, 0))
    list(make_many(JOBS[:1], tmp_path, processes=1))
    assert not (tmp_path / ".making-old").exists() and (tmp_path / ".making-new").exists()
