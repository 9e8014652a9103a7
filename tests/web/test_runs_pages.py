"""The runs' pages: what they show is what the log holds, a page at a time."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import httpx2
import pytest

from commandline import Naisei
from naisei.core import AskUser, Chat, Event, InputError, Message, Say, Usage, Where
from naisei.core.messages import fingerprint
from naisei.models.providers.hand import HandModel
from naisei.runs.annotations import written_on
from naisei.runs.directory import RunDirectory
from naisei.runs.overview import EpisodeOutcome
from naisei.runs.report import StoredSummary, store_summary
from naisei.runs.show import EpisodeFilter, episode_page
from naisei.runs.task import Digest, EpisodeRow, Metric, Summary, Table
from naisei.web.conversations.kind import ConversationConfig, ConversationRun
from naisei.web.options import WebOptions
from naisei.web.pages.runs.aligned import aligned, parting
from naisei.web.pages.runs.forked_runs import answer_of, fork_form
from naisei.web.pages.runs.lists import RunAddress
from naisei.web.pages.runs.strip import Strip
from naisei.web.state import RECORDED
from servers.web_server import WebServer
from waiting import until


def made(path: Path, n: int, *, wins: int, system: str = "clarify", going: int = 0) -> Path:
    """A run of n episodes, the first `wins` of them successes; every tenth from 5 on unscored."""
    config = ConversationConfig(kind="x", title=path.name, language="ja", settings={"wins": wins})
    used = Usage("agent", "openai:m", 1, 1, 100, 20, 0.001)
    values: dict[str, float] = {}
    with RunDirectory.of(ConversationRun(config, system=system, data_hash="d"), path) as run:
        for i in range(n + going):
            where = Where(f"item-{i:04}")
            effects = [
                (Chat("agent", [Message(role="system", content="長い指示" * 60)]), "お茶？", used),
                (AskUser("お茶にしますか？"), "はい", None),
                (Say("どうぞ", "naisei"), None, None),
            ]
            for step, (effect, result, usage) in enumerate(effects):
                digest = fingerprint([effect.kind, effect.request()])
                at = where.at(step)
                run.log.append(
                    Event(at, effect.kind, digest, effect.request(), result, None, usage)
                )
            if i >= n:
                continue
            if i % 10 == 5:
                failure = "InstrumentFailure: HTTP 500"
                run.log.finish(EpisodeRow(where, None, failure), [used])
            else:
                values[where.instance] = float(i < wins)
                trial = {"trial": 1, "turns": [], "action": 1, "success": i < wins}
                result = {"instance": where.instance, "gold": 1, "trials": [trial]}
                run.log.finish(EpisodeRow(where, result))
        run.log.put("episodes", n + going)
        run.log.put("titles", {f"item-{i:04}": f"お茶 {i}" for i in range(n)})
        mean = sum(values.values()) / len(values)
        metric = Metric(
            "pass@1", mean, mean - 0.1, mean + 0.1, len(values), "", (*values.values(),)
        )
        undefined = Metric("pass@3", float("nan"), reason="k = 3, one trial")
        table = Table("質問の種類", ("種類", "n"), (("場所", 3),))
        summary = Summary((undefined, metric), (table,), ("注意書き",), {"units": list(values)})
        store_summary(
            run, StoredSummary(summary, len(values), transcripts=(("item-0001#0", "利用者: お茶"),))
        )
    return path


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> WebOptions:
    root = tmp_path_factory.mktemp("web")
    made(root / "runs/clarify-a", 250, wins=200)
    made(root / "runs/clarify-b", 250, wins=100, going=2)
    made(root / "runs/study/director-c", 12, wins=3, system="director")
    (root / "runs/broken").mkdir()
    (root / "runs/broken/config.json").write_text("{}")
    return WebOptions(state=root / "state", runs=root / "runs")


@pytest.fixture(scope="module")
def server(options: WebOptions) -> Iterator[WebServer]:
    with WebServer(options) as server:
        yield server


def get(server: WebServer, path: str, **query: object) -> str:
    with server.client(**{"accept-language": "en"}) as client:
        answer = client.get(path, params=query or None)
        assert answer.status_code == 200, answer.text
        return answer.text


def named(text: str) -> list[str]:
    return re.findall(r'e=(item-\d+)%230"', text)


def test_the_list_filters_by_name_system_and_state(server: WebServer) -> None:
    links = lambda text: re.findall(r'href="/runs/show/([^"]+)"', text)  # noqa: E731
    shown = {"clarify-a", "clarify-b", "study", "study/director-c"}
    listed = links(get(server, "/runs"))
    assert set(listed) == shown | {f"~{name}" for name in RUNS}
    assert all(each.startswith("~") for each in listed[-len(RUNS) :])
    found = links(get(server, "/runs/rows", system="director"))
    assert found == ["study", "study/director-c", "~director"]
    assert links(get(server, "/runs/rows", text="IFY-A")) == ["clarify-a"]
    assert "no config of a run" in get(server, "/runs/rows", state="broken")


def test_a_run_shows_its_figures_and_why_one_has_none(server: WebServer) -> None:
    page = get(server, "/runs/show/clarify-a")
    assert "k = 3, one trial" in page and "質問の種類" in page and "注意書き" in page
    assert "250 / 250 episodes" in page and "unscored 25</span>" in page
    assert '<span class="figure">0.8</span>' in page and "0.7 – 0.9" in page
    assert re.search(r'<rect class="interval" x="[\d.]+"', page)
    costs = get(server, "/runs/costs/clarify-a")
    # 250 answered calls and 25 of failed tries, 120 tokens each.
    assert "275" in costs and f"{275 * 120:,}" in costs and "0.2750" in costs


def test_scrolling_comes_by_every_episode_once(server: WebServer) -> None:
    page = get(server, "/runs/show/clarify-b")
    seen = named(page)
    while len(seen) < 300 and (
        more := re.search(r'hx-get="(/runs/episodes/[^"]+)"[^>]*revealed', page)
    ):
        page = get(server, more[1].replace("&amp;", "&"))
        seen += named(page)
    assert seen == [f"item-{i:04}" for i in range(252)]


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ({"outcome": "unscored"}, 25),
        ({"outcome": "going"}, 2),
        ({"text": "item-000"}, 10),
        ({"text": "お茶 9"}, 11),
        ({"outcome": "good"}, 50),
        ({"outcome": "bad", "text": "item-01"}, 50),
        ({"text": "nothing like it"}, 0),
    ],
)
def test_episodes_are_filtered(server: WebServer, query: dict[str, str], n: int) -> None:
    page = get(server, "/runs/episodes/clarify-b", **query)
    assert len(named(page)) == n


def test_pages_agree_with_the_whole_log(options: WebOptions) -> None:
    with RunDirectory.look(options.runs / "clarify-a") as run:
        rows = run.log.rows()
        lines = []
        offset: int | None = 0
        while offset is not None:
            page = episode_page(run.log, offset=offset, limit=37)
            lines += page.lines
            offset = page.next
        assert {line.episode: line.result for line in lines} == {
            e: r.result for e, r in rows.items()
        }
        for line in lines:
            usage = rows[line.episode].usage
            assert line.calls == sum(u.calls for u in usage)
            assert line.tokens == sum(u.tokens for u in usage)
            assert line.usd == pytest.approx(sum(u.usd or 0 for u in usage))
        assert episode_page(run.log, EpisodeFilter(name="item-0003#0")).total == 1


def test_an_episode_step_by_step(server: WebServer) -> None:
    where = {"e": "item-0001#0"}
    last = get(server, "/runs/episode/clarify-a", **where)
    assert "利用者: お茶" in last and "お茶にしますか？" in last and "どうぞ" in last
    first = get(server, "/runs/episode/clarify-a", **where, step="0")
    assert "100 + 20 tokens" in first and "どうぞ" not in first
    talked = first.partition('<ol class="talked">')[2].partition("</ol>")[0]
    assert "お茶にしますか？" not in talked
    # From wherever one is, each answer leads to the step where it may be another.
    assert re.findall(r'href="([^"]+)#ask-head"', first) == ["?e=item-0001%230&amp;step=1"]
    assert ">1 / 3<" in first and ">1 / 3<" in get(
        server, "/runs/episode/clarify-a", **where, at="1"
    )
    whole = re.search(r'href="(/runs/prompt/[^"]+)"', first)
    assert whole is not None
    assert "長い指示" * 60 in get(server, whole[1].replace("&amp;", "&"))
    # The keys are links: to steps, to episodes, and to the next one that went wrong.
    keys = dict(re.findall(r'data-key="([^"]+)"[^>]*href="([^"]+)"', first))
    assert "step=1" in keys["ArrowRight"] and "step=2" in keys["End"]
    assert keys["["] == "?e=item-0000%230" and keys["]"] == "?e=item-0002%230"
    assert keys["f"] == "?e=item-0005%230&amp;at=wrong"
    found = get(server, "/runs/episode/clarify-a", **where, at="1", find="どうぞ")
    assert "1 found" in found and ">3 / 3<" in found


def test_a_step_of_a_long_episode_is_a_short_page(tmp_path: Path) -> None:
    """3,000 effects whose texts are long and, escaped, five times as long."""
    config = ConversationConfig(kind="x", title="long", language="ja", settings={})
    where, text = Where("とても長い名前の件" * 4), '"<長い文>"&' * 800
    with RunDirectory.of(
        ConversationRun(config, system="clarify", data_hash="d"), tmp_path / "runs" / "long"
    ) as run:
        for n in range(3_000):
            used = Usage("agent", "openai:m", 1, 1 + (n == 2_400), 100, 20)
            effects = (Chat("agent", [Message(role="user", content=f"{n}{text}")]), AskUser(text))
            effect = effects[n % 2]
            digest = fingerprint([effect.kind, effect.request()])
            run.log.append(
                Event(where.at(n), effect.kind, digest, effect.request(), text, None, used)
            )
    with WebServer(WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")) as server:
        for step in (0, 1_500, 2_999):
            page = get(server, "/runs/episode/long", step=step)
            assert len(page.encode()) < 60_000 and f">{step + 1} / 3000<" in page
        page = get(server, "/runs/episode/long", step=1_500)
        assert re.search(r'data-key="f" href="[^"]+step=2400"', page)


def test_an_instance_is_found_by_its_name_alone(server: WebServer) -> None:
    assert "<h1>item-0001#0</h1>" in get(server, "/runs/episode/clarify-a", e="item-0001")


def test_comparison_shows_paired_differences_and_where_they_are(server: WebServer) -> None:
    with server.client() as client:
        page = client.get(
            "/runs/compare",
            params={"run": ["clarify-a", "clarify-b"]},
            headers={"accept-language": "en"},
        ).text
        assert "-0.4" in page and "pass@1 (90)" in page
        assert "settings.wins: 200 → 100" in page
        table = client.get(
            "/runs/compare/file", params={"run": ["clarify-a", "clarify-b"], "as": "md"}
        ).text
        assert "| pass@1 |" in table
        broken = client.get("/runs/compare", params={"run": ["clarify-a", "broken"]})
        assert broken.status_code == 422 and "notice" in broken.text


def test_a_baseline_is_chosen_and_a_run_alone_is_told_what_it_lacks(server: WebServer) -> None:
    names = ["clarify-a", "clarify-b"]
    page = get(server, "/runs/compare", run=names)
    assert page.index("settings.wins") < page.index("Differences from the baseline")
    assert "/runs/compare?run=clarify-b&amp;run=clarify-a" in page  # the other as the baseline
    assert "/runs/aligned?run=clarify-a&amp;run=clarify-b&amp;e=item-0" in page.replace(
        "&run", "&amp;run"
    ).replace("&e=", "&amp;e=")
    for chosen in (["clarify-a"], ["clarify-a", "clarify-a"]):
        alone = get(server, "/runs/compare", run=chosen)
        assert 'class="notice"' not in alone and 'value="clarify-b"' in alone
        assert "study/director-c" not in alone  # of another system
    assert "Choose two runs or more" in get(server, "/runs/compare")
    # Those that share no metric: what the first can be compared with instead.
    apart = get(server, "/runs/compare", run=["clarify-a", "study/director-c"])
    assert 'class="notice"' in apart and 'value="clarify-b"' in apart and "<nav" in apart


def test_what_is_refused_is_a_page_of_the_site(server: WebServer) -> None:
    with server.client() as client:
        refused = client.get("/runs/compare", params={"run": ["clarify-a", "broken"]})
        assert refused.status_code == 422
        for link in ('<a href="/runs">', 'href="/assistant"', '<a href="/">'):
            assert link in refused.text
        read = client.get("/runs/annotate", params={"run": "clarify-a"})
        assert read.url.path == "/runs/annotate/clarify-a"
        assert client.get("/runs/annotate").status_code == 422


def test_where_nothing_fits_it_is_said_beside_the_filter(server: WebServer) -> None:
    form = get(server, "/runs/show/clarify-a", text="nothing").partition('role="search"')[2]
    assert "No matches" in form.partition("</form>")[0]
    assert 'id="fits"' in get(server, "/runs/episodes/clarify-a", text="item-0001")
    rows = get(server, "/runs", text="nothing")
    assert 'href="/runs">' in rows.partition('id="rows"')[2]


def test_two_episodes_stand_side_by_side_from_where_they_part(
    server: WebServer, tmp_path: Path
) -> None:
    one, other = (
        Event(Where("i", 0, (n,)), "say", "", {"text": t, "speaker": "", "meta": {}})
        for n, t in enumerate("ab")
    )
    turns = aligned([one, one, one], [one, other])
    assert [t.same for t in turns] == [True, False, False] and parting(turns) == 2
    page = get(server, "/runs/aligned", run=["clarify-a", "clarify-b"], e="item-0001#0")
    assert "Every turn is the same" in page and "The same request" in page
    assert page.count("お茶にしますか？") == 2


def test_downloads_hold_everything(server: WebServer, options: WebOptions) -> None:
    with server.client() as client:
        form = {"as": "events"}
        lines = client.get("/runs/file/clarify-a", params=form).text.splitlines()
        assert len(lines) == 250
        assert len(json.loads(lines[0])["events"]) == 3
        one = client.get("/runs/file/clarify-a", params={"as": "jsonl", "e": "item-0005#0"})
        assert json.loads(one.text)["failure"] == "InstrumentFailure: HTTP 500"
        assert (
            "# item-0001#0"
            in client.get("/runs/file/clarify-a", params={"as": "md", "e": "item-0001#0"}).text
        )


def test_a_run_that_goes_on_shows_what_is_new(server: WebServer, options: WebOptions) -> None:
    path = made(options.runs / "clarify-live", 4, wins=2)
    assert len(named(get(server, "/runs/show/clarify-live"))) == 4
    config = ConversationConfig(kind="x", title=path.name, language="ja", settings={"wins": 2})
    with RunDirectory.of(ConversationRun(config, system="clarify", data_hash="d"), path) as run:
        run.log.finish(EpisodeRow(Where("item-9999"), {"success": True}))
        assert "item-9999" in named(get(server, "/runs/episodes/clarify-live"))
        assert "running" in get(server, "/runs/rows", text="clarify-live")
    until(lambda: "running" not in get(server, "/runs/rows", text="clarify-live"))


def test_the_table_is_sorted_and_the_address_says_so(server: WebServer) -> None:
    page = get(server, "/runs/show/clarify-b", sort="value", outcome="")
    assert 'aria-sort="ascending"' in page and named(page)[0] == "item-0100"
    with server.client() as client:
        rows = client.get("/runs/episodes/clarify-b", params={"outcome": "bad", "text": "item-02"})
    assert rows.headers["hx-replace-url"] == "/runs/show/clarify-b?text=item-02&outcome=bad"


def test_the_strip_has_a_cell_for_each_episode_and_leads_to_failures(server: WebServer) -> None:
    page = get(server, "/runs/show/clarify-b")
    drawn = {kind: page.count(f'<rect class="{kind}"') for kind in ("bad", "unscored")}
    assert drawn == {"bad": 135, "unscored": 25} and page.count('<a href="?at=') == 160
    fine = re.findall(r'<path class="good" d="([^"]+)"', page)
    assert len(fine) == 1 and fine[0].count("M") == 90
    with server.client() as client:
        there = client.get("/runs/show/clarify-b?at=7", follow_redirects=False)
    assert there.headers["location"] == "/runs/episode/clarify-b?e=item-0007%230"


def test_very_many_episodes_share_cells() -> None:
    rows = [
        EpisodeOutcome(f"i{n}#0", f"i{n}", "", Digest(float(n % 2)), "", 0.0) for n in range(1000)
    ]
    strip = Strip.of(rows, 1200)
    fine = sum(map(len, strip.fine.values()))
    assert strip.each == 5 and len(strip.cells) + fine + len(strip.left) == 240
    for cell in strip.cells:
        assert sum(high for _, _, high in cell.parts) == pytest.approx(12, abs=0.05)


def test_a_study_opens_even_if_it_was_stopped(server: WebServer, options: WebOptions) -> None:
    page = get(server, "/runs/show/study")
    assert 'href="/runs/show/study/director-c"' in page
    outside = options.runs / "elsewhere"
    outside.mkdir(exist_ok=True)
    told = {"title": "t", "runs": {"out": "../clarify-a", "in": "own"}}
    (outside / "study.json").write_text(json.dumps(told), encoding="utf-8")
    made(outside / "own", 3, wins=1)
    page = get(server, "/runs/show/elsewhere")
    assert "elsewhere/own" in page and "clarify-a" not in page


def test_tags_and_a_note_are_kept_beside_the_run(options: WebOptions, server: WebServer) -> None:
    made(options.runs / "noted", 2, wins=1)
    with server.visitor() as client:
        given = {"tags": "基準, 良い 基準", "note": "もう一度見る"}
        assert 'role="status"' in client.post("/runs/note/noted", data=given).text
        assert client.post("/runs/note/noted", data={"tags": "x" * 41}).status_code == 422
        with server.visitor() as other:
            other.post("/runs/note/noted", data={"note": "別の人"})
            shown = other.get("/runs/show/noted").text
            assert "もう一度見る" in shown and ">別の人</textarea>" in shown
    one, two = written_on(options.runs / "noted").values()
    assert one.tags == ("基準", "良い") and one.note == "もう一度見る" and two.note == "別の人"
    assert "もう一度見る / 別の人" in get(server, "/runs/rows", text="基準")


def test_a_run_tells_while_another_writes_it(server: WebServer, options: WebOptions) -> None:
    path = made(options.runs / "clarify-told", 4, wins=2)
    config = ConversationConfig(kind="x", title=path.name, language="ja", settings={"wins": 2})
    with (
        ExitStack() as stack,
        server.client(**{"accept-language": "en"}) as client,
    ):
        task = ConversationRun(config, system="clarify", data_hash="d")
        run = stack.enter_context(RunDirectory.of(task, path))
        answer = client.send(client.build_request("GET", "/runs/live/clarify-told"), stream=True)
        lines = answer.iter_lines()
        assert any("4 / 4 episodes" in line for line in lines)
        run.log.put("episodes", 9)
        run.log.finish(EpisodeRow(Where("item-9999"), {"success": True}))
        assert any("5 / 9 episodes" in line for line in lines)
        stack.close()
        assert any(line == "event: end" for line in lines)
        answer.close()


def test_a_conversation_is_read_like_a_run_by_its_visitor_alone(server: WebServer) -> None:
    with server.visitor() as client, server.visitor() as other:
        id = client.post("/echo").url.path.rpartition("/")[2]
        client.post(f"/conversations/{id}/answer", data={"step": "0", "text": "内緒の話"})
        page = client.get(f"/runs/of/{id}")
        assert page.status_code == 200 and "内緒の話" in page.text
        for path in (f"/runs/of/{id}", f"/runs/show/@{id}", f"/runs/file/@{id}?as=events"):
            assert other.get(path).status_code == 404
        assert id not in other.get("/runs").text


def test_a_conversation_goes_another_way_from_a_step(server: WebServer) -> None:
    with server.visitor() as client, server.visitor() as other:
        id = client.post("/echo").url.path.rpartition("/")[2]
        for step, text in (("0", "ひとつ"), ("2", "ふたつ")):
            client.post(f"/conversations/{id}/answer", data={"step": step, "text": text})
        page = client.get(f"/runs/of/{id}").text
        assert f'hx-post="/runs/fork/@{id}"' in page.replace("%40", "@")
        where = {"e": "conversation#0", "step": "2"}
        assert other.post(f"/runs/fork/@{id}", data=where).status_code == 404
        assert client.post(f"/runs/fork/@{id}", data={**where, "step": "77"}).status_code == 422
        made = client.post(f"/runs/fork/@{id}", data=where)
        assert made.status_code == 204, made.text
        new = made.headers["hx-redirect"].rpartition("/")[2]
        client.post(f"/conversations/{new}/answer", data={"step": "2", "text": "別のこと"})
        fork = client.get(f"/runs/of/{new}").text
        assert "ひとつ" in fork and "ふたつ" not in fork and "別のこと" in fork
        assert "ステップ 2 から分かれた" in fork
        both = {"run": [f"@{id}", f"@{new}"], "e": "conversation#0"}
        assert "3 番目のターンで分かれます" in client.get("/runs/aligned", params=both).text
        assert "ふたつ" in client.get(f"/runs/of/{id}").text  # as it was


RUNS = ("clarify", "director", "emphasis", "intent", "relationship", "textgame")


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_opens_and_exports_without_a_call_or_a_trace(
    name: str, tmp_path: Path, naisei: Naisei, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HandModel, "complete", _called)
    before = {path: path.stat().st_mtime_ns for path in RECORDED.rglob("*")}
    options = WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")
    with WebServer(options) as server:
        page = get(server, f"/runs/show/~{name}")
        (episode, *_) = re.findall(r'href="(/runs/episode/[^"]+)"', page)
        steps = (get(server, f"{episode.replace('&amp;', '&')}&at={n}") for n in range(1, 11))
        assert any("hand:language-model" in step for step in steps)
        lines = get(server, f"/runs/file/~{name}", **{"as": "events"}).splitlines()
        assert all(json.loads(line) for line in lines)
        made(options.runs / "own", 1, wins=1)
        listed = get(server, "/runs")
        assert -1 < listed.find("/runs/show/own") < listed.find(f"/runs/show/~{name}")
        assert get(server, f"/runs/show/~{name}")
    shown = naisei("runs", "show", RECORDED / name)
    assert shown.code == 0 and "hand:language-model" in shown.out
    report = tmp_path / "report.html"
    assert naisei("runs", "report", RECORDED / name, "--output", report).code == 0
    assert "<h1>" in report.read_text("utf-8")
    assert {path: path.stat().st_mtime_ns for path in RECORDED.rglob("*")} == before
    folder = RECORDED / name
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 900_000
    text = "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.iterdir())
    assert not re.search(r"/(tmp|home|root|work)/", text)


@pytest.mark.parametrize("name", ["clarify", "director"])
def test_a_recorded_run_is_replayed_from_its_log(
    name: str, tmp_path: Path, naisei: Naisei, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those whose data ships and whose prompts are still those of then: resumed in a copy, they
    come to the same results without a call."""
    monkeypatch.setattr(HandModel, "complete", _called)
    copy = Path(shutil.copytree(RECORDED / name, tmp_path / name))
    done = naisei("runs", "resume", copy, "--quiet")
    assert done.code == 0, done.err
    results = (RECORDED / name / "results.jsonl").read_bytes()
    assert (copy / "results.jsonl").read_bytes() == results


