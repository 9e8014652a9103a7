"""Conformance kits: tests that every implementation of a protocol must pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


class Kit:
    """Test cases as methods `test_…` without arguments. Subclass a kit, define the methods it
    requires, and run pytest or call `failures()`.

        class TestMyMemory(MemoryKit):
            def memory(self) -> Memory:
                return MyMemory()
    """

    def cases(self) -> dict[str, Callable[[], None]]:
        """Test cases by name, in order of definition."""
        names = [n for c in reversed(type(self).__mro__) for n in vars(c) if n.startswith("test_")]
        return {name: getattr(self, name) for name in dict.fromkeys(names)}

    def failures(self) -> dict[str, str]:
        """Failed cases with their reasons. Any exception is a failure."""
        found = {}
        for name, case in self.cases().items():
            try:
                case()
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
        return found


def expect(holds: bool, promise: str, *found: Any) -> None:
    """Raise `AssertionError` with `promise` and `found` unless `holds`."""
    if not holds:
        raise AssertionError(": ".join([promise, *map(_describe, found)]))


def _describe(found: Any) -> str:
    text = repr(found)
    return text if len(text) <= 300 else text[:299] + "…"


@contextmanager
def raises(
    kinds: type[BaseException] | tuple[type[BaseException], ...], promise: str
) -> Iterator[None]:
    """A context that must raise one of these exceptions; others propagate.

    Raises:
        AssertionError: no exception was raised.
    """
    try:
        yield
    except kinds:
        return
    raise AssertionError(promise)


@contextmanager
def temporary() -> Iterator[Path]:
    """A temporary empty folder."""
    with TemporaryDirectory(prefix="naisei-testing-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
