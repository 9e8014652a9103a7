"""Direct requests: 「リモコンを取ってきて」 needs no question.

Requests and actions are parsed alike into verb and thing, so that any list of actions works.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import jaconv

from naisei.clarify.agents.deeds import KINDS, SMALL, Deed, asks
from naisei.clarify.agents.knowledge import Knowledge
from naisei.clarify.schemas import Turn
from naisei.japanese.answers import understand
from naisei.japanese.morph import is_japanese, lemmas, normalise, tokens

_REQUEST_EN = re.compile(
    r"^(?:please |could you |can you |would you |will you |i(?:'d| would) like you to |"
    r"i (?:want|need) you to |go (?:and )?|just |hey,? |okay,? )*"
    r"(?:please )?(?P<deed>[a-z]+)\b(?! (?:was|is|were|are)\b)"
)
_FORBIDDEN = re.compile(r"ないで|(?<!じゃ)(?<!では)なくて|\b(?:don't|do not|no need)\b")


def _folded(text: str) -> str:
    """Normalise for name comparison: 「りもこん」 equals リモコン."""
    return jaconv.hira2kata(normalise(text).lower())


@dataclass(frozen=True, slots=True)
class RequestedAction:
    """A parsed request or action. things: the table's things that it names."""

    deed: Deed
    things: tuple[str, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        return self.deed.kinds

    @property
    def words(self) -> frozenset[str]:
        return self.deed.words

    def doing(self, kinds: frozenset[str]) -> RequestedAction:
        """A copy with other verb kinds."""
        return RequestedAction(replace(self.deed, kinds=kinds), self.things)


class Requests:
    """Reads requests for one set of actions."""

    def __init__(self, knowledge: Knowledge) -> None:
        # Without a table, any word of an action may be the name.
        items = knowledge.items if knowledge.table else ()
        self._named = {_folded(name): item.object for item in items for name in item.names}
        longest = sorted(self._named, key=len, reverse=True)
        self._names = re.compile(
            "|".join(
                re.escape(n) if is_japanese(n) else rf"\b{re.escape(n)}(?:e?s)?\b" for n in longest
            )
            or "(?!)"
        )
        self._actions = [
            RequestedAction(Deed.of(item.text), (item.object,) if knowledge.table else ())
            for item in knowledge.items
        ]
        self._kinds = frozenset().union(*(a.kinds for a in self._actions)) | {*KINDS}
        self._words = frozenset().union(*(a.words for a in self._actions))
        self._places = frozenset().union(*(a.deed.places for a in self._actions))

    def wanted(self, utterance: str, turns: Sequence[Turn]) -> RequestedAction | None:
        """The request so far; an answer may add the thing."""
        wanted = self.read(utterance)
        for turn in turns:
            if again := self.read(turn.answer):
                wanted = wanted.doing(again.kinds) if wanted and not again.things else again
                continue
            said = understand(turn.answer, turn.question).content
            named = self._parsed(said)
            if named.words & self._words and (wanted or self._only_names(said)):
                wanted = named.doing(wanted.kinds if wanted else frozenset())
        return wanted

    def _only_names(self, text: str) -> bool:
        """Whether a text is only a name: 「リモコン」「リモコンのことです」."""
        said = _folded(normalise(text))
        for _, start, end in reversed(self._mentions(said)):
            said = said[:start] + said[end:]
        left = {t.form for t in tokens(said) if t.content} if is_japanese(text) else {*lemmas(said)}
        return left <= self._words | SMALL

    def read(self, text: str) -> RequestedAction | None:
        """The direct request in a text; `None` for a mere remark."""
        said = normalise(text)
        for sentence in reversed(re.split(r"(?<=[。！？.!?])\s*", said)):
            if _FORBIDDEN.search(sentence):
                continue
            if is_japanese(said):
                wanted = self._parsed(sentence) if asks(sentence) else None
                if wanted and not wanted.words & self._words:
                    # 「缶切りどこ？持ってきて」
                    whole = self._parsed(said)
                    wanted = whole.doing(wanted.kinds or whole.kinds)
                placed = wanted and wanted.deed.places & self._places
                if wanted and not wanted.kinds & self._kinds and (placed or not wanted.kinds):
                    # 「ゴミ箱に放り込んで」: the place decides, whatever the verb.
                    wanted = wanted.doing(wanted.deed.without_verb())
            else:
                found = _REQUEST_EN.match(sentence.lower())
                wanted = self._parsed(sentence[found.start("deed") :]) if found else None
            if wanted and wanted.kinds & self._kinds:
                return wanted
        return None

    def asks(self, text: str) -> bool:
        """Whether the text is a request, even with a verb of no action."""
        parts = re.split(r"(?<=[。！？.!?])\s*", normalise(text))
        return any(asks(part) for part in parts if not _FORBIDDEN.search(part))

    def fitting(self, wanted: RequestedAction) -> list[int]:
        """The indices of the best matching actions; empty if none matches or no thing is named."""
        fits = {i: self._shared(action, wanted) for i, action in enumerate(self._actions)}
        most = max(fits.values())
        return [i for i, shared in fits.items() if shared == most > 0]

    def about(self, text: str) -> list[int]:
        """The indices of actions on things that a text names."""
        named = {thing for thing, _, _ in self._mentions(text)}
        return [i for i, a in enumerate(self._actions) if named & {*a.things}]

    def of_kind(self, wanted: RequestedAction) -> list[int]:
        """The indices of the actions of this kind, for any thing."""
        return [i for i, a in enumerate(self._actions) if a.kinds & wanted.kinds]

    def _shared(self, action: RequestedAction, wanted: RequestedAction) -> float:
        """The overlap with an action; 0 if verb or thing differs."""
        elsewhere = (wanted.deed.places & self._places) - action.deed.places
        if (wanted.kinds and not action.kinds & wanted.kinds) or elsewhere:
            return 0.0
        if action.things:
            own = action.words - action.deed.places
            unnamed = not wanted.things and own <= wanted.words
            named = action.things[0] in wanted.things or unnamed
        else:
            named = bool((action.words - action.deed.places) & wanted.words)
        said = len(action.words & wanted.words) + 2.0 * len(action.kinds & wanted.kinds)
        return named * (said - 0.1 * len(action.words - wanted.words))

    def _mentions(self, said: str) -> list[tuple[str, int, int]]:
        """The things of the table that a text names, with start and end offsets."""
        found = []
        for m in self._names.finditer(_folded(said)):
            name = next(n for n in (m[0], m[0][:-1], m[0][:-2]) if n in self._named)
            found.append((self._named[name], *m.span()))
        return found

    def _parsed(self, text: str) -> RequestedAction:
        """Parse the last verb of a sentence with its things and nouns."""
        said = re.sub(r"[^、。]+(?:じゃ|では)なくて、?", "", normalise(text))
        named = self._mentions(said)
        # 「スマホの充電ケーブル」 is not a phone.
        things = [
            thing
            for at, (thing, _, end) in enumerate(named)
            if not (said[end : end + 1] == "の" and named[at + 1 :] and named[at + 1][1] == end + 1)
        ]
        return RequestedAction(Deed.of(said), tuple(things))
