"""Loopback servers for tests and benchmarks: real HTTP, no mocks."""
