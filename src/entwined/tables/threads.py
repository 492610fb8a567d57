"""Work on batches of rows by as many threads as there are processors; what they find comes in the order of the rows."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Final, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

MOST_THREADS: Final = 16
SEVERAL: Final = 2
LIMIT: Final = "OMP_NUM_THREADS"  # Spark says by it how many a worker of its may have


def threads() -> int:
    """Say how many threads may work: the processors that we may use, or fewer if the surroundings say so."""
    said = os.environ.get(LIMIT, "")
    limit = int(said) if said.isdecimal() and int(said) > 0 else MOST_THREADS
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, limit, MOST_THREADS)


def in_threads(work: Callable[[Given], Made], given: Iterable[Given], at_once: int) -> Iterator[Made]:
    """Do the same to everything given, so many at once, and no more of it is taken than is being worked on."""
    waiting = iter(given)
    first = list(islice(waiting, SEVERAL))
    if min(at_once, len(first)) < SEVERAL:
        yield from map(work, chain(first, waiting))
        return
    with ThreadPoolExecutor(at_once) as pool:
        doing: deque[Future[Made]] = deque()
        for one in chain(first, waiting):
            doing.append(pool.submit(work, one))
            if len(doing) > at_once:
                yield doing.popleft().result()
        while doing:
            yield doing.popleft().result()
