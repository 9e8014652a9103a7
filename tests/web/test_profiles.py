"""Profiles written on the page: a sample to change, what is wrong, nothing lost."""

from __future__ import annotations

from naisei.director.character import shipped_profile
from naisei.relationship.pairs import pair_text
from naisei.web.options import WebOptions
from servers.web_server import WebServer


def test_a_profile_that_nothing_uses_is_not_dropped_in_silence(options: WebOptions) -> None:
    mine = shipped_profile("yana").replace('id = "yana"', 'id = "mine"')
    given = {"first": "yana", "second": "ayu", "turns": "2", "profile": mine}
    with WebServer(options) as server, server.visitor() as client:
        told = client.post("/duo/new", data=given)
        assert told.status_code == 422 and "選ばれていません" in told.text
        same = client.post("/duo/new", data=given | {"first": "own", "second": "own"})
        assert same.status_code == 422 and "mine" in same.text
        assert client.post("/duo/new", data=given | {"first": "own"}).status_code == 204
        pair = {"pair": "engineers", "sessions": "1", "turns": "2", "profile": "x"}
        assert client.post("/relationship/new", data=pair).status_code == 422


def test_an_own_profile_that_is_empty_is_told_with_its_place(options: WebOptions) -> None:
    """Its field is folded inside the settings."""
    with WebServer(options) as server, server.visitor() as client:
        for page, chosen in (("duo", {"first": "own"}), ("relationship", {"pair": "own"})):
            given = {"second": "ayu", "sessions": "1", "turns": "2", "profile": " \n"} | chosen
            told = client.post(f"/{page}/new", data=given)
            assert told.status_code == 422 and "「設定」" in told.text, page


def test_a_profile_that_is_wrong_is_told_with_its_key(options: WebOptions) -> None:
    wrong = {"duo": shipped_profile("yana"), "relationship": pair_text("engineers")}
    with WebServer(options) as server, server.visitor() as client:
        for page, text in wrong.items():
            assert "schema = &#34;naisei." in client.get(f"/{page}").text  # a sample to change
            given = {"first": "own", "second": "ayu", "pair": "own", "sessions": "1", "turns": "2"}
            given["profile"] = f"{text}\nnonsense = 1\n"
            told = client.post(f"/{page}/new", data=given)
            assert told.status_code == 422 and "nonsense" in told.text, page
