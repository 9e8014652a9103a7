"""Conformance kits: what others build on a protocol of naisei, held to what it promises."""

from naisei.testing.engine import EngineKit
from naisei.testing.kit import Kit, NotConforming
from naisei.testing.store import StoreKit

__all__ = ["EngineKit", "Kit", "NotConforming", "StoreKit"]
