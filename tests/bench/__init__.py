"""Measures what the course promises. Not tests: nothing here fails for being slow."""
