"""A small house to learn in, its walkthroughs, and a tiny encoder with random weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from naisei.core import Act, World, run
from naisei.textgame.cooking_state import TextState
from naisei.textgame.trained.recordings import RecordedGame, record
from textgame.toy_kitchen import ToyKitchen

SOLUTION = (
    "inventory",
    "go north",
    "go east",
    "examine cookbook",
    "go west",
    "open plain door",  # the second time it is open already
    "go south",
    "take red onion",
    "go north",
    "go east",
    "take knife",
    "slice red onion with knife",
    "cook red onion with oven",
    "prepare meal",
    "eat meal",
)


def house(*, hands: int = 99, apple: tuple[int, int] = (0, 0)) -> ToyKitchen:
    """Bedroom (start, the onion), corridor to its north, kitchen east of that."""
    return ToyKitchen(
        rooms={(0, 0): "Bedroom", (0, 1): "Corridor", (1, 1): "Kitchen"},
        doors={},
        things={"red onion": (0, 0), "apple": apple, "knife": (1, 1)},
        inside={},
        containers={"fridge": (1, 1)},
        appliances={"oven": (1, 1), "stove": (1, 1)},
        needs={"red onion": ("sliced", "roasted")},
        states={},
        hands=hands,
        here=(0, 0),
        kitchen=(1, 1),
    )


def recorded(solution: Sequence[str] = SOLUTION, name: str = "toy") -> RecordedGame:
    return run(record(name, solution), World({Act: house()}))


class ByRule:
    """A scorer that asks a function."""

    def __init__(self, rate: Callable[[TextState, str], float]) -> None:
        self.rate = rate

    def score(self, state: TextState, actions: Sequence[str]) -> list[float]:
        return [self.rate(state, action) for action in actions]


def tiny_encoder(folder: Path, texts: Sequence[str]) -> Path:
    """BERT of two layers and 160 dimensions, a word a token. Needs torch and transformers."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = sorted({word for text in texts for word in text.lower().split()})
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    vocabulary = {word: number for number, word in enumerate(names)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    ).save_pretrained(folder)
    torch.manual_seed(0)
    BertModel(
        BertConfig(
            vocab_size=len(names),
            hidden_size=160,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=128,
        )
    ).save_pretrained(folder)
    return folder
