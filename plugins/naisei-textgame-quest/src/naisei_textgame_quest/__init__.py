"""A player of games that state their task: treasure hunts, coins, things to fetch."""
