"""How values show themselves in notebooks, terminals and frames: whoever draws them says so here.

No value has to know who draws it, so that nothing is imported upward. A value is `Seen` if it has a small text and a
small table for a notebook, however large it is, and `Tabled` if the whole of it is a table with a chart.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol


class Artist(Protocol):
    """Who draws values."""

    def to_html(self, value: object) -> str:
        """Draw a value for a notebook."""

    def to_text(self, value: object) -> str:
        """Draw a value for a terminal."""

    def to_arrow(self, value: object) -> Any:
        """Give a value as an Arrow table."""

    def to_frame(self, value: object) -> Any:
        """Give a value as a frame of a library that is there."""

    def to_picture(self, value: object) -> Any:
        """Draw the chart of a value."""

    def to_cells(self, value: object) -> Any:
        """Give the numbers of an answer, each with the names of its cell."""


_artists: Final[list[Callable[[], Artist]]] = []


def draw_with(artist: Callable[[], Artist]) -> None:
    """Let this one draw from now on; it is asked for when first needed."""
    _artists[:] = [artist]


def drawn_by() -> Artist:
    """Give who draws."""
    return _artists[0]()


class Glimpse(NamedTuple):
    """What a value says of itself at a glance: a caption, columns, and what the last of these measures, for a chart."""

    caption: str
    columns: Mapping[str, Sequence[object]]
    axis: str = ""


class Seen:
    """A value that is seen at a glance: a few lines in a terminal, a small table in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Show it in a terminal."""
        return drawn_by().to_text(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return drawn_by().to_html(self)


class Tabled(Seen):
    """A value that is a table: its frame has every line, whatever is seen of it at a glance."""

    __slots__ = ()

    def table(self) -> Any:
        """Give all of it as a frame: of pandas if that is installed, else of polars, else as an Arrow table."""
        return drawn_by().to_frame(self)

    def plot(self) -> Any:
        """Draw its chart; a notebook shows it, and `.write(path)` keeps it as SVG."""
        return drawn_by().to_picture(self)

    def to_arrow(self) -> Any:
        """Give all of it as an Arrow table."""
        return drawn_by().to_arrow(self)

    def to_pandas(self) -> Any:
        """Give all of it as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Give all of it as a polars frame."""
        from polars import from_arrow

        return from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Let any library that reads Arrow take it."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)
