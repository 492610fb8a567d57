"""What is published of a mechanism: what was drawn, and what anyone makes of it again."""

from collections.abc import Mapping
from typing import Any, Final

from entwined.bounds.certificate import same
from entwined.canonical import Document
from entwined.mechanisms.offered import Offered

FORMAT: Final = "entwined mechanism 1"


def numbers_of(name: str, mechanism: Offered, drawn: str) -> Document:
    """Make of what was drawn what is published."""
    return {
        "format": FORMAT,
        "name": name,
        "kind": mechanism.kind,
        "says": mechanism.words,
        "drawn": drawn,
        "output": mechanism.shown(mechanism.output(drawn.encode())).document,
    }


def wrong_output(mechanism: Offered, published: Mapping[str, Any]) -> str | None:
    """Say that published numbers are not what the mechanism makes of its draws, if so."""
    again = numbers_of(str(published["name"]), mechanism, str(published["drawn"]))
    given = {key: value for key, value in published.items() if key != "certificate"}
    return None if same(given, again) else "The published numbers are not what was drawn for them."
