"""Tests that recompute production: slices, normal form, index, matching."""
