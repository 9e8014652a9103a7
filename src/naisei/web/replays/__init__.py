"""What each built-in system adds to the page of an episode (`naisei.web.replay`)."""