async def _called(model: HandModel, request: object) -> NoReturn:
    raise AssertionError("a recorded run needs no call")


@pytest.mark.slow
def test_a_run_is_forked_on_the_page(tmp_path: Path, naisei: Naisei) -> None:
    runs = tmp_path / "runs"
    bayes = ("clarify", "run", "--agent", "bayes", "--limit", 1, "-q", "--run-dir", runs / "one")
    assert naisei(*bayes).code == 0
    with RunDirectory.look(runs / "one") as run:
        name = json.loads((runs / "one" / "results.jsonl").read_text("utf-8"))["instance"] + "#0"
        asked = next(e for e in run.log.read(name) if e.kind == "ask")
        config = run.frozen.config | {"models": {"agent": "openai:gpt-5"}}
        paid = run.frozen.model_copy(update={"config": config})
    with WebServer(WebOptions(state=tmp_path / "state", runs=runs)) as server:
        where = {"e": name, "step": asked.where.step}
        page = get(server, "/runs/episode/one", **where)
        assert 'name="answer"' in page and str(asked.result) in page
        with server.visitor() as client:

            def fork(**fields: str) -> httpx2.Response:
                return client.post("/runs/fork/one", data={**where, **fields})

            forked = fork(answer="いや、違うよ。")
            beside = client.get(forked.headers["hx-redirect"]).text
            assert forked.status_code == 204 and "いや、違うよ。" in beside
            # How both ended is said in words.
            with RunDirectory.look(next(runs.glob("one-fork-*"))) as run:
                right = run.log.rows()[name].result["trials"][-1]["success"]
            ended = re.findall(r'<dd><i class="key (\w+)"', beside)
            assert len(ended) == 2 and ended[1] == ("good" if right else "bad")
            # The same again is the same fork; another stands beside it; the page lists both.
            again = fork(answer="いや、違うよ。")
            assert again.headers["hx-redirect"] == forked.headers["hx-redirect"]
            assert fork(answer="うん。").status_code == 204
            assert get(server, "/runs/episode/one", e=name).count("/runs/aligned?") == 2
            assert fork(step="99").status_code == 422
            assert fork(answer="あ" * 30_001).status_code == 422
            assert fork(model="openai:gpt-5").status_code == 422
            # No address and no key of this server for what somebody's run says.
            assert server.state is not None
            assert fork_form(server.state, RunAddress("one", runs / "one"), paid, asked) is None
    assert len(list(runs.glob("one-fork-*"))) == 2


