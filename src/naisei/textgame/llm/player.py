"""Language-model players: the whole game in one prompt, or a dialogue; and a navigator for both."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from naisei import lang
from naisei.core import Chat, Flow, Message, assistant, system, user
from naisei.models.thoughts import parted
from naisei.schema import model_field
from naisei.textgame.cooking_state import Navigator, cookbook_text
from naisei.textgame.llm.prompt import (
    PACKAGE,
    Entry,
    Family,
    Feedback,
    History,
    Kind,
    LLMOptions,
    family_of,
    messages,
    summarised,
    task_text,
    walkthrough,
)
from naisei.textgame.player import Follows, Player
from naisei.textgame.schemas import Decision, View
from naisei.textgame.texts import opening_words, plain, read_foods

#: List marks, prompt signs and numbers before a command.
_BEFORE = re.compile(r"^(?:[>*\-•·–]+\s*|\d+\s*[.):]\s*|\d+\s+(?=[a-z]))+", re.I)
_QUOTES = "\"'`*“”‘’"


def matched(reply: str, candidates: Sequence[str]) -> str | None:
    """The candidate equal to `reply`, ignoring case, white space, final punctuation, quotes and
    list marks; else `None`."""
    if reply in candidates:
        return reply
    by_name = {" ".join(c.split()).casefold(): c for c in reversed(candidates)}
    bare = _bare(reply)
    return by_name.get(bare) or by_name.get(_bare(_BEFORE.sub("", bare)))


def _bare(text: str) -> str:
    """Lower case, single spaces, without quotes and final punctuation."""
    before, bare = None, " ".join(text.split()).casefold()
    while bare != before:
        before, bare = bare, bare.strip(_QUOTES).rstrip(".!;,").strip()
    return bare


class Command(BaseModel):
    """The next command, copied from the list."""

    model_config = ConfigDict(frozen=True)

    action: str = model_field("一覧にあるとおりの行動", "One action, letter for letter as listed")


class ConsideredCommand(BaseModel):
    """Thoughts first, then the command."""

    model_config = ConfigDict(frozen=True)

    consideration: str = model_field("考え", "Your thoughts, step by step")
    action: str = model_field("一覧にあるとおりの行動", "One action, letter for letter as listed")


class Reply(BaseModel):
    """A model's reply. action: empty if the template was not followed. raw: the full text."""

    model_config = ConfigDict(frozen=True)

    consideration: str = ""
    action: str = ""
    raw: str


_LABEL = re.compile(r"^[\s>#*_]*(consideration|(?:next )?action)[*_]*\s*:[*_]*[ \t]*", re.I | re.M)


def from_template(text: str) -> Reply:
    """Parse a filled-in template.

    A reply with several different actions has no action.
    """
    pieces = _LABEL.split(parted(text).answer)
    considered, actions = "", []
    for label, body in zip(pieces[1::2], pieces[2::2], strict=True):
        body = body.strip()
        if label.lower() == "consideration":
            considered = considered or body
        elif body:
            actions.append(body.splitlines()[0].strip())
    chosen = actions[0] if len({a.casefold() for a in actions}) == 1 else ""
    return Reply(consideration=considered, action=chosen, raw=text)


#: Fallback verbs, best first: informative or reversible.
_HARMLESS = ("look", "inventory", "examine", "go", "open", "take")


def choose(
    messages: Sequence[Message], candidates: Sequence[str], options: LLMOptions
) -> Flow[Decision]:
    """A decision for one of the candidates, with two counts.

    repairs: 1 if the first reply matched no candidate and the model saw the list again. unmatched:
    1 if the second reply did not match either, so that `fallback` chose.

    Raises (in the flow):
        InstrumentFailure: no usable reply after the gateway's retries.
    """
    reply = yield from _ask(messages, options)
    action, counts = matched(reply.action, candidates), {"repairs": 0, "unmatched": 0}
    if action is None:
        counts["repairs"] = 1
        repair = lang.render(
            PACKAGE,
            f"repair-{options.reply}.v1",
            "en",
            said=_quoted(reply),
            candidates="\n".join(f"- {c}" for c in candidates),
        )
        again = yield from _ask([*messages, assistant(reply.raw), user(repair)], options)
        action = matched(again.action, candidates)
        reply = again if again.consideration else reply
    if action is None:
        counts["unmatched"] = 1
        action = fallback(candidates)
    return Decision(action=action, thoughts=reply.consideration, counts=counts)


