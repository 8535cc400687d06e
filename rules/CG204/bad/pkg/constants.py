LIMIT = 5
NAMES = ("a", "b")
