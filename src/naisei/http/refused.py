"""A request that is not served."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(Exception):
    """A request that is not served. status: of the response; message: for the person."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)
