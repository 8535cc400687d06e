"""Real MoE gates run against a float64 oracle and against mirrored expectations."""
