"""Games that say what is to be done: treasure hunts, coins to be found, things to be fetched."""
