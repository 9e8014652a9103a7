"""Foods under other names, so that what is learned is matching words, not the words.

The foods of the test games are in none of the train games. A renamed example calls each food by
another name everywhere, in the cookbook, the room, what is held and the actions, so that what is
right stays right. Not in the thesis, whose 4,440 train games need it less.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from naisei.textgame.trained.dataset import Choice
from naisei.textgame.trained.training.items import Item, Source

__all__ = ["Renamer"]

_NAMES = (
    re.compile(r"^take (?P<name>.+?)(?: from .+)?$"),
    re.compile(r"^(?:drop|eat) (?P<name>.+)$"),
    re.compile(r"^(?:cook|slice|dice|chop) (?P<name>.+) with .+$"),
)
#: What is taken or eaten in every game, under this name.
_FIXED = frozenset({"cookbook", "knife", "meal"})
_TEXTS = ("inventory", "cookbook", "room", "description")


class Renamer:
    """Knows the foods of the examples. share: of the items that are renamed."""

    def __init__(self, sources: Sequence[Source], *, share: float) -> None:
        self._share = share
        found = {
            match["name"]
            for source in sources
            for action in _actions(source)
            for pattern in _NAMES
            if (match := pattern.match(action))
        }
        self._names = sorted(found - _FIXED)
        self._words = sorted({word for name in self._names for word in name.split()})
        # The longest first: "red onion" before "onion".
        longest = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b")

    def item(self, item: Item, *, seed: str) -> Item:
        """The item, or the same under other names; which, the seed decides."""
        draw = Random(f"names/{seed}")
        if not self._names or draw.random() >= self._share:
            return item
        new = dict(zip(self._names, self._drawn(draw), strict=True))

        def renamed(text: str) -> str:
            return self._pattern.sub(lambda match: new[match[0]], text)

        texts = {field: renamed(getattr(item.situation, field)) for field in _TEXTS}
        return replace(
            item,
            situation=item.situation.model_copy(update=texts),
            actions=tuple(renamed(action) for action in item.actions),
        )

    def _drawn(self, draw: Random) -> list[str]:
        """As many names as there are, all different: known ones in another order, and others put
        together from their words."""
        made = {f"{draw.choice(self._words)} {draw.choice(self._words)}" for _ in self._names}
        pool = sorted({*self._names, *made})
        return draw.sample(pool, len(self._names))


def _actions(source: Source) -> Sequence[str]:
    return (source.action, *source.others) if isinstance(source, Choice) else source.actions
