"""One declarative description of a system, and everything common that is derived from it."""
