"""Generated examples are judged by what they show, not by how fast a shared machine is."""

from hypothesis import settings

settings.register_profile("naisei-core", deadline=None)
settings.load_profile("naisei-core")
