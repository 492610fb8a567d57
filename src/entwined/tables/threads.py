"""Batches of rows worked on by as many threads as there are processors; each gives one thing for all that it was given.

The thread that asks reads the batches, hands a batch on while others wait for one, and else works on it itself: so
nothing waits for a hand-over, and no more batches are read ahead than there are threads.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from queue import SimpleQueue
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


def in_threads(work: Callable[[Iterable[Given]], Made], given: Iterable[Given], at_once: int) -> list[Made]:
    """Share out what is given among so many threads, and list what each made of its share."""
    unread = iter(given)
    first = list(islice(unread, SEVERAL))
    every, others = chain(first, unread), at_once - 1
    if not others or len(first) < SEVERAL:
        return [work(every)]
    waiting: SimpleQueue[Given | None] = SimpleQueue()
    with ThreadPoolExecutor(others) as pool:
        made = [pool.submit(work, _handed(waiting)) for _ in range(others)]
        try:
            own = work(_kept(every, waiting, others))
        finally:
            for _ in made:
                waiting.put(None)
        return [own, *(one.result() for one in made)]


def _kept(given: Iterable[Given], waiting: "SimpleQueue[Given | None]", others: int) -> Iterator[Given]:
    """Hand on while fewer wait than there are others to take them; give the rest."""
    for one in given:
        if waiting.qsize() < others:
            waiting.put(one)
        else:
            yield one


def _handed(waiting: "SimpleQueue[Given | None]") -> Iterator[Given]:
    """Give what is handed on until there is no more."""
    while (one := waiting.get()) is not None:
        yield one
