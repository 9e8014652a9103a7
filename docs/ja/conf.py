"""The Japanese pages: `make docs` builds them into build/docs/ja."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "_site"))

from naisei_site.configuration import *  # noqa: F403

language = "ja"
html_title = "内省 naisei"
html_search_language = "ja"
