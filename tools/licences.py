"""Print the licences of naisei, its requirements and its extras, in Markdown.

The pages of licences show the same. A package that is not installed has no licence here.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"^[A-Za-z0-9][\w.-]*")
#: Under a licence that asks something of whoever passes a program on that contains them.
_STRONG = re.compile(r"\bA?GPL|General Public", re.IGNORECASE)


def named(requirement: str) -> tuple[str, set[str]]:
    """The package of a requirement, as PyPI folds its name, and the extras asked for."""
    found = _NAME.match(requirement)
    assert found is not None, requirement
    extras = re.match(r"\s*\[([^\]]*)\]", requirement[found.end() :])
    wanted = {e.strip() for e in extras[1].split(",")} if extras else set()
    return re.sub(r"[-_.]+", "-", found[0]).lower(), wanted


def licence(package: Distribution) -> str:
    """In a few words, as the package tells it."""
    meta = package.metadata
    if told := meta.get("License-Expression"):
        return str(told)
    classes = [c for c in meta.get_all("Classifier") or [] if c.startswith("License ::")]
    if names := [c.rpartition(":: ")[2] for c in classes if not c.endswith("OSI Approved")]:
        return ", ".join(names)
    first = str(meta.get("License") or "").strip().splitlines()[:1]
    return first[0][:60] if first and first[0] else "?"


def closure(requirements: list[str]) -> dict[str, str]:
    """Package → licence, of these and all that they require."""
    found: dict[str, str] = {}
    todo = [named(each) for each in requirements]
    while todo:
        name, extras = todo.pop()
        if name in found and not extras:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            found.setdefault(name, "")
            continue
        found[name] = licence(package)
        for each in package.requires or ():
            condition = re.search(r"extra\s*==\s*['\"]([^'\"]+)", each)
            if condition is None or condition[1] in extras:
                other, more = named(each)
                if other not in found:
                    todo.append((other, more))
    return found


def tables(language: str) -> str:
    """A table for naisei, and one for each extra, in Markdown; language: en or ja."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    own = closure(project["dependencies"])
    head = "| パッケージ | ライセンス |" if language == "ja" else "| package | licence |"
    parts = []
    for extra, packages in [("", own), *_extras(project, own)]:
        title = f"`naisei[{extra}]`" if extra else "`naisei`"
        rows = [
            f"| {name} | {f'**{told}**' if _STRONG.search(told) else told or '–'} |"
            for name, told in sorted(packages.items())
            # Markers of other systems: not installed, and not asked for here.
            if told or extra
        ]
        parts.append("\n".join([f"## {title}", "", head, "|---|---|", *rows]))
    return "\n\n".join(parts)


def _extras(project: dict, own: dict[str, str]) -> list[tuple[str, dict[str, str]]]:  # type: ignore[type-arg]
    told = []
    for extra, requirements in sorted(project["optional-dependencies"].items()):
        packages = closure(requirements)
        direct = {named(each)[0] for each in requirements}
        more = {n: t for n, t in packages.items() if n not in own and (t or n in direct)}
        told.append((extra, more))
    return told


if __name__ == "__main__":
    print(tables("en"))
