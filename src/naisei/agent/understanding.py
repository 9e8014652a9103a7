"""What a remark is: something to be done, a question, a correction of what was done, or talk.

With a model in the role `understanding` it says so, and says the remark in full words. Without one
the remark's vector decides: three classes learnt from the bundled data
(`naisei/data/understanding`), among those that the persona can serve.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from naisei import lang
from naisei.agent.mind import PERSON, Kind, Mind
from naisei.core import Chat, Embed, Flow, InstrumentFailure, Message, system, user
from naisei.japanese.answers import Stance, none_of_them, understand
from naisei.schema import told

#: Lines that a model is shown, the last of them the remark.
_SHOWN = 8


class Understood(BaseModel):
    """kind: what the remark is. words: it in full, with what it points back to."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    thought: str = told("判断の理由を一文で", "The reason, in one sentence", "")
    kind: Kind = told(
        "act は何かしてほしい、question は調べて答えてほしい、correction はしたことが違う、"
        "chat はそれ以外の会話",
        "act: wants something done; question: wants something looked up and answered; "
        "correction: what was done was wrong; chat: any other talk",
    )
    words: str = told(
        "発言を、指示語を補って言い直したもの", "The remark in full, without words that point back"
    )


class Meant(Understood):
    """With the share of each kind, 0 to 1, where the vector decided."""

    shares: dict[str, float] = {}


def understood(
    mind: Mind, kinds: tuple[Kind, ...], *, model: bool, weights: Weights | None
) -> Flow[Meant]:
    """What the person's last line is. kinds: those that can be served; `chat` always can."""
    said = mind.said
    if len(kinds) == 1:
        return Meant(kind=kinds[0], words=said)
    if model:
        try:
            found = yield from Chat("understanding", _messages(mind, kinds), Understood)
        except InstrumentFailure:
            pass  # the vectors decide
        else:
            kind = found.kind if found.kind in kinds else "chat"
            return Meant(thought=found.thought, kind=kind, words=found.words)
    if "correction" in kinds and _denies(said):
        return Meant(kind="correction", words=said)
    if weights is None:
        first = next(kind for kind in ("act", "question", "chat") if kind in kinds)
        return Meant(kind=first, words=said)
    vectors = yield from Embed((said,))
    shares = weights.shares(vectors[0])
    among = {kind: shares[kind] for kind in kinds if kind in shares}
    best = max(among, key=lambda kind: among[kind])
    rounded: dict[str, float] = {kind: round(share, 4) for kind, share in shares.items()}
    return Meant(kind=best, words=said, shares=rounded)


def _denies(said: str) -> bool:
    """Whether a remark after a deed says that it was the wrong one."""
    return understand(said).stance in (Stance.NO, Stance.NEITHER) or none_of_them(said)


def _messages(mind: Mind, kinds: tuple[Kind, ...]) -> tuple[Message, ...]:
    language = mind.persona.language
    names = mind.talk.names
    lines = [f"{names.get(s.speaker, s.speaker)}: {s.text}" for s in mind.talk.history[-_SHOWN:]]
    told = lang.render(
        "naisei.agent",
        "understanding.v1",
        language,
        who=mind.persona.profile.name,
        person=names[PERSON],
        kinds=", ".join(kinds),
    )
    return (system(told), user("\n".join(lines)))


class Weights:
    """A linear reading of vectors. names: of the classes. matrix: (classes, dim + 1), the last
    column the constant."""

    def __init__(self, names: tuple[Kind, ...], matrix: npt.NDArray[np.float32]) -> None:
        self.names, self.matrix = names, matrix

    def shares(self, vector: npt.NDArray[np.float32]) -> dict[Kind, float]:
        """The share of each class, adding up to 1. vector: shape (dim,)."""
        scores = self.matrix[:, :-1] @ vector + self.matrix[:, -1]
        odds = np.exp(scores - scores.max())
        return dict(zip(self.names, (odds / odds.sum()).tolist(), strict=True))


@lru_cache(maxsize=1)
def load_weights() -> dict[str, Weights]:
    """By embedder."""
    found = files("naisei.data") / "understanding" / "weights.npz"
    with found.open("rb") as file, np.load(file, allow_pickle=False) as kept:
        return {name: Weights(("act", "question", "chat"), kept[name]) for name in kept.files}