def fallback(candidates: Sequence[str]) -> str:
    """The least harmful candidate: the first `look`, `inventory`, examine, go, open or take, in
    this order; else the first candidate."""
    for verb in _HARMLESS:
        for candidate in candidates:
            if candidate.split(" ", 1)[0] == verb:
                return candidate
    return candidates[0]


def _ask(messages: Sequence[Message], options: LLMOptions) -> Flow[Reply]:
    if options.reply == "template":
        return from_template((yield from Chat("player", messages)))
    if options.thinking:
        full = yield from Chat("player", messages, ConsideredCommand)
        return Reply(**full.model_dump(), raw=full.model_dump_json())
    short = yield from Chat("player", messages, Command)
    return Reply(action=short.action, raw=short.model_dump_json())


def _quoted(reply: Reply) -> str:
    """The reply's command in quotes, or "(no command)"."""
    return f"“{reply.action}”" if reply.action else "(no command)"


# The player of chapter 3: every prompt contains the whole game so far.
#
# Source: the text-game thesis, §3.2.


class LLMPlayer:
    """Asks a model for every command. memo: notes from earlier tries."""

    def __init__(self, options: LLMOptions, *, memo: str = "") -> None:
        self._options, self._memo = options, memo
        self._history = History(options.history_chars)
        self._number = 0
        self._last: tuple[View, str] | None = None

    def decide(self, view: View) -> Flow[Decision]:
        if self._last is None:
            self._begin(view)
        else:
            self._note(*self._last, view)
        self._fold()
        prompt = messages(
            view,
            self._options,
            task=self._task,
            example=self._example,
            memo=self._memo,
            history=self._history.text,
        )
        decision = yield from choose(prompt, view.candidates, self._options)
        self._last = view, decision.action
        return decision

    def did(self, action: str) -> bool:
        """Record that a command other than the decided one was given."""
        if self._last is not None:
            self._last = self._last[0], action
        return True

    def _begin(self, view: View) -> None:
        opening = opening_words(view.feedback)
        family = family_for(self._options, opening)
        kind = feedback_kind(self._options, family)
        self._feedback = Feedback(kind)
        self._task = task_text(self._options, family, opening)
        self._example = walkthrough(self._options, family, augmented=kind != "none")

    def _note(self, before: View, action: str, now: View) -> None:
        answer, gained = plain(now.feedback), now.score - before.score
        word = self._feedback.word(action, answer, gained)
        self._history.add(Entry(self._number, before.room, now.room, action, answer, word, gained))
        self._number += 1

    def _fold(self) -> None:
        if due := self._history.due():
            self._history.fold(due, summarised([*self._history.folded, *due]))


def family_for(options: LLMOptions, opening: str) -> Family:
    """The kind of game: as configured, or from its opening text."""
    return family_of(opening) if options.task == "auto" else options.task


def feedback_kind(options: LLMOptions, family: Family) -> Kind:
    """The kind of feedback augmentation: as configured, or from the kind of game."""
    if options.feedback != "auto":
        return options.feedback
    return "none" if family == "general" else family


# The player of chapters 5 and 6: zero-shot, a conversation with one turn per step.
#
# Source: the text-game thesis, §§5.5.3, 6.5.2 (Tables 5.5 and 6.2). A turn has the last command,
# points, room and inventory; the newest lists the commands. Unlike in the thesis, commands have no
# numbers, since these would change at every step, and the recipe appears in one turn only, so
# that requests share a prefix.


