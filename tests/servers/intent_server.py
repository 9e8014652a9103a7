"""The document assistant's HTTP server on loopback, in a thread of its own, over a small index."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
import uvicorn

from naisei.intent.config import AssistConfig
from naisei.intent.serve.app import build_app
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.state import open_state
from naisei.models.base import ModelSettings
from naisei.retrieval.build import build
from waiting import PATIENCE

#: A few documents, enough for a vague question and a clear one.
DOCUMENTS = {
    "annual.md": "# 年次有給休暇\n\n"
    "## 付与日数\n\n入社して6か月で10日の年次有給休暇を付与する。\n\n"
    "## 申請\n\n年次有給休暇は、取得日の3営業日前までに勤怠システムから申請する。\n",
    "nursing.md": "# 子の看護休暇\n\n"
    "小学校6年生までの子を看護する社員は、年に5日の休暇を取れる。\n",
    "special.md": "# 慶弔休暇\n\n## 結婚\n\n本人が結婚するときは5日の休暇を取れる。\n\n"
    "## 忌引\n\n配偶者が亡くなったときは7日の休暇を取れる。\n",
    "travel.md": "# 出張旅費\n\n## 宿泊費\n\n国内出張の宿泊費は一泊12,000円を上限とする。\n",
    "rooms.txt": "会議室の予約\n\n会議室は14日先まで予約できる。予約は予約システムから行う。\n",
}


def indexed(folder: Path, documents: Mapping[str, str | bytes] = DOCUMENTS) -> Path:
    """The documents written under `folder/docs` and indexed, by words alone; the index's place."""
    docs = folder / "docs"
    for name, text in documents.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    build(folder / "index", docs, embedder=None)
    return folder / "index"


class IntentServer:
    """Serves until it is left. `options`, `config`: as for `naisei.intent.serve.app.serve`.

    `client(**headers)` is an HTTP client for it; `post(path, data)` and `get(path)` use one.
    """

    def __init__(
        self, options: ServeOptions, config: AssistConfig, *, settings: ModelSettings | None = None
    ) -> None:
        self._options, self._config, self._settings = options, config, settings
        self._listening = threading.Event()
        self._server: uvicorn.Server | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.crash: BaseException | None = None

    async def _serve(self) -> None:
        try:
            async with open_state(
                self._options, self._config, settings=self._settings
            ) as self.state:
                config = uvicorn.Config(
                    build_app(self.state),
                    host="127.0.0.1",
                    port=0,
                    lifespan="off",
                    log_level="critical",
                    access_log=False,
                    server_header=False,
                    timeout_graceful_shutdown=1,
                )
                self._server = uvicorn.Server(config)
                task = asyncio.create_task(self._server.serve())
                while not self._server.started and not task.done():
                    await asyncio.sleep(0.01)
                self._listening.set()
                await task
        except BaseException as error:
            self.crash = error  # raised again where the server is entered
            self._listening.set()

    def __enter__(self) -> IntentServer:
        self._thread.start()
        self._listening.wait(PATIENCE)
        if self.crash is not None:
            raise self.crash
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join(timeout=PATIENCE)
        assert not self._thread.is_alive(), "the server did not stop"

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def address(self) -> tuple[str, int]:
        assert self._server is not None
        host, port = self._server.servers[0].sockets[0].getsockname()[:2]
        return host, port

    @property
    def url(self) -> str:
        host, port = self.address
        return f"http://{host}:{port}"

    def client(self, **headers: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, headers=headers, timeout=PATIENCE, trust_env=False)

    def post(self, path: str, data: Any, **headers: str) -> httpx2.Response:
        with self.client(**headers) as client:
            return client.post(path, json=data)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        with self.client(**headers) as client:
            return client.get(path)
