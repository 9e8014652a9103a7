"""Weights from the publisher's hub: one file over HTTP, resumable."""

from __future__ import annotations

import os
from collections.abc import Iterator

import httpx2

from naisei.models.local.partfile import PartFile
from naisei.models.local.progress import Progress

__all__ = ["HubUnreachable", "fetch", "url"]

_HUB = "https://huggingface.co"
#: Short on purpose: where the hub is closed off, the package index should take over soon.
_TIMEOUT = httpx2.Timeout(20.0, connect=4.0)
_CHUNK = 1 << 16


class HubUnreachable(Exception):
    """The hub did not give the file; the other source may."""


def url(path: str) -> str:
    """The file's address; `HF_ENDPOINT` names a mirror, as for the hub's own tools."""
    return f"{os.environ.get('HF_ENDPOINT', _HUB).rstrip('/')}/{path}"


def fetch(part: PartFile, progress: Progress) -> None:
    """Append what is missing of the file to `part`.

    Raises:
        HubUnreachable: no connection, an error status, another file, or a cut connection.
            What arrived stays in `part`.
    """
    headers = {"Range": f"bytes={part.size}-"} if part.size else {}
    address = url(part.weights.hub)
    try:
        with httpx2.stream(
            "GET", address, headers=headers, timeout=_TIMEOUT, follow_redirects=True
        ) as response:
            missing = part.weights.size - part.size
            wanted = 206 if part.size else 200
            # A login page or another revision has another length: better no byte of it.
            if (
                response.status_code != wanted
                or int(response.headers.get("content-length", -1)) != missing
            ):
                raise HubUnreachable(f"{address} answered {response.status_code}, not the file")
            part.append(_counted(response, progress))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise HubUnreachable(f"{address}: {error or type(error).__name__}") from error


def _counted(response: httpx2.Response, progress: Progress) -> Iterator[bytes]:
    for block in response.iter_bytes(_CHUNK):
        yield block
        progress.advance(len(block))
