"""Errors of text games in the reader's language; what a run records stays in English."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from both_languages import Wrong, said_in_both
from naisei.cli.derived import ablation
from naisei.core import Act, InstrumentFailure, Where
from naisei.lang import speaking
from naisei.textgame.config import AblationConfig
from naisei.textgame.engine import GameHandler, ProcessPool, playable
from naisei.textgame.games import find_games
from naisei.textgame.hybrid.kind import read_weights
from naisei.textgame.make import CookingOptions, make_cooking
from naisei.textgame.make.cleanup import draw_mess
from naisei.textgame.system import RUN
from naisei.textgame.trained.recordings import read_recording
from naisei.textgame.trained.scorer import read_card
from textgame.conftest import story

_NO_FILE = "[Errno 2] No such file or directory: 'nothing.json'"
_NOTHING, _STORY = Path("nothing.json"), Path("g.z8")
_MODEL = {"player": "openai:a"}


def _cut_off() -> object:
    story(_STORY)
    _STORY.write_bytes(_STORY.read_bytes()[:100])
    return playable(_STORY, ProcessPool())


_WRONG: tuple[Wrong, ...] = (
    (lambda: playable(_NOTHING, ProcessPool()), "there is no such game",
     "give a game's file, such as a .z8 or .json"),
    (_cut_off, "the story is damaged or cut off",
     "fetch or generate it again, or leave it out"),
    (lambda: find_games("."), "there are no games here",
     "give a .z8 or .json game, or a folder of them; naisei textgame make cooking --out DIR makes "
     "some"),
    (lambda: find_games("twc:.", split="dev"), "unknown: dev", "use train, valid, test"),
    (lambda: find_games("twc:.", split="test"),
     "this is not the layout of TWC: there is no easy/test",
     "name the folder that holds easy, medium and hard"),
    (lambda: read_weights(_NOTHING), f"these are not weights: {_NO_FILE}",
     "make them: python tools/hybrid_weights.py --recorded FILE --out FILE"),
    (lambda: ablation(RUN, AblationConfig(games=".", models=_MODEL), ["half"]),
     "unknown row 'half'",
     "known: full, other-model, no-cot, no-one-shot, no-fa, easy-one-shot, dialogue, navigator, "
     "other-dialogue, other-navigator"),
    (lambda: draw_mess("test", "easy", number_of_rooms=13, random=Random(0)),
     "there are 12 rooms, not 13", "use 1 to 12"),
    (lambda: make_cooking(CookingOptions(split="dev", out=Path("out"), n=1, processes=1)),
     "unknown split: dev", "use train, valid, test"),
    (lambda: read_card(Path(), "policy"), "there is no trained model here",
     "train one: naisei textgame train --games DIR --out MODEL, or choose a player that needs "
     "none: --agent planner"),
    (lambda: read_recording(_NOTHING), "there is no such recording",
     "make one: naisei textgame record --games DIR --out FILE"),
)  # fmt: skip


@pytest.mark.parametrize(("do", "message", "remedy"), _WRONG, ids=[m for _, m, _ in _WRONG])
def test_an_error_is_said_in_both_languages(
    english: Path, do: Callable[[], object], message: str, remedy: str
) -> None:
    said_in_both(do, message, remedy)


def test_why_a_game_is_unscored_is_recorded_in_english_for_everybody(english: Path) -> None:
    handler = GameHandler(_NOTHING, ProcessPool())
    with speaking("ja"), pytest.raises(InstrumentFailure, match="there is no such game"):
        handler.perform(Act("look"), Where("g", 1))
