"""A player that learns the rules of cooking games by playing, without walkthroughs."""
