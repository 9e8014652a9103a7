"""How good the assistant is: questions with a hidden wish, a simulated user, and metrics."""
