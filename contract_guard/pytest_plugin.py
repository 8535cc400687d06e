"""The pytest plugin. Inert until asked: it imports nothing of the analyzer when it is loaded."""
