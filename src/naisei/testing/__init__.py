"""Conformance kits: tests for third-party implementations of naisei's protocols."""

from naisei.testing.engine import EngineKit
from naisei.testing.kit import Kit
from naisei.testing.parts import EmbedderKit, EnvironmentKit, MemoryKit, ProviderKit
from naisei.testing.store import StoreKit
from naisei.testing.system import SystemKit

__all__ = [
    "EmbedderKit",
    "EngineKit",
    "EnvironmentKit",
    "Kit",
    "MemoryKit",
    "ProviderKit",
    "StoreKit",
    "SystemKit",
]
