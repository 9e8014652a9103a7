"""A conversation in the terminal, and its notes on disk."""

import json

import pytest

from both_languages import refused
from changed_logs import change
from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.chat import chat_setup
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.data import load, load_actions
from naisei.clarify.data.bundled import folder
from naisei.clarify.person import Person
from naisei.core import InputError
from naisei.japanese.morph import is_japanese
from naisei.runs.conversation import recorded
from naisei.runs.directory import RunDirectory


@pytest.fixture
def talk(tmp_path, naisei):
    def begin(lines, *flags):
        said = "\n".join(lines) + "\n"
        own = {"NAISEI_LANG": "ja", "NAISEI_DATA": str(tmp_path)}
        return naisei("clarify", "chat", "--agent", "random", *flags, stdin=said, **own)

    return begin


def test_notes_are_kept_per_person_between_conversations(talk, tmp_path):
    first = talk(["ちょっと休憩しようかな", "いいえ", "はい", ""], "--user", "花子")
    assert first.code == 0, first.err
    assert "覚えておきます" in first.out
    kept = json.loads((tmp_path / "people" / "花子.json").read_text(encoding="utf-8"))
    assert [o["right"] for o in kept["outcomes"]] == [False, True]

    again = talk([""], "--user", "花子")
    assert "ちょっと休憩しようかな" in again.out
    other = talk([""], "--user", "太郎")
    assert "ちょっと休憩しようかな" not in other.out


def test_in_english_the_actions_are_english(talk, tmp_path):
    english = {a.text for a in load_actions(language="en")}
    done = talk(["I feel cold.", "no", "no", "no", ""], "--talk", "en", "--user", "e")
    assert done.code == 0, done.err
    kept = json.loads((tmp_path / "people" / "e.json").read_text(encoding="utf-8"))
    named = [o["action"] for o in kept["outcomes"]]
    assert len(named) == 3 and set(named) <= english
    assert all(f"→ {text}" in done.out for text in named)
    done = talk(["寒いな", "はい", ""], "--talk", "ja", "--user", "j")
    kept = json.loads((tmp_path / "people" / "j.json").read_text(encoding="utf-8"))
    assert {o["action"] for o in kept["outcomes"]} <= {a.text for a in load_actions()}


def config(data="ambigact40-open"):
    return ClarifyConfig(agent="random", data=data, split="all", embedder="ngram")


def test_what_a_conversation_stands_on():
    scene = load("ambigact40-open", split="all").instances[0].scene.id
    here = chat_setup(config(), scene=scene, asked="en", shown="ja")
    assert (here.scene.language, here.actions) == ("en", load_actions(language="en"))
    assert here.scene.id == scene
    if (folder("en") / "test.jsonl").exists():
        assert not is_japanese(here.scene.utterance)
    there = chat_setup(config("ambigact40-open:test"), scene=None, asked=None, shown="ja")
    assert (there.scene.language, there.actions) == ("ja", load_actions())
    with pytest.raises(InputError, match="no instance or scene 'x'"):
        chat_setup(config(), scene="x", asked=None, shown="ja")


def test_data_of_ones_own_keeps_its_actions(tmp_path):
    data = tmp_path / "mine.jsonl"
    data.write_text('{"id": "a", "utterance": "ふう。", "gold": 1}\n', encoding="utf-8")
    here = chat_setup(config(str(data)), scene="a", asked=None, shown="en")
    assert (here.scene.language, here.actions.text(1)) == ("ja", load_actions().text(1))
    assert chat_setup(config(str(data)), scene="a", asked="en", shown="ja").scene.language == "en"


def test_the_table_of_bayes_knows_the_english_actions():
    english = knowledge_for(load_actions(language="en"))
    assert english.table == "ambigact40"
    assert [i.object for i in english.items] == [
        i.object for i in knowledge_for(load_actions()).items
    ]


def test_leaving_in_the_middle_keeps_what_was_answered(talk, tmp_path):
    left = talk(["寒いな", "いいえ"], "--user", "a")
    assert left.code == 0, left.err
    kept = json.loads((tmp_path / "people" / "a.json").read_text(encoding="utf-8"))
    assert len(kept["outcomes"]) == 1


def test_damaged_notes_and_impossible_names_are_one_message(talk, tmp_path):
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "x.json").write_text("{", encoding="utf-8")
    damaged = talk([""], "--user", "x")
    assert damaged.code == 2 and "x.json" in damaged.err
    assert "Traceback" not in damaged.err
    assert (tmp_path / "people" / "x.json").read_text(encoding="utf-8") == "{"
    assert talk([""], "--user", "../x").code == 2
    refused(lambda: Person.load("a/b", tmp_path))


def test_a_conversation_is_logged_and_goes_on_where_it_was_left(talk, tmp_path, naisei):
    run = str(tmp_path / "run")
    left = talk(["寒いな", "いいえ"], "--user", "a", "--run-dir", run)
    assert left.code == 0, left.err
    back = talk(["はい", ""], "--user", "someone-else", "--run-dir", run)
    assert back.out.index("→") < back.out.index("覚えておきます")
    kept = json.loads((tmp_path / "people" / "a.json").read_text(encoding="utf-8"))
    assert [o["right"] for o in kept["outcomes"]] == [False, True]
    assert not (tmp_path / "people" / "someone-else.json").exists()
    assert run in naisei("runs", "list", str(tmp_path)).out
    assert "寒いな" in naisei("runs", "show", run, "--episode", "conversation#0").out
    resumed = naisei("runs", "resume", run)
    assert resumed.code == 2 and f"naisei clarify chat --run-dir {run}" in resumed.err


def test_after_a_change_a_new_part_takes_up_the_request(talk, tmp_path):
    run = tmp_path / "run"
    assert talk(["寒いな", "いいえ"], "--user", "a", "--run-dir", str(run)).code == 0
    change(run / "log.sqlite", "UPDATE events SET digest = 'other' WHERE kind = 'say'")
    back = talk(["いいえ", "はい", ""], "--run-dir", str(run))
    assert back.code == 0 and "覚えておきます" in back.out, back.err
    kept = json.loads((tmp_path / "people" / "a.json").read_text(encoding="utf-8"))
    assert [o["right"] for o in kept["outcomes"]] == [False, False, True]
    with RunDirectory.look(run) as held:
        first, second = recorded(held.log, "conversation")
    assert {e.kind for e in first} == {"ask", "say", "act"}
    assert "ask" not in {e.kind for e in second[:-1]} and len(kept["outcomes"][0]["utterance"]) == 3


def test_who_leaves_at_once_leaves_no_run(talk, tmp_path):
    assert talk([""], "--run-dir", str(tmp_path / "run")).code == 0
    assert not (tmp_path / "run").exists()
