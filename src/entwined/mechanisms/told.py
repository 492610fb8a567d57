"""What is drawn says which noise is in it: numbers that were drawn for one loss pass for those of no other."""

import json
from typing import Any, Final

from entwined.canonical import Document, canonical
from entwined.errors import BadInput

OTHER_NOISE: Final = (
    "What was drawn says that it has other noise than was charged for, or none. Give what was released."
)


def told(noise: Document, numbers: Any) -> bytes:
    """Write numbers with the noise that is in them."""
    return canonical({"noise": noise, "numbers": numbers}).encode()


def heard(drawn: bytes, noise: Document) -> Any:
    """Read the numbers again; refuse them if their noise is not this."""
    given = json.loads(drawn)
    if not isinstance(given, dict) or canonical(given.get("noise")) != canonical(noise):
        raise BadInput(OTHER_NOISE)
    return given["numbers"]
