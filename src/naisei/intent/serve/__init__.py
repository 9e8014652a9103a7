"""The assistant over HTTP: JSON, server-sent events, and the chat-completions protocol."""
