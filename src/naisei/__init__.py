"""naisei (内省): language agents that ask before they act, check before they speak, and reflect."""

__version__ = "0.1.0"
__all__ = ["__version__"]
