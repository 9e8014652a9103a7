"""What each of our systems adds to the page of an episode (`naisei.web.replay`)."""
