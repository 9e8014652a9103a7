"""Settings of the language-model players, and the parts of their prompts: task, examples, and
history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator

from naisei import lang
from naisei.core import Message, system, user
from naisei.plugins import Options
from naisei.textgame.schemas import View
from naisei.textgame.texts import plain

#: Where the prompts are.
PACKAGE = "naisei.textgame.llm"


class LLMOptions(Options):
    """The parts of the prompt (thesis §3.2), independently, and the parsing of replies.

    prompt: `whole`, the game so far in one prompt (chapter 3), or `dialogue`, a conversation with
    a turn a step, without example, thoughts and feedback augmentation (§§5.5.3, 6.5.2); then
    history_chars is what of the conversation is kept. navigator: `navigate to <item>` among the
    commands once a cookbook was read (§6.5.2).
    task: `tidying`, `cooking` or `general` (the game's own opening words are the task); `auto`
    reads from the opening which it is. task_text: the task in the user's own words instead.
    thinking: a consideration before the command (chain of thought). example: a walkthrough of
    another game, the thesis's `hard` one with two rooms or an `easy` one, or `none`. feedback:
    words added to the game's answers (feedback augmentation): `auto` by the task, or `none`.
    reply: asked for by JSON schema, or as a text template that is filled in. history_chars:
    once the history is longer, its older half is folded into a summary; 0: never. memory: what
    is kept between tries at one game (`none`, `tur`, `reflexion`); it needs more than one try.
    """

    prompt: Literal["whole", "dialogue"] = "whole"
    navigator: bool = False
    task: Literal["auto", "tidying", "cooking", "general"] = "auto"
    task_text: str = ""
    thinking: bool = True
    example: Literal["hard", "easy", "none"] = "hard"
    feedback: Literal["auto", "tidying", "cooking", "none"] = "auto"
    reply: Literal["schema", "template"] = "schema"
    history_chars: int = Field(default=8000, ge=0)
    memory: str = "none"

    @model_validator(mode="after")
    def _parts_of_a_whole(self) -> LLMOptions:
        """A switch that would do nothing is refused: a table would show no effect of it."""
        for name in ("thinking", "example", "feedback", "reply"):
            if self.prompt == "dialogue" and getattr(self, name) != _default(name):
                raise ValueError(f"'{name}' is a part of prompt=whole; prompt=dialogue has none")
        return self


def _default(name: str) -> object:
    return LLMOptions.model_fields[name].default


Family = Literal["tidying", "cooking", "general"]

_COOKING = re.compile(r"\b(cookbook|recipe|cook|hungry)\b", re.I)
_TIDYING = re.compile(
    r"\b(tidy|clean(ing)? up|in a mess|messy|out of place|put (it|them|things) away|belongs?)\b",
    re.I,
)


def family_of(opening: str) -> Family:
    """`general` where neither kind is spoken of."""
    if _COOKING.search(opening):
        return "cooking"
    return "tidying" if _TIDYING.search(opening) else "general"


# Feedback augmentation: the game's answer with a word on whether the command did any good.
#
# Source: the text-game thesis, §3.2.2. A misplaced thing is answered like a well placed one, only
# that no point follows; a model overlooks what is not said.

#: Kinds of feedback: right and wrong places, right and refused steps, or none.
Kind = Literal["tidying", "cooking", "none"]

RIGHT_PLACE = "This is its right place."
WRONG_PLACE = "This is a wrong place for it: it belongs somewhere else, perhaps in the other room."
RIGHT_STEP = "This was a right step."
REFUSED = "Nothing was done: something else has to come first."

_PLACED = re.compile(r"(?:put|insert) (?P<thing>.+?) (?:on|onto|in|into) (?P<place>.+)")
#: How the engine begins when it refuses a command.
_REFUSAL = re.compile(
    r"(You(['’]re| are) (already )?carrying too many|You (can only|cannot|need|have to|must)\b"
    r"|You (ca|do)n['’]t\b|That['’]s not|That is not|I didn['’]t|Nothing |Which do you mean)",
    re.I,
)


def placed(action: str) -> tuple[str, str] | None:
    """Thing and place of a command that puts something somewhere."""
    match = _PLACED.fullmatch(action)
    return (match["thing"], match["place"]) if match else None


class Feedback:
    """Adds its word to each answer of a game in turn."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._right: set[tuple[str, str]] = set()

    def word(self, action: str, answer: str, gained: int) -> str:
        """The feedback after `answer`; may be empty.

        gained: points that the command brought.
        """
        if self._kind == "tidying":
            if (pair := placed(action)) is None:
                return ""
            if gained > 0:
                self._right.add(pair)
            # A thing that is put back where it had been right earns no second point.
            return RIGHT_PLACE if pair in self._right else WRONG_PLACE
        if self._kind == "cooking":
            if gained > 0:
                return RIGHT_STEP
            return REFUSED if _REFUSAL.match(answer) else ""
        return ""


# The prompt of one step.
#
# Source: the text-game thesis, §§3.2.1, 3.2.3: task, example, history, inventory and surroundings
# are the system message; candidates, question and template the user's. What changes least comes
# first, so that a server can keep the beginning.

_NOTHING = "(nothing yet)"
_BELOW = "(the current environment, below)"
_TASKS: dict[Family, str] = {
    "cooking": "task-cooking.v2",
    "tidying": "task-tidying.v1",
    "general": "task-general.v1",
}


def messages(
    view: View, options: LLMOptions, *, task: str, example: str, memo: str, history: str
) -> tuple[Message, ...]:
    """System and user message. Empty parts leave no heading behind; the room is told once, though
    the game's answer to the last step told it too."""
    surroundings = plain(view.description) or view.room
    if len(surroundings) > len(_BELOW):
        history = history.replace(surroundings, _BELOW)
    instructions = lang.render(
        PACKAGE,
        "system.v2",
        "en",
        task=task,
        example=f"Example walkthrough of another game:\n{example}" if example else "",
        memo=f"Memo from earlier tries at this very game:\n{memo}" if memo else "",
        history=history or _NOTHING,
        inventory=plain(view.inventory) or _NOTHING,
        surroundings=surroundings,
    )
    asked = lang.render(
        PACKAGE,
        f"ask-{options.reply}-{'thinking' if options.thinking else 'direct'}.v2",
        "en",
        candidates="\n".join(view.candidates),
        left=view.steps_left,
    )
    return system(re.sub(r"\n{3,}", "\n\n", instructions)), user(asked)


def task_text(options: LLMOptions, family: Family, opening: str) -> str:
    """The user's own task text, or the prompt for this kind of game; and the navigator's
    description."""
    task = options.task_text or lang.render(
        PACKAGE, _TASKS[family], "en", opening=opening or _NOTHING
    )
    if not options.navigator or family == "tidying":  # where there is no recipe to walk for
        return task
    return "\n".join((task.rstrip(), lang.render(PACKAGE, "navigator.v1", "en")))


def walkthrough(options: LLMOptions, family: Family, *, augmented: bool) -> str:
    """The example, with or without the words of feedback augmentation; empty where none fits.

    A game of an unknown kind has none: an example of something else would mislead.
    """
    if options.example == "none" or family == "general":
        return ""
    text = lang.render(
        PACKAGE,
        f"example-{family}-{options.example}.v1",
        "en",
        right=RIGHT_PLACE if augmented else "",
        wrong=WRONG_PLACE if augmented else "",
        step=RIGHT_STEP if augmented else "",
        refused=REFUSED if augmented else "",
    )
    return _once(re.sub(r" +$", "", text, flags=re.M))


# The commands given so far, as a prompt shows them; older ones folded once they grow long.
#
# Source: the text-game thesis, §§3.2.1 and 3.5.2 (which leaves the folding to later work).


@dataclass(frozen=True, slots=True)
class Entry:
    """One command. number: from 0. room, came_to: before and after it. word: feedback augmentation.
    gained: points."""

    number: int
    room: str
    came_to: str
    action: str
    answer: str
    word: str
    gained: int

    def __str__(self) -> str:
        return self.with_answer(self.answer)

    def with_answer(self, answer: str) -> str:
        """The line with these words for the game's answer."""
        said = " ".join((answer, self.word)).strip()
        return f"Action {self.number}: {self.action} → {_once(said)}"


_POINT = re.compile(
    rf" ?Your score has just gone up by \w+ points?\.(?= ({RIGHT_STEP}|{RIGHT_PLACE}))"
)


def _once(text: str) -> str:
    """Without the game's words on a point that is said again by the word on the step."""
    return _POINT.sub("", text)


#: A shorter answer of the game is repeated rather than referred to, in characters.
_SHORT = 60


def lines(entries: Sequence[Entry]) -> str:
    """One line an entry. A repeated long answer is left out."""
    return "\n".join(e.with_answer(a) for e, a in zip(entries, unrepeated(entries), strict=True))


def unrepeated(entries: Sequence[Entry]) -> Iterator[str]:
    """The game's answers, each in full the first time it is given and by its number after that."""
    first: dict[str, int] = {}
    for entry in entries:
        before = first.setdefault(entry.answer, entry.number)
        known = before != entry.number and len(entry.answer) > _SHORT
        yield f"(the answer of action {before})" if known else entry.answer


class History:
    """All commands of a game: a summary of the older ones and the newer ones in full.

    Read texts (a recipe) stay verbatim before the summary.

    budget: characters that the whole may have; 0 for no limit. The text changes only at its end
    until it is folded, so that what a server has kept of a prompt stays good.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self.summary = ""
        self.folded: tuple[Entry, ...] = ()
        self.recent: tuple[Entry, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (self.summary, lines(self.recent))))

    def add(self, entry: Entry) -> None:
        self.recent += (entry,)

    def due(self) -> tuple[Entry, ...]:
        """Entries to fold now: all but the newest that fit into a quarter of the budget. The newest
        is never folded.
        """
        if not self._budget or len(self.text) <= self._budget:
            return ()
        room, keep = self._budget // 4 - len(str(self.recent[-1])), 1
        for entry in reversed(self.recent[:-1]):
            room -= len(str(entry)) + 1
            if room < 0:
                break
            keep += 1
        return self.recent[:-keep]

    def fold(self, due: tuple[Entry, ...], summary: str) -> None:
        """Replace the old summary and the `due` entries by `summary`."""
        self.folded += due
        self.recent = self.recent[len(due) :]
        read = {e.action: f"{e.action} → {e.answer}" for e in self.folded if is_reading(e)}
        self.summary = _cut("\n".join([*read.values(), summary.strip()]), self._budget // 2)


def is_reading(entry: Entry) -> bool:
    """Whether the command reads instructions."""
    return entry.action.startswith(("read ", "examine cookbook", "examine recipe"))


def _cut(text: str, limit: int) -> str:
    """At most `limit` characters, whole words."""
    return text if len(text) <= limit else text[:limit].rsplit(maxsplit=1)[0] + " …"


def summarised(entries: Sequence[Entry]) -> str:
    """The most important lines first: the end is what is cut where there is no room.

    Wrong and right places of things, as far as the player was told of them; other commands that
    earned points, where else things were put, the ways between rooms, commands that did no good.
    """
    told: dict[str, list[str]] = {RIGHT_PLACE: [], WRONG_PLACE: []}
    put: dict[str, str] = {}
    rest = []
    for entry in entries:
        if (pair := placed(entry.action)) is None or (entry.gained and not entry.word):
            rest.append(entry)
        elif entry.word in told:
            told[entry.word].append(": ".join(pair))
        else:
            put[pair[0]] = pair[1]
    parts = {
        "Wrong places": told[WRONG_PLACE],
        "Right places": told[RIGHT_PLACE],
        "Points for": [e.action for e in rest if e.gained > 0],
        "Put": [f"{thing}: {place}" for thing, place in put.items()],
        "Ways": [f"{e.room}, {e.action}: {e.came_to}" for e in rest if e.came_to != e.room],
        "No good": [e.action for e in rest if e.gained <= 0 and e.word],
    }
    shown = [f"{name}: {'; '.join(dict.fromkeys(items))}" for name, items in parts.items() if items]
    return "\n".join([f"Summary of actions 0 to {entries[-1].number}", *shown])
