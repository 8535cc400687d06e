"""One file's bytes -> `ModuleFacts`. Pure: no disk, no module name, no knowledge of other files."""
