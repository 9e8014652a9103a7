"""Households from JSONL: people, and their requests in order, each an instance of its own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from naisei.clarify.data.instances import instance, split_of
from naisei.clarify.data.records import Row, load_actions, read_rows
from naisei.clarify.schemas import ActionSet, Instance
from naisei.core import InputError, fingerprint
from naisei.lang import say

#: The households that come with the package.
BUNDLED = "households"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Request(_Frozen):
    """One request. n: its place, from 1. person: who asks. habit: the number of the habit that it
    rests on, from 1, `None` for none."""

    n: int
    day: int
    person: str
    instance: Instance
    habit: int | None = None


class Home(_Frozen):
    """A household with its requests in order."""

    id: str
    requests: tuple[Request, ...]

    def known_before(self, request: Request) -> bool:
        """Whether an earlier request rested on the same habit."""
        return request.habit is not None and any(
            r.habit == request.habit for r in self.requests if r.n < request.n
        )


class Homes(_Frozen):
    """Households with their action set. digest: of all that results depend on."""

    name: str
    homes: tuple[Home, ...]
    actions: ActionSet
    digest: str


def load_homes(source: str, *, split: str | None = None, limit: int | None = None) -> Homes:
    """`households` (the bundled ones, `split` dev, test or all; test by default), or a file.

    A line: `household`, `people` (`name`, `speaker`), `requests` (`n`, `day`, `person`, the keys of
    an instance, `wanted`, `habit`).

    Raises:
        InputError: no such file, a broken line, or no household of the split.
    """
    bundled = source == BUNDLED
    path = (
        Path(str(files("naisei") / "data" / "households" / "households.jsonl"))
        if bundled
        else Path(source).expanduser()
    )
    if not path.is_file():
        raise InputError(
            say("そのようなファイルはありません", "there is no such file"),
            place=f"--data {source}",
            remedy=say(
                "households か、JSONL ファイルを指定してください", "give households or a file"
            ),
        )
    actions = load_actions()
    wanted = split or ("test" if bundled else "all")
    rows = read_rows(path)
    homes = [_home(row, actions) for row in rows]
    kept = tuple(h for h in homes if wanted in ("all", split_of(h.id)))
    if wanted == "test":
        kept = tuple(h for h in homes if split_of(h.id) != "dev")
    kept = kept[:limit]
    if not kept:
        raise InputError(
            say("世帯が 1 つもありません", "there are no households"),
            place=str(source),
            remedy=say("--split all を試してください", "try --split all"),
        )
    digest = fingerprint([h.model_dump(mode="json") for h in kept])
    return Homes(name=f"{path.stem}:{wanted}", homes=kept, actions=actions, digest=digest)


def _home(row: Row, actions: ActionSet) -> Home:
    try:
        speakers = {p["name"]: p.get("speaker", "") for p in row.fields["people"]}
        requests = [_request(r, row, actions, speakers) for r in row.fields["requests"]]
        return Home(id=str(row.fields["household"]), requests=tuple(requests))
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(
            say(f"世帯の行に {error} がありません", f"the household lacks {error}"),
            place=row.place,
            remedy=say(
                "household、people、requests が要ります",
                "household, people and requests are needed",
            ),
        ) from error


def _request(
    given: dict[str, Any], row: Row, actions: ActionSet, speakers: dict[str, str]
) -> Request:
    first, *others = given["wanted"]
    identity = f"{row.fields['household']}-{given['n']}"
    fields = {
        "id": identity,
        "scene": identity,
        "gold": first,
        "also": others,
        "speaker": speakers.get(given["person"], ""),
        **{k: given[k] for k in ("utterance", "user", "surroundings", "plausible", "facts")},
    }
    one = instance(Row(fields, f"{row.place}, requests {given['n']}"), actions, default_id=identity)
    return Request(
        n=given["n"],
        day=given["day"],
        person=given["person"],
        instance=one,
        habit=given.get("habit"),
    )
