"""Several tries at one game: the memo between them, and what is measured."""

import math
from dataclasses import dataclass, field

import pytest

from naisei.core import Act, Chat, Remember, Where, World, run
from naisei.lang import speaking
from naisei.memory import MemoryHandler, memory
from naisei.runs.lines import as_text
from naisei.runs.task import EpisodeRow
from naisei.textgame.config import GameConfig
from naisei.textgame.flow import play_tries
from naisei.textgame.lines import game_lines
from naisei.textgame.llm.kind import build
from naisei.textgame.llm.prompt import LLMOptions
from naisei.textgame.player import PlayerContext
from naisei.textgame.schemas import GameResult, Step
from naisei.textgame.task import summarise
from textgame.toy_house import ToyHouse

SOLUTION = (
    "take coat from bench",
    "put coat on hook",
    "take mug from bench",
    "go east",
    "put mug on shelf",
)
WRONG = ("take mug from bench", "put mug on hook", "look", "look", "look", "look")


@dataclass
class Model:
    """Plays wrongly until a memo holds the secret word; the reflector learns it at `learns`."""

    learns: int
    prompts: list[str] = field(default_factory=list)
    reflections: list[str] = field(default_factory=list)

    def __call__(self, chat: Chat):
        said = chat.messages[0].content
        if chat.role == "reflector":
            self.reflections.append(chat.messages[1].content)
            secret = "sesame" if len(self.reflections) >= self.learns else "nothing"
            return f"- {secret}, note {len(self.reflections)}"
        self.prompts.append(said)
        history = said.split("answered):\n")[1].split("\n\nInventory")[0]
        number = 0 if history == "(nothing yet)" else len(history.splitlines())
        action = (SOLUTION if "sesame" in said else WRONG)[number]
        return chat.schema.model_validate({"consideration": "so", "action": action})


def played(model: Model, *, tries: int, policy: str = "tur") -> tuple[GameResult, ToyHouse]:
    kind, settings, house = build(), LLMOptions(memory=policy), ToyHouse()
    kept = memory(policy)

    def player(number: int, memo: str):
        return kind.new(PlayerContext(game="g", seed=number, settings=settings, memo=memo))

    result = run(
        play_tries(
            "g", player, kept, lambda r, m: kind.reflect(settings, r, m), tries=tries, max_steps=6
        ),
        World({Act: house, Chat: model, Remember: MemoryHandler(kept)}),
    )
    return result, house


def test_the_memo_of_a_failed_try_is_put_before_the_next():
    model = Model(learns=2)
    result, house = played(model, tries=5)
    assert result.won
    assert [t.won for t in result.tries] == [False, False, True]
    assert house.begun == 3
    assert [t.memo for t in result.tries] == ["", "- nothing, note 1", "- sesame, note 2"]
    assert [s.action for s in result.steps] == list(SOLUTION)
    assert "Memo" not in model.prompts[0]
    assert "note 1" in model.prompts[6]
    # Trial-updating: the reflector rewrites its note, and only the newest is kept.
    assert "note 1" in model.reflections[1]
    assert "note 1" not in model.prompts[-1]


def test_nobody_reflects_after_the_last_try_or_a_won_one():
    model = Model(learns=9)
    result, _ = played(model, tries=3)
    assert not result.won
    assert len(model.reflections) == 2
    model = Model(learns=1)
    played(model, tries=3)
    assert len(model.reflections) == 1


def test_without_a_memory_tries_know_nothing_of_each_other():
    model = Model(learns=1)
    result, house = played(model, tries=3, policy="none")
    assert (house.begun, model.reflections) == (3, [])
    assert len(set(model.prompts)) == 6
    assert not any(t.memo for t in result.tries)


def test_reflexion_keeps_its_notes_side_by_side():
    model = Model(learns=3)
    result, _ = played(model, tries=4, policy="reflexion")
    assert result.won
    assert result.memo == "- nothing, note 1\n\n- nothing, note 2\n\n- sesame, note 3"
    assert "note 1" not in model.reflections[0]
    assert "note 1" in model.reflections[1]


def test_a_transcript_tells_try_after_try():
    result, _ = played(Model(learns=1), tries=2)
    with speaking("en"):
        text = as_text(game_lines(result))
    assert text.index("Try 1") < text.index("Try 2") < text.index("- sesame, note 1")


def game(name: str, *scores: int, counts: dict[str, int] | None = None) -> GameResult:
    """Tries with these points out of 2; two points win."""
    tries = [
        GameResult(
            game=name, score=s, max_score=2, won=s == 2, lost=False,
            steps=(Step(room="r", action="a", feedback="f", score=s, counts=counts or {}),),
        )
        for s in scores
    ]  # fmt: skip
    return tries[-1].model_copy(update={"earlier": tuple(tries[:-1])})


def metrics(*results: GameResult, tries: int) -> dict[str, float]:
    rows = [EpisodeRow(Where(r.game, 1), r.model_dump(mode="json")) for r in results]
    kinds = {r.game: "hard" for r in results}
    summary = summarise(GameConfig(games="g", tries=tries), kinds, rows)
    return {m.name: m.value for m in summary.metrics}


def test_pass_at_k_counts_games_won_by_the_kth_try():
    found = metrics(game("a", 2), game("b", 1, 0, 2), game("c", 0, 1, 0), tries=3)
    assert [found[f"pass@{k}"] for k in (1, 2, 3)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert [found[f"best_score@{k}"] for k in (1, 2, 3)] == pytest.approx([0.5, 2 / 3, 2.5 / 3])
    assert found["normalized_score"] == pytest.approx(2 / 3)


def test_one_try_has_no_pass_at_k():
    assert not any("@" in name for name in metrics(game("a", 2), tries=1))


def test_what_players_count_is_summed_over_tries_and_averaged_over_games():
    some, none = {"repairs": 2, "unmatched": 1}, {"repairs": 0, "unmatched": 0}
    found = metrics(game("a", 0, 0, counts=some), game("b", 2, counts=none), tries=2)
    assert (found["repairs"], found["unmatched"]) == (2.0, 1.0)
    assert "repairs" not in metrics(game("a", 2), tries=1)


def test_no_scored_game_leaves_the_figures_undefined():
    found = metrics(tries=2)
    assert math.isnan(found["pass@2"])
