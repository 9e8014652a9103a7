"""How somebody talks: the register of a person, and answers put together in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

__all__ = ["Register", "Voice", "pick", "register_of"]

Register = Literal["plain", "polite", "child", "elder", "english"]
T = TypeVar("T")

_REGISTERS: dict[str, Register] = {
    "child": "child",
    "kid": "child",
    "elder": "elder",
    "grandparent": "elder",
    "visitor": "polite",
    "guest": "polite",
    "office_worker": "polite",
    "polite": "polite",
    "flatmate": "plain",
    "student": "plain",
    "plain": "plain",
}


def register_of(speaker: str, language: str, key: str) -> Register:
    """The register of a speaker; where nothing says, plain or polite by `key`."""
    if language == "en":
        return "english"
    return _REGISTERS.get(speaker) or pick(("plain", "polite"), key)  # type: ignore[return-value]


def pick(options: Sequence[T], key: str) -> T:
    """One of the options, always the same for the same key."""
    digest = hashlib.blake2b(key.encode("utf-8"), digest_size=8).digest()
    return options[int.from_bytes(digest, "big") % len(options)]


@dataclass(frozen=True, slots=True)
class _Manner:
    end: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    maybe: tuple[str, ...]
    mixed: tuple[str, ...]
    neither: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    open: tuple[str, ...]
    again: tuple[str, ...]
    bare_yes: tuple[str, ...]
    bare_no: tuple[str, ...]


_MANNERS: dict[Register, _Manner] = {
    "plain": _Manner(
        end=("んだ。", "んだよね。", "んだよ。"),
        yes=("うん、", "そうそう、", "うん、そうだね。"),
        no=("いや、", "ううん、", "いや、そうじゃなくて、", "そういうわけじゃないよ。"),
        maybe=("うーん、はっきりそうとは言えないけど、", "どうだろう、"),
        mixed=("うーん、ちょっと違うかな。", "半分くらいは当たってるけど、"),
        neither=("どっちでもないかな。", "うーん、どちらとも違うなあ。"),
        first=("前のほうかな。", "どっちかというと最初のほうで、"),
        second=("あとのほうかな。", "どっちかというと後のほうで、"),
        open=("", "うーん、", "えっと、"),
        again=("さっきも言ったけど、",),
        bare_yes=("うん、そうだよ。", "うん、そんな感じ。"),
        bare_no=("いや、違うよ。", "いや、そうじゃないな。"),
    ),
    "polite": _Manner(
        end=("んです。", "んですよ。", "んですよね。"),
        yes=("はい、", "ええ、", "はい、そうですね。"),
        no=("いいえ、", "いえ、そうではなくて、", "そういうわけではないです。"),
        maybe=("うーん、はっきりそうとは言えませんが、", "どうでしょう、"),
        mixed=("うーん、少し違います。", "半分くらいは当たっていますが、"),
        neither=("どちらでもないですね。", "どちらとも違いますね。"),
        first=("前のほうですね。", "どちらかというと最初のほうで、"),
        second=("あとのほうですね。", "どちらかというと後のほうで、"),
        open=("", "えっと、", "実は、"),
        again=("先ほども言いましたが、",),
        bare_yes=("はい、そうです。", "ええ、その通りです。"),
        bare_no=("いいえ、違います。", "いえ、そうではないです。"),
    ),
    "child": _Manner(
        end=("の。", "んだ。", "んだもん。"),
        yes=("うん、", "うん！", "そうだよ、"),
        no=("ううん、", "ちがうよ、", "ううん、そうじゃなくて、"),
        maybe=("うーん、わかんないけど、", "どうかなあ、"),
        mixed=("うーん、ちょっとちがう。", "はんぶんくらいあたり、でも、"),
        neither=("どっちでもない。", "どっちもちがうよ。"),
        first=("さいしょのほう。", "前のほうだよ。"),
        second=("あとのほう。", "あとのほうだよ。"),
        open=("", "えっとね、", "あのね、"),
        again=("さっきも言ったよ、",),
        bare_yes=("うん、そうだよ。", "うん、そう。"),
        bare_no=("ううん、ちがうよ。", "ちがうよ。"),
    ),
    "elder": _Manner(
        end=("んだよ。", "のよ。", "んですよ。"),
        yes=("ええ、", "ああ、そうだねえ。", "うん、そうなの。"),
        no=("いいえ、", "いや、そうじゃなくてねえ、", "いえいえ、"),
        maybe=("さあねえ、はっきりそうとは言えないけど、", "どうだろうねえ、"),
        mixed=("うーん、ちょっと違うねえ。", "半分くらいは当たっているけどね、"),
        neither=("どちらでもないねえ。", "どちらとも違うねえ。"),
        first=("前のほうだねえ。", "どちらかといえば最初のほうで、"),
        second=("あとのほうだねえ。", "どちらかといえば後のほうで、"),
        open=("", "そうねえ、", "それがねえ、"),
        again=("さっきも言ったけどねえ、",),
        bare_yes=("ええ、そうですよ。", "ああ、そうだよ。"),
        bare_no=("いいえ、違いますよ。", "いや、そうじゃないねえ。"),
    ),
    "english": _Manner(
        end=(".",),
        yes=("Yes. ", "Yeah, right. ", "That's right. "),
        no=("No. ", "Not really. ", "No, it's not that. "),
        maybe=("Hmm, I wouldn't quite say so. ", "Hard to say. "),
        mixed=("Only partly. ", "Not quite. "),
        neither=("Neither, really. ", "Neither of them. "),
        first=("More the first one. ", "The former, I'd say. "),
        second=("More the second one. ", "The latter, I'd say. "),
        open=("", "Well, ", "Hmm. "),
        again=("As I said, ",),
        bare_yes=("Yes, that's right.", "Yeah."),
        bare_no=("No, not that.", "No."),
    ),
}


@dataclass(frozen=True, slots=True)
class Voice:
    """Puts an answer together. key: what the choice among wordings depends on."""

    register: Register

    def phrase(self, stem: str, key: str) -> str:
        """A phrase ended as this person ends sentences."""
        return stem + pick(_MANNERS[self.register].end, f"end:{key}")

    def say(self, opening: str, stem: str, key: str) -> str:
        """An opening (`yes`, `no`, `maybe`, `mixed`, `neither`, `first`, …) and a phrase."""
        options: tuple[str, ...] = getattr(_MANNERS[self.register], opening)
        lead = pick(options, f"{opening}:{key}")
        if not stem:
            return lead.rstrip("、, ")
        return lead + self.phrase(stem, key)
