"""Token ids with a meaning of their own."""

VOCABULARY_SIZE = 129_280

# Stands where an image begins.
IMAGE_SENTINEL_BASE_ID = 129_252

# Fills the rest of the room that an image takes.
IMAGE_PAD_ID = 129_279
