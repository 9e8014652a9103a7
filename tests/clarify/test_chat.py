"""A conversation in the terminal, and its notes on disk."""

import json

import pytest

from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.chat import ground
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.data import load, load_actions
from naisei.clarify.data.bundled import folder
from naisei.core import InputError
from naisei.japanese.morph import is_japanese


@pytest.fixture
def sitting(tmp_path, naisei):
    def begin(lines, *flags):
        said = "\n".join(lines) + "\n"
        own = {"NAISEI_LANG": "ja", "NAISEI_DATA": str(tmp_path)}
        return naisei("clarify", "chat", "--agent", "random", *flags, stdin=said, **own)

    return begin


def test_notes_are_kept_per_person_between_sittings(sitting, tmp_path):
    first = sitting(["ちょっと休憩しようかな", "いいえ", "はい", ""], "--user", "花子")
    assert first.code == 0, first.err
    assert "覚えておきます" in first.out
    kept = json.loads((tmp_path / "people" / "花子.json").read_text(encoding="utf-8"))
    assert [o["right"] for o in kept["outcomes"]] == [False, True]

    again = sitting([""], "--user", "花子")
    assert "ちょっと休憩しようかな" in again.out
    other = sitting([""], "--user", "太郎")
    assert "ちょっと休憩しようかな" not in other.out


def test_in_english_the_actions_are_english(sitting, tmp_path):
    english = {a.text for a in load_actions(language="en")}
    done = sitting(["I feel cold.", "no", "no", "no", ""], "--talk", "en", "--user", "e")
    assert done.code == 0, done.err
    kept = json.loads((tmp_path / "people" / "e.json").read_text(encoding="utf-8"))
    named = [o["action"] for o in kept["outcomes"]]
    assert len(named) == 3 and set(named) <= english
    assert all(f"→ {text}" in done.out for text in named)
    done = sitting(["寒いな", "はい", ""], "--talk", "ja", "--user", "j")
    kept = json.loads((tmp_path / "people" / "j.json").read_text(encoding="utf-8"))
    assert {o["action"] for o in kept["outcomes"]} <= {a.text for a in load_actions()}


def config(data="ambigact40-open"):
    return ClarifyConfig(agent="random", data=data, split="all", embedder="ngram")


def test_what_a_sitting_stands_on():
    scene = load("ambigact40-open", split="all").instances[0].scene.id
    here = ground(config(), scene=scene, asked="en", shown="ja")
    assert (here.scene.language, here.actions) == ("en", load_actions(language="en"))
    assert here.scene.id == scene
    if (folder("en") / "test.jsonl").exists():
        assert not is_japanese(here.scene.utterance)
    there = ground(config("ambigact40-open:test"), scene=None, asked=None, shown="ja")
    assert (there.scene.language, there.actions) == ("ja", load_actions())
    with pytest.raises(InputError, match="no instance or scene 'x'"):
        ground(config(), scene="x", asked=None, shown="ja")


def test_data_of_ones_own_keeps_its_actions(tmp_path):
    data = tmp_path / "mine.jsonl"
    data.write_text('{"id": "a", "utterance": "ふう。", "gold": 1}\n', encoding="utf-8")
    here = ground(config(str(data)), scene="a", asked=None, shown="en")
    assert (here.scene.language, here.actions.text(1)) == ("ja", load_actions().text(1))
    assert ground(config(str(data)), scene="a", asked="en", shown="ja").scene.language == "en"


def test_the_table_of_bayes_knows_the_english_actions():
    english = knowledge_for(load_actions(language="en"))
    assert english.table == "ambigact40"
    assert [i.object for i in english.items] == [
        i.object for i in knowledge_for(load_actions()).items
    ]


def test_leaving_in_the_middle_keeps_what_was_answered(sitting, tmp_path):
    left = sitting(["寒いな", "いいえ"], "--user", "a")
    assert left.code == 0, left.err
    kept = json.loads((tmp_path / "people" / "a.json").read_text(encoding="utf-8"))
    assert len(kept["outcomes"]) == 1


def test_damaged_notes_and_impossible_names_are_one_message(sitting, tmp_path):
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "x.json").write_text("{", encoding="utf-8")
    damaged = sitting([""], "--user", "x")
    assert damaged.code == 2 and "x.json" in damaged.err
    assert "Traceback" not in damaged.err
    assert (tmp_path / "people" / "x.json").read_text(encoding="utf-8") == "{"
    assert sitting([""], "--user", "../x").code == 2
