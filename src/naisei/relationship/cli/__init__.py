"""The commands of `naisei relationship` that its declaration does not derive."""
