"""Settings of the language-model players, and parts of their prompts: task, examples, history."""

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

#: The package with the prompts.
PACKAGE = "naisei.textgame.llm"


class LLMOptions(Options):
    """Parts of the prompt (thesis §3.2), set independently, and the parsing of replies.

    prompt: `whole`, one prompt with the game so far (chapter 3), or `dialogue`, one turn per step
    without example, thoughts and feedback augmentation (§§5.5.3, 6.5.2). navigator: offer `navigate
    to <item>` after the cookbook was read (§6.5.2). task: `tidying`, `cooking` or `general` (the
    game's opening words); `auto` decides from the opening. task_text: your own task text instead.
    thinking: a consideration before the command (chain of thought). example: a walkthrough of
    another game, the thesis's `hard` one with two rooms, an `easy` one, or `none`. feedback: words
    added to the game's answers (feedback augmentation): `auto` by the task, or `none`. reply: JSON
    by schema, or a text template. history_chars: most characters of history or conversation; a
    longer history's older half is summarised; 0: no limit. memory: policy between tries (`none`,
    `tur`, `reflexion`); needs more than one try.
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
        """Reject options without effect, since a table would show no difference."""
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
    """The kind of game by its opening; `general` if neither kind is mentioned."""
    if _COOKING.search(opening):
        return "cooking"
    return "tidying" if _TIDYING.search(opening) else "general"


# Feedback augmentation: adds to the game's answer whether the command was right.
#
# Source: the text-game thesis, §3.2.2. For a misplaced thing the game's answer differs only in
# the missing point, which models overlook.

#: Kinds of feedback: right or wrong places, right or refused steps, none.
Kind = Literal["tidying", "cooking", "none"]

RIGHT_PLACE = "This is its right place."
WRONG_PLACE = "This is a wrong place for it: it belongs somewhere else, perhaps in the other room."
RIGHT_STEP = "This was a right step."
REFUSED = "Nothing was done: something else has to come first."

_PLACED = re.compile(r"(?:put|insert) (?P<thing>.+?) (?:on|onto|in|into) (?P<place>.+)")
#: Beginnings of the engine's refusals.
_REFUSAL = re.compile(
    r"(You(['’]re| are) (already )?carrying too many|You (can only|cannot|need|have to|must)\b"
    r"|You (ca|do)n['’]t\b|That['’]s not|That is not|I didn['’]t|Nothing |Which do you mean)",
    re.I,
)


def placed(action: str) -> tuple[str, str] | None:
    """(thing, place) of a command that puts something somewhere; else `None`."""
    match = _PLACED.fullmatch(action)
    return (match["thing"], match["place"]) if match else None


class Feedback:
    """Adds a word to each answer of one game, in order."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._right: set[tuple[str, str]] = set()

    def word(self, action: str, answer: str, gained: int) -> str:
        """The word after `answer`; may be "".

        gained: points from the command.
        """
        if self._kind == "tidying":
            if (pair := placed(action)) is None:
                return ""
            if gained > 0:
                self._right.add(pair)
            # Returning a thing to its right place earns no second point.
            return RIGHT_PLACE if pair in self._right else WRONG_PLACE
        if self._kind == "cooking":
            if gained > 0:
                return RIGHT_STEP
            return REFUSED if _REFUSAL.match(answer) else ""
        return ""


# The prompt of one step.
#
# Source: the text-game thesis, §§3.2.1, 3.2.3: the system message has task, example, history,
# inventory and surroundings, the user's candidates, question and template. Constant parts come
# first, so that a server can cache the prefix.

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
    """System and user message. Empty parts have no heading. The room is described once, even if the
    last answer describes it too."""
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
    question = lang.render(
        PACKAGE,
        f"ask-{options.reply}-{'thinking' if options.thinking else 'direct'}.v2",
        "en",
        candidates="\n".join(view.candidates),
        left=view.steps_left,
    )
    return system(re.sub(r"\n{3,}", "\n\n", instructions)), user(question)


def task_text(options: LLMOptions, family: Family, opening: str) -> str:
    """The configured task text, or the prompt for this kind of game, plus the navigator's
    description."""
    task = options.task_text or lang.render(
        PACKAGE, _TASKS[family], "en", opening=opening or _NOTHING
    )
    if not options.navigator or family == "tidying":  # tidying games have no recipe
        return task
    return "\n".join((task.rstrip(), lang.render(PACKAGE, "navigator.v1", "en")))


