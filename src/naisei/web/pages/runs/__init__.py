"""Runs: list, details down to each effect, comparison, downloads.

A run is named by its path under the folder of runs (`clarify-12ab`, `study/with-memo`), a bundled
example by `~<name>`, and one of the visitor's own conversations by `@<id>`.
"""

from __future__ import annotations

from starlette.routing import Route

from naisei.japanese.sentences import search_tokens
from naisei.system.registry import system_names
from naisei.web.pages import Page
from naisei.web.pages.runs import (
    aligned,
    annotate,
    charted,
    compared,
    episode,
    files,
    forks,
    lists,
    run,
    searched,
    started,
)
from naisei.web.replay import replay_of

__all__ = ["PAGE"]


_ROUTES = [
    Route("/runs", lists.show_list),
    Route("/runs/rows", lists.more_rows),
    Route("/runs/row/{run:path}", lists.one_row),
    Route("/runs/new", started.form),
    Route("/runs/new", started.begin, methods=["POST"]),
    Route("/runs/resume/{run:path}", started.go_on, methods=["POST"]),
    Route("/runs/stop/{run:path}", started.stop, methods=["POST"]),
    Route("/runs/note/{run:path}", annotate.of_run, methods=["POST"]),
    Route("/runs/annotate", annotate.begin),
    Route("/runs/annotate/{run:path}", annotate.show),
    Route("/runs/annotate/{run:path}", annotate.write, methods=["POST"]),
    Route("/runs/compare", compared.show),
    Route("/runs/compare/file", compared.file),
    Route("/runs/aligned", aligned.show),
    Route("/runs/chart", charted.show),
    Route("/runs/search", searched.search),
    Route("/runs/keep/{run:path}", searched.keep, methods=["POST"]),
    Route("/runs/of/{id}", episode.of_conversation),
    Route("/runs/show/{run:path}", run.show),
    Route("/runs/episodes/{run:path}", run.episodes),
    Route("/runs/live/{run:path}", run.live),
    Route("/runs/costs/{run:path}", run.costs),
    Route("/runs/episode/{run:path}", episode.show),
    Route("/runs/fork/{run:path}", forks.fork, methods=["POST"]),
    Route("/runs/prompt/{run:path}", episode.prompt),
    Route("/runs/file/{run:path}", files.take),
]


def _ready() -> None:
    """Preload the systems' replays and the dictionary (half a second)."""
    for name in system_names():
        replay_of(name)
    search_tokens("内省")


PAGE = Page(
    name="runs",
    title=("実行記録", "Runs"),
    about=(
        "実行を始める、比べる、図にする。1 件ずつ読み、メモを付け、別の答えでやり直す。",
        "Start, compare and chart runs; read every episode, note it, play a step again.",
    ),
    icon="M4 5h16M4 12h16M4 19h10",
    order=90,
    routes=_ROUTES,
    ready=_ready,
)
