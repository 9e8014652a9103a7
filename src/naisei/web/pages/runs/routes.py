"""The addresses of the runs' pages.

A run is named by its path under the folder of runs (`clarify-12ab`, `study/with-memo`); a
conversation of the visitor's own by `@<id>`.
"""

from __future__ import annotations

from starlette.routing import Route

from naisei.web.pages.runs import compared, episode, files, listed, run

__all__ = ["routes"]


def routes() -> list[Route]:
    return [
        Route("/runs", listed.show),
        Route("/runs/rows", listed.rows),
        Route("/runs/compare", compared.show),
        Route("/runs/compare/file", compared.file),
        Route("/runs/of/{id}", episode.of_conversation),
        Route("/runs/show/{run:path}", run.show),
        Route("/runs/episodes/{run:path}", run.episodes),
        Route("/runs/costs/{run:path}", run.costs),
        Route("/runs/episode/{run:path}", episode.show),
        Route("/runs/events/{run:path}", episode.events),
        Route("/runs/prompt/{run:path}", episode.prompt),
        Route("/runs/file/{run:path}", files.show),
    ]