class DialoguePlayer:
    """Asks a model for every command. memo: notes from earlier tries."""

    def __init__(self, options: LLMOptions, *, memo: str = "") -> None:
        self._options, self._memo = options, memo
        #: The turn and the command of each step.
        self._turns: list[tuple[str, str]] = []
        #: The first turn still in the prompt.
        self._first = 0
        self._instructions, self._recipe = "", ""
        #: Number of the turn that read the recipe.
        self._read = 0
        self._cooking = False

    def decide(self, view: View) -> Flow[Decision]:
        if not self._turns:
            self._begin(view)
        new = "" if self._recipe else cookbook_text(view.feedback)
        if new:
            self._recipe, self._read = f"\nRecipe: {new}", len(self._turns)
        turn = self._turn(view)
        choice = lang.render(
            PACKAGE,
            "actions.v4",
            "en",
            missing="Recipe: missing\n" if self._cooking and not self._recipe else "",
            left=view.steps_left,
            candidates=_listed(view.candidates),
        )
        earlier = self._earlier(len(turn) + len(choice))
        newest = f"{turn}{self._recipe_in(len(self._turns))}\n{choice}"
        prompt = (system(self._instructions), *earlier, user(newest))
        reply = yield from self._ask(prompt)
        action, counts = matched(reply, view.candidates), {"repairs": 0, "unmatched": 0}
        if action is None:
            counts["repairs"] = 1
            again = lang.render(
                PACKAGE, "repair-dialogue.v2", "en", candidates=_listed(view.candidates)
            )
            reply = yield from self._ask((*prompt, assistant(reply or "(nothing)"), user(again)))
            action = matched(reply, view.candidates)
        if action is None:
            counts["unmatched"] = 1
            action = fallback(view.candidates)
        self._turns.append((turn, action))
        return Decision(action=action, counts=counts)

    def did(self, action: str) -> bool:
        """Record that a command other than the decided one was given."""
        if self._turns:
            self._turns[-1] = self._turns[-1][0], action
        return True

    def _begin(self, view: View) -> None:
        opening = opening_words(view.feedback)
        family = family_for(self._options, opening)
        self._cooking = family == "cooking"
        self._instructions = lang.render(
            PACKAGE,
            "dialogue.v3",
            "en",
            task=task_text(self._options, family, opening),
            memo=f"Memo from earlier tries at this very game:\n{self._memo}" if self._memo else "",
        ).strip()

    def _ask(self, messages: Sequence[Message]) -> Flow[str]:
        reply = yield from Chat("player", messages)
        return parted(reply).answer.strip()

    def _turn(self, view: View) -> str:
        inventory = plain(view.inventory.partition(":")[2]) or "nothing."
        done = ""
        if self._turns:
            done = (
                f"Executed action {len(self._turns)}: {self._turns[-1][1]}\n"
                f"Points so far: {view.score}\n"
            )
        return lang.render(
            PACKAGE,
            "turn.v4",
            "en",
            done=done,
            room=view.room,
            inventory=f"{inventory} Total {len(read_foods(view.inventory))} items.",
            answer="" if self._cooking else f"Answer of the game: {plain(view.feedback)}\n",
        ).strip()

    def _earlier(self, newest: int) -> list[Message]:
        """The earlier turns without their command lists. newest: characters of the turn that
        follows.

        Each turn describes the full state, so old turns can be dropped. If the budget is exceeded,
        half of it is freed at once, so that requests share a prefix. The recipe is never dropped.
        """
        if self._options.history_chars:
            room = self._options.history_chars - newest - len(self._recipe)
            lengths = [len(turn) + len(action) for turn, action in self._turns]
            if sum(lengths[self._first :]) > room:
                while self._first < len(lengths) and sum(lengths[self._first :]) > room // 2:
                    self._first += 1
        turns = enumerate(self._turns[self._first :], self._first)
        return [
            message
            for number, (turn, action) in turns
            for message in (user(turn + self._recipe_in(number)), assistant(action))
        ]

    def _recipe_in(self, number: int) -> str:
        """The recipe if turn `number` read it or is the prompt's oldest; else ""."""
        return self._recipe if number == max(self._read, self._first) else ""


def _listed(candidates: Sequence[str]) -> str:
    return "\n".join(f"- {candidate}" for candidate in candidates)


# A player with a navigator: a whole path is one choice.
#
# Source: the text-game thesis, §§6.2.1, 6.5.2.


class Navigating:
    """Offers `navigate to <item>` to the inner player, which is not called along the path."""

    def __init__(self, player: Player) -> None:
        self._player, self._navigator = player, Navigator()

    def decide(self, view: View) -> Flow[Decision]:
        self._navigator.see(view)
        decision = self._navigator.on_the_way(view)
        if decision is None:
            more = self._navigator.commands()
            extended = view.model_copy(update={"candidates": (*more, *view.candidates)})
            chosen = yield from self._player.decide(extended)
            thoughts = f"{chosen.action}: {chosen.thoughts}".removesuffix(": ")
            decision = self._navigator.begin(chosen, thoughts)
        self._navigator.gave(decision.action)
        return decision

    def did(self, action: str) -> bool:
        """Record that a command other than the decided one was given."""
        self._navigator.stop()
        self._navigator.gave(action)
        return isinstance(self._player, Follows) and self._player.did(action)
