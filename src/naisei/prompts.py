"""The one prompt loader: a prompt is a file, named with its version and language.

`<package>/prompts/<name>.<language>.md`, for instance `clarify/prompts/tur.v1.ja.md`.
Placeholders are written `$name`, a dollar sign `$$`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["names", "render"]


@cache
def _template(package: str, name: str, language: str) -> Template:
    text = (files(package) / "prompts" / f"{name}.{language}.md").read_text(encoding="utf-8")
    return Template(text.strip())


def names(package: str) -> list[str]:
    """The prompts of `package`, with their versions, sorted."""
    found = (entry.name.split(".") for entry in (files(package) / "prompts").iterdir())
    return sorted({".".join(parts[:-2]) for parts in found if parts[-1] == "md"})


def render(package: str, name: str, language: str, **values: object) -> str:
    """The prompt `name` (with version, e.g. `agent.v1`) of `package`, filled in.

    Raises:
        FileNotFoundError: no such prompt in this language.
        KeyError: a placeholder has no value.
    """
    return _template(package, name, language).substitute(
        {key: str(value) for key, value in values.items()}
    )
