"""Every end-to-end test works in a folder of its own, in English, with no settings of anybody."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def at_home(english: Path) -> Path:
    return english
