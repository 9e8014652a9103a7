"""Learning the rules of cooking games from own play, without walkthroughs."""
