"""The network of the layout `shared`: an encoder's own layers under a mask by segments.

Only `[CLS]` of each action is rated, so the last layer computes nothing else.
"""

from __future__ import annotations

from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.trained.shared import PARTS

__all__ = ["shared_network"]

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
    if not layers or not hasattr(getattr(layers[0], "attention", None), "self"):
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
