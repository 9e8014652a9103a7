"""Which files of the package the core has."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE = Path(__file__).parents[1] / "src" / "naisei"
#: Weights, dictionaries, data sets; the web app; systems that no door drives.
_LEFT_OUT = ("data", "web", "textgame", "emphasis", "relationship", "intent", "retrieval")
_KEPT = ("data/characters",)


class Parts(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for path in sorted(_PACKAGE.rglob("*")):
            name = path.relative_to(_PACKAGE).as_posix()
            kept = name.split("/")[0] not in _LEFT_OUT or name.startswith(_KEPT)
            if path.is_file() and kept and "__pycache__" not in name:
                build_data["force_include"][str(path)] = f"naisei/{name}"
