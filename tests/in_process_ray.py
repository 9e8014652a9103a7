"""As much of Ray as a cluster needs, in one process: actors are objects, arguments and results are
pickled on their way, and an actor can be killed."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any, ClassVar


class RayError(Exception):
    """As `ray.exceptions.RayError`."""


class RayTaskError(RayError):
    """As `ray.exceptions.RayTaskError`."""


class _Exceptions:
    RayError = RayError
    RayTaskError = RayTaskError


class _Method:
    def __init__(self, actor: _Actor, name: str) -> None:
        self._actor, self._name = actor, name

    def remote(self, *args: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(self._called(pickle.dumps(args)))
        task.add_done_callback(lambda t: t.cancelled() or t.exception())
        return task

    async def _called(self, args: bytes) -> Any:
        if self._actor.dead.done():
            raise RayError("the actor died")
        method = getattr(self._actor.it, self._name)
        call = asyncio.create_task(method(*pickle.loads(args)))
        self._actor.calls.add(call)
        await asyncio.wait({call, self._actor.dead}, return_when=asyncio.FIRST_COMPLETED)
        if self._actor.dead.done():
            call.cancel()
            raise RayError("the actor died")
        return pickle.loads(pickle.dumps(call.result()))


class _Stored:
    """An object of the store: whoever gets the reference as an argument gets the object."""

    objects: ClassVar[dict[int, Any]] = {}

    def __init__(self, value: Any) -> None:
        self._number = len(self.objects)
        self.objects[self._number] = value

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return _stored, (self._number,)


def _stored(number: int) -> Any:
    return _Stored.objects[number]


class _Actor:
    def __init__(self, it: Any) -> None:
        self.it, self.calls = it, set()  # type: ignore[var-annotated]
        self.dead: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __getattr__(self, name: str) -> _Method:
        return _Method(self, name)


class _Made:
    def __init__(self, ray: InProcessRay, kind: type[Any]) -> None:
        self._ray, self._kind = ray, kind

    def options(self, **_: Any) -> _Made:
        return self

    def remote(self, *args: Any) -> _Actor:
        # A worker shares the environment of this process.
        actor = _Actor(self._kind(*({} if isinstance(arg, dict) else arg for arg in args)))
        if args:
            self._ray.actors.append(actor)
        return actor


class InProcessRay:
    """Stands for the module. actors: all workers that were made, in order."""

    exceptions = _Exceptions

    def __init__(self) -> None:
        self.actors: list[_Actor] = []

    def remote(self, kind: type[Any]) -> _Made:
        return _Made(self, kind)

    def put(self, value: Any) -> _Stored:
        return _Stored(value)

    def kill(self, actor: _Actor) -> None:
        """All that it was doing ends at once."""
        if not actor.dead.done():
            actor.dead.set_result(None)
        for job in getattr(actor.it, "_jobs", {}).values():
            for task in job.running:
                task.cancel()
