"""Producers and consumers of a whole project: resolution, comparison, the lock's form."""
