"""Which literals are distinctive enough to be recognised as a copy of a constant."""

MIN_INT = 1000
MIN_TEXT = 12
MAX_TEXT = 200


def is_distinctive_int(value: int) -> bool:
    """At least four digits and not round: `128257`, but not 1023, 1024, 1536, 10000, 1500."""
    value = abs(value)
    if value < MIN_INT or value % 100 == 0:
        return False
    if value & (value - 1) == 0 or (value + 1) & value == 0:  # powers of two, and one less
        return False
    return value % 256 != 0


def is_distinctive_text(value: str) -> bool:
    """At least 12 characters, no prose and no dotted name: `<|image_pad|>`, `org/Model-3`."""
    return (
        MIN_TEXT <= len(value) <= MAX_TEXT
        and not any(map(str.isspace, value))
        and not value.replace(".", "_").isidentifier()
    )