def test_the_list_is_ordered_by_any_metric_and_keeps_the_filter(tmp_path: Path) -> None:
    for name, wins in (("clarify-a", 1), ("clarify-b", 3), ("clarify-c", 2)):
        made(tmp_path / "runs" / name, 3, wins=wins)
    with WebServer(WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")) as server:
        names = re.findall(r'<option value="([^"]+)"', get(server, "/runs").split('id="metric"')[1])
        for path in ("/runs", "/runs/rows"):  # the page, and what a change of the form brings
            page = get(server, path, text="clarify", metric=names[0]).replace("&amp;", "&")
            assert re.findall(r">(clarify-\w)<", page) == ["clarify-b", "clarify-c", "clarify-a"]
            assert "/runs?text=clarify&sort=metric&metric=" in page


def test_an_answer_is_forked_as_words_field_by_field() -> None:
    recorded = {"question": "水ですか", "action": 3}
    event = Event(Where("x"), "chat", "", {"role": "agent"}, recorded)
    form = {"answer question": "お茶ですか", "answer action": "3"}
    assert json.loads(answer_of(event, form) or "") == {"question": "お茶ですか", "action": 3}
    assert answer_of(event, {"answer question": "水ですか", "answer action": ""}) is None
    with pytest.raises(InputError):
        answer_of(event, {"answer action": "three"})
    assert answer_of(Event(Where("x"), "ask", "", {}, "はい"), {"answer": "いいえ"}) == "いいえ"


def test_a_study_keeps_its_heading_once_its_rows_were_loaded(tmp_path: Path) -> None:
    made(tmp_path / "runs/study/director-c", 2, wins=1, system="director")
    with WebServer(WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")) as server:
        assert "director-c" in get(server, "/runs/row/study/director-c", within="1")
        page = get(server, "/runs")
        assert 'class="group"' in page and 'value="study"' in page


def test_a_failed_episode_is_one_click_from_the_list(tmp_path: Path) -> None:
    made(tmp_path / "runs" / "clarify-a", 3, wins=2)
    with WebServer(WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")) as server:
        page = get(server, "/runs")
        own, shipped = re.findall(r'href="(/runs/episode/[^"]+at=wrong)"', page)
        assert "/clarify-a?e=item-0002" in own
        with server.client() as client:
            there = client.get(shipped.replace("&amp;", "&"), follow_redirects=True).text
            assert 'class="tag wrong"' in there


def test_a_note_is_shown_in_the_list_of_its_run_and_found(tmp_path: Path) -> None:
    path = made(tmp_path / "runs" / "clarify-a", 3, wins=3)
    with WebServer(WebOptions(state=tmp_path / "state", runs=path.parent)) as server:
        with server.visitor() as client:
            note = {"rubric": "thumb", "e": "item-0001#0", "thumb": "bad", "note": "Why tea?"}
            assert client.post("/runs/annotate/clarify-a", data=note).status_code == 200
        rows = re.findall(r"<tr>.*?</tr>", get(server, "/runs/show/clarify-a"), re.DOTALL)
        (marked,) = [row for row in rows if "Why tea?" in row]
        assert "item-0001" in marked and "×" in marked
        found = get(server, "/runs/search", find="why TEA")
        assert "/runs/episode/clarify-a?e=item-0001%230" in found
        assert "item-0001" in get(server, "/runs/episodes/clarify-a", text="why tea")


def test_a_run_to_compare_with_is_chosen_by_hand_and_no_fork_is_offered(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name, n in (("clarify-a", 3), ("clarify-a-fork-1234", 1), ("clarify-b", 2)):
        made(runs / name, n, wins=1)
    with WebServer(WebOptions(state=tmp_path / "state", runs=runs)) as server:
        page = get(server, "/runs/compare", run="clarify-a")
        assert re.findall(r'type="radio" name="run" value="([^"]+)"', page) == ["clarify-b"]
        assert "checked" not in page
