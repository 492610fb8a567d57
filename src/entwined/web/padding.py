"""Replies leave at public moments: a reply waits for the next multiple of a step after its question came in.

How long an answer took says a little about the rows that it read. What is left of that is which multiple it took: this
makes less of it, and proves nothing.
"""

import asyncio
import math
from typing import Final

STEP: Final = 0.05
"""Seconds between two moments at which a reply may leave."""


def moment(began: float, now: float, step: float = STEP) -> float:
    """Give the next public moment after a question came in.

    >>> moment(10.0, 10.01), moment(10.0, 10.07)
    (10.05, 10.1)
    """
    return began + step * max(math.ceil((now - began) / step), 1)


async def padded(began: float, step: float = STEP) -> None:
    """Wait for the next public moment."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(moment(began, now, step) - now)
