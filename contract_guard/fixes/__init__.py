"""libcst codemods, one a fixable rule: source and finding in, edited source out."""
