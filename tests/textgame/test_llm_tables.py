"""Tables 3.2 and 3.3 from runs whose figures are known."""

import math

from naisei.cli.derived import ablation
from naisei.core import Where
from naisei.runs.task import EpisodeRow, Summary, Table
from naisei.textgame.ablation import tables_of
from naisei.textgame.config import AblationConfig, GameConfig
from naisei.textgame.schemas import GameResult, Step
from naisei.textgame.system import RUN
from naisei.textgame.task import summarise

KINDS = {"a": "easy", "b": "hard", "c": "hard"}


def summary(
    scores: dict[str, list[int]], repairs: int = 0, failed: tuple[str, ...] = ()
) -> Summary:
    """Points out of 4 for each trial at each game, one step a point."""
    rows = []
    for game, each in scores.items():
        for trial, score in enumerate(each, 1):
            step = Step(room="r", action="x", feedback="", score=1, counts={"repairs": repairs})
            result = GameResult(
                game=game, score=score, max_score=4, won=score == 4, lost=False,
                steps=score * (step,),
            )  # fmt: skip
            rows.append(EpisodeRow(Where(game, trial), result.model_dump(mode="json")))
    rows += [EpisodeRow(Where(game, 1), failure="down") for game in failed]
    return summarise(GameConfig(games="g", trials=2), KINDS, rows)


def lines(table: Table) -> dict[str, dict[str, float]]:
    return {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_scores_and_steps_stand_by_level_easy_ones_first():
    full = summary({"a": [4], "b": [1], "c": [2]})
    fa = summary({"a": [3], "b": [1], "c": [1]})
    table, *_ = tables_of({"full": full, "no-fa": fa})
    assert "3.2" in table.title
    assert table.columns[1:5] == ("easy score", "easy steps", "hard score", "hard steps")
    line = lines(table)["full"]
    assert (line["easy score"], line["hard score"], line["hard steps"]) == (1, 0.375, 1.5)
    assert (line["score"], line["steps"], line["n"]) == (7 / 12, 7 / 3, 3)
    assert list(lines(table)) == ["full", "no-fa"]


def test_table_3_3_has_its_own_rows():
    one = summary({"a": [4]})
    tables = tables_of({"full": one, "no-cot": one, "no-one-shot": one, "easy-one-shot": one})
    assert [list(lines(t)) for t in tables[:2]] == [
        ["full", "no-cot", "no-one-shot"],
        ["full", "no-one-shot", "easy-one-shot"],
    ]


def test_rows_are_compared_on_the_games_scored_in_both():
    full = summary({"a": [4, 2], "b": [4, 4], "c": [0, 0]})
    other = summary({"a": [0, 2], "b": [2, 2]}, failed=("c",))
    found = [
        row
        for row in tables_of({"full": full, "no-cot": other})[-1].rows
        if row[1] == "normalized_score"
    ]
    # (1 − 3)/4 and (2 − 4)/4, each the mean of two trials.
    assert found[0][:3] == ("no-cot", "normalized_score", -0.5)
    assert found[0][-1] == 2


def test_replies_that_needed_a_repair_have_a_table():
    tables = tables_of({"full": summary({"a": [4]}), "no-fa": summary({"a": [4]}, repairs=2)})
    line = next(lines(t) for t in tables if "repairs" in t.columns)
    assert (line["full"]["repairs"], line["no-fa"]["repairs"]) == (0, 8)
    assert math.isnan(line["full"]["unmatched"])


def test_a_row_without_a_scored_game_is_undefined():
    tables = tables_of({"full": summary({"a": [4]}), "no-fa": summary({}, failed=("a",))})
    line = lines(tables[0])["no-fa"]
    assert math.isnan(line["score"])
    assert math.isnan(line["easy score"])
    assert line["n"] == 0


def test_one_row_alone_has_a_table_and_no_comparison():
    tables = tables_of({"full": summary({"a": [4]})})
    assert not any("Difference" in t.title for t in tables)
    assert lines(tables[0])["full"]["score"] == 1


def test_rows_differ_from_full_in_one_thing():
    base = AblationConfig(games="g", agent="llm", models={"player": "p:a"})
    both = base.model_copy(update={"other_model": "p:b"})
    rows = ablation(RUN, both)
    assert {k: v for k, v in rows.items() if v == both} == {"full": both}
    assert rows["other-model"].models == {"player": "p:b"}
    assert rows["full"].model_dump() == GameConfig.model_validate(base.model_dump()).model_dump()
    assert rows["no-cot"].agent_options == {"thinking": False}
    assert list(ablation(RUN, base)) == ["full", "no-cot", "no-one-shot", "no-fa", "easy-one-shot"]
    assert list(ablation(RUN, base, ["no-fa"])) == ["full", "no-fa"]
