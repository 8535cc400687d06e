"""Command line: one thin file a command that parses, calls, renders and sets the exit code."""
