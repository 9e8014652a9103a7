"""From the texts of a game to facts: what is here, what is held, what the cookbook asks for."""

from naisei.textgame.reading.foods import Food, read_foods
from naisei.textgame.reading.recipe import Recipe, read_recipe
from naisei.textgame.reading.scene import Scene, read_scene

__all__ = ["Food", "Recipe", "Scene", "read_foods", "read_recipe", "read_scene"]
