"""Build the sample handbook (src/naisei/data/handbook) from the sources beside this file.

Needs reportlab and matplotlib-fontja (for the font file) besides naisei's own dependencies:

    python tools/handbook/build.py [FOLDER]
"""

from __future__ import annotations

import codecs
import shutil
import sys
from pathlib import Path

from blocks import read_sources
from render_pdf import as_docx, as_pdf
from render_text import as_html, as_markdown, as_plain

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "src" / "naisei" / "data" / "handbook"


def main(folder: Path) -> None:
    """Write every document and the contacts file; files no longer in the sources go."""
    sources = read_sources(HERE / "sources")
    wanted = {folder / source.path for source in sources} | {folder / "contacts.toml"}
    for source in sources:
        path = folder / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.format in {"pdf", "docx"}:
            path.write_bytes((as_pdf if source.format == "pdf" else as_docx)(source))
            continue
        render = {"md": as_markdown, "txt": as_plain, "html": as_html}[source.format]
        codecs.lookup(source.encoding)
        path.write_bytes(render(source).encode(source.encoding))
    if (HERE / "contacts.toml").exists():
        shutil.copyfile(HERE / "contacts.toml", folder / "contacts.toml")
    for stray in sorted(path for path in folder.rglob("*") if path.is_file()):
        if stray not in wanted:
            stray.unlink()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{len(sources)} documents, {size / 1e6:.2f} MB in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
