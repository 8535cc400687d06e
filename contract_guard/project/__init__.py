"""What is looked at and where it is kept.

Apart from `cli`, the only package that touches disk, git and processes.
"""
