"""One file a rule family: facts and registry in, findings out."""
