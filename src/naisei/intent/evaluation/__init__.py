"""Evaluation of the assistant: questions with a hidden intent, a simulated user, and metrics."""
