from pathlib import Path

import pytest

from commandline import Naisei
from naisei.agent.opening import indexed
from naisei.agent.persona import load_persona, shipped
from naisei.core import InputError

FILE = """
schema = "naisei.persona.v1"
id = "cook"
title = ["料理人", "A cook"]
documents = "recipes"
openers = ["何を作りましょうか。"]

[character]
id = "cook"
names = ["まさ"]
persona = "料理人。"

[[facts]]
say = "煮物が得意です。"
asked = ["得意な料理は"]
"""


def test_the_bundled_ones_load() -> None:
    assert {"robot", "desk", "sister"} <= {*shipped()}
    for name in shipped():
        persona = load_persona(name)
        assert persona.profile.name
        assert all(fact.asked for fact in persona.facts)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "recipes").mkdir()
    path = tmp_path / "cook.toml"
    path.write_text(FILE, "utf-8")
    persona = load_persona(path)
    assert persona.documents == str(tmp_path / "recipes")
    assert not persona.acts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('openers = ["何を作りましょうか。"]', "openers = []"),
        ('id = "cook"\ntitle', 'id = "Cook!"\ntitle'),
        ("asked =", "asks ="),
        ("[character]", "[character"),
        ("naisei.persona.v1", "naisei.persona.v9"),
    ],
)
def test_what_is_no_persona_is_refused_with_its_place(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "cook.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError) as refused:
        load_persona(path)
    assert str(path) in str(refused.value.place)
    assert refused.value.remedy


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="nobody"):
        load_persona("nobody")


def test_documents_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nowhere"):
        given = str(tmp_path / name)
        with pytest.raises(InputError) as told, indexed(given, tmp_path):
            pass
        assert told.value.place == given


def test_a_talk_without_its_folder_does_not_begin(naisei: Naisei, tmp_path: Path) -> None:
    done = naisei("talk", "--documents", tmp_path / "nowhere")
    assert done.code == 2 and "nowhere" in done.err and not Path("runs").exists()
