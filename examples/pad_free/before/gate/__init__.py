"""A small MoE gate for a model that reads text and images."""
