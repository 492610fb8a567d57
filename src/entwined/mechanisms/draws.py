"""From exact integers to released ones: the only lines in which noise meets what was read."""

from collections.abc import Sequence

from entwined.door.answering import Exact
from entwined.door.lending import WRONG
from entwined.errors import Unreadable
from entwined.mechanisms.asked import Asked
from entwined.noise.lattice import integers
from entwined.numbers import IntArray


def draw(asked: Sequence[Asked], exact: Sequence[Exact]) -> tuple[tuple[int, ...], ...]:
    """Add noise to what an engine found, statistic by statistic."""
    return tuple(tuple(noisy(one, found).tolist()) for one, found in zip(asked, exact, strict=True))


def noisy(one: Asked, exact: Exact) -> IntArray:
    """Add noise to each integer of a statistic, or choose one of its places.

    There may be more than one exact answer, along the first axes: each gets a draw of its own.
    """
    found = integers(exact)
    if found.shape[-1:] != (one.statistic.aggregate.cells,):
        raise Unreadable(WRONG)
    return one.drawn(found)
