"""Finds contract drift between tests and the production code that they check."""

__version__ = "0.1.0"
