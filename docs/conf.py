"""The English pages: `make docs` builds them into build/docs/en."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_site"))

from naisei_site.configuration import *  # noqa: F403

language = "en"
html_title = "naisei"
exclude_patterns = ["ja", "_site"]