def walkthrough(options: LLMOptions, family: Family, *, augmented: bool) -> str:
    """The example, optionally with feedback augmentation; "" if none fits.

    Games of an unknown kind get none: another kind's example would mislead.
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


# The commands so far in a prompt; older ones are summarised when they grow long.
#
# Source: the text-game thesis, §§3.2.1 and 3.5.2 (summarising is its future work).


@dataclass(frozen=True, slots=True)
class Entry:
    """One command. number: from 0. room, came_to: room before and after it. word: feedback
    augmentation. gained: points."""

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
        """The line with `answer` in place of the game's answer."""
        text = " ".join((answer, self.word)).strip()
        return f"Action {self.number}: {self.action} → {_once(text)}"


_POINT = re.compile(
    rf" ?Your score has just gone up by \w+ points?\.(?= ({RIGHT_STEP}|{RIGHT_PLACE}))"
)


def _once(text: str) -> str:
    """Drop the game's own message about a point if the feedback word repeats it."""
    return _POINT.sub("", text)


#: Answers up to this many characters are repeated instead of referenced.
_SHORT = 60


def lines(entries: Sequence[Entry]) -> str:
    """One line per entry; repeated long answers are references."""
    return "\n".join(e.with_answer(a) for e, a in zip(entries, unrepeated(entries), strict=True))


def unrepeated(entries: Sequence[Entry]) -> Iterator[str]:
    """The game's answers: in full the first time, later by the command's number."""
    first: dict[str, int] = {}
    for entry in entries:
        before = first.setdefault(entry.answer, entry.number)
        repeated = before != entry.number and len(entry.answer) > _SHORT
        yield f"(the answer of action {before})" if repeated else entry.answer


class History:
    """All commands of a game: a summary of older ones, then the newer ones in full.

    Texts that were read (a recipe) stay verbatim before the summary. budget: most characters; 0: no
    limit. Between two summaries the text only grows at its end, so that its prefix can be cached.
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
        """Entries to summarise now: all but the newest that fit into a quarter of the budget. The
        newest entry always stays."""
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
        """Move the `due` entries into `summary`, which replaces the old one."""
        self.folded += due
        self.recent = self.recent[len(due) :]
        read = {e.action: f"{e.action} → {e.answer}" for e in self.folded if is_reading(e)}
        self.summary = _cut("\n".join([*read.values(), summary.strip()]), self._budget // 2)


def is_reading(entry: Entry) -> bool:
    """Whether the command reads instructions."""
    return entry.action.startswith(("read ", "examine cookbook", "examine recipe"))


def _cut(text: str, limit: int) -> str:
    """At most `limit` characters, at a word boundary."""
    return text if len(text) <= limit else text[:limit].rsplit(maxsplit=1)[0] + " …"


def summarised(entries: Sequence[Entry]) -> str:
    """A summary, most important lines first, since its end may be cut: wrong and right places from
    the feedback, other commands with points, other places, ways between rooms, useless commands."""
    places: dict[str, list[str]] = {RIGHT_PLACE: [], WRONG_PLACE: []}
    put: dict[str, str] = {}
    rest = []
    for entry in entries:
        if (pair := placed(entry.action)) is None or (entry.gained and not entry.word):
            rest.append(entry)
        elif entry.word in places:
            places[entry.word].append(": ".join(pair))
        else:
            put[pair[0]] = pair[1]
    parts = {
        "Wrong places": places[WRONG_PLACE],
        "Right places": places[RIGHT_PLACE],
        "Points for": [e.action for e in rest if e.gained > 0],
        "Put": [f"{thing}: {place}" for thing, place in put.items()],
        "Ways": [f"{e.room}, {e.action}: {e.came_to}" for e in rest if e.came_to != e.room],
        "No good": [e.action for e in rest if e.gained <= 0 and e.word],
    }
    lines_ = [
        f"{name}: {'; '.join(dict.fromkeys(items))}" for name, items in parts.items() if items
    ]
    return "\n".join([f"Summary of actions 0 to {entries[-1].number}", *lines_])
