"""Characters are data: the shipped ones load, a user's own works, a bad one is explained."""

from pathlib import Path

import pytest

from both_languages import refused
from naisei.director import check, load_character
from naisei.director.character import parse_character, shipped

OWN = """
schema = "naisei.character.v1"
id = "ken"
names = ["ケン"]
persona = "船乗り。"
[tone]
markers = ["ぜ", { text = "だろ", at = "clause-end" }]
"""


def test_both_sisters_ship() -> None:
    assert [c.id for c in shipped()] == ["ayu", "yana"]
    assert load_character("やな") is load_character("yana")
    assert load_character("ayu").praise and not load_character("yana").praise


def test_an_own_profile_needs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "ken.toml"
    path.write_text(OWN, encoding="utf-8")
    assert check("行くぜ。", character=path).status.value == "PASS"
    lax = check("別居している。あなたは天才です。", character=str(path))
    assert lax.check("tone").status.value == "WARN", "signals that were not measured only warn"
    verdict = check("別居している。あなたは天才です。", character=str(path), rules="spec")
    assert verdict.to_json()["tone"] == {
        "score": 0,
        "marker": 0,
        "vocab": None,
        "style": None,
        "weight": None,
    }
    assert [c.name for c in verdict.checks if c.status.value == "RETRY"] == ["tone"]


def test_an_english_character_is_judged_by_its_own_words_in_its_own_marks() -> None:
    text = """
schema = "naisei.character.v1"
id = "mara"
names = ["Mara"]
persona = "Captain of a freight ship."
[tone]
markers = ["aye"]
[praise]
words = ["great job", "well done"]
"""
    mara = parse_character(text)
    mended = check("Aye!! We sail?? Aye...", character=mara)
    assert (mended.status, mended.text) == ("MODIFY", "Aye! We sail? Aye...")
    assert check("「Aye」「We sail」", character=mara).text == "Aye. We sail"
    praised = check("Well done, Tom, aye. You did a great job.", character=mara)
    assert praised.check("praise").evidence == ("Well done", "great job")
    assert check("Aye. We sail at six.", character=mara).status == "PASS"
    assert check("えー!!ほんと??", character="yana").text == "えー！ほんと？"


def test_without_a_tone_every_tone_passes() -> None:
    silent = parse_character(OWN.split("[tone]")[0])
    assert check("はい", character=silent).status.value == "PASS"


def test_two_parts_need_both() -> None:
    two = parse_character(OWN + 'vocabulary = ["錨"]\n')
    assert [
        check(t, character=two, rules="spec").check("tone").status.value
        for t in ("うん", "錨", "錨だぜ")
    ] == [
        "RETRY",
        "WARN",
        "PASS",
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("=", "TOML"),
        ("", "empty"),
        ("# nothing yet", "schema"),
        (OWN.replace("ken", "Ken!"), "id"),
        (OWN.replace("markers", "marker"), "tone.marker"),
        (OWN.replace('at = "clause-end"', 'at = "end"'), "tone.markers.1.at"),
        (OWN + '[[setting]]\nfact="a"\ncontradicted_by=["("]\n', "setting.0.contradicted_by"),
        (OWN + '[[setting]]\nfact="a"\ncontradicted_by=["a*"]\n', "every line"),
        (OWN + '[[setting]]\nfact="a"\ncontradicted_by=["(い|う+)+え"]\n', "may take for ever"),
        (OWN + '[[setting]]\nfact="a"\ncontradicted_by=["b.*c.*d.*e"]\n', "may take for ever"),
        (OWN + "[limits]\nwarn_rows = 9\n", "warn_rows"),
        (OWN + '[tone.style]\nkind="loud"\n', "tone.style"),
    ],
)
def test_a_bad_profile_is_explained(text: str, named: str) -> None:
    error = refused(lambda: parse_character(text, place="ken.toml"))
    assert named in str(error) and error.place.startswith("ken.toml") and error.remedy


def test_unknown_characters_and_files(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\x00\xff\xfe\x81")
    for name in ("nobody", str(tmp_path / "none.toml"), tmp_path, tmp_path / "bytes.toml"):
        assert refused(lambda name=name: check("はい", character=name)).remedy
