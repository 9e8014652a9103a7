"""Not declared yet: its commands are typer's own."""

from naisei.relationship.cli import app

__all__ = ["SYSTEM"]

SYSTEM = app
