"""What each built-in system adds to the episode page (`naisei.web.replay`)."""
