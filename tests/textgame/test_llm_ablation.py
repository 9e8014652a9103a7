"""The rows of the language-model player's ablation."""

from naisei.cli.derived import ablation
from naisei.textgame.config import AblationConfig, GameConfig
from naisei.textgame.system import RUN


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
