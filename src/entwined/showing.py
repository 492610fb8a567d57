"""How values show themselves in notebooks, terminals and frames: whoever draws them says so here.

No value has to know who draws it, so that nothing is imported upward.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol


class Artist(Protocol):
    """Who draws values."""

    def to_html(self, value: object) -> str:
        """Draw a value for a notebook."""

    def to_text(self, value: object) -> str:
        """Draw a value for a terminal."""

    def to_arrow(self, value: object) -> Any:
        """Give a value as an Arrow table."""


_artists: Final[list[Callable[[], Artist]]] = []


def draw_with(artist: Callable[[], Artist]) -> None:
    """Let this one draw from now on; it is asked for when first needed."""
    _artists[:] = [artist]


def drawn_by() -> Artist:
    """Give who draws."""
    return _artists[0]()
