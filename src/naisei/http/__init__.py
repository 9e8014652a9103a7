"""What every server of ours shares: who may call, how a request is refused, how one listens."""
