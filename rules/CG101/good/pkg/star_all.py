__all__ = ["visible", "_private_but_listed"]
__all__ += ["later"]

visible = 1
_private_but_listed = 2
later = 3
