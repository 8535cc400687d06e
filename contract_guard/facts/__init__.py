"""One file's bytes -> `ModuleFacts`. Pure: no disk, no module name, no knowledge of other files.

The entry is `facts.extract.extract`. It is not imported here: a run in which nothing has changed
needs `facts.model` alone.
"""
