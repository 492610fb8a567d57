"""Long work says how far it is; who listens is the caller's choice."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(what: str, done: int, total: int) -> None:
    """Say that `done` of at most `total` steps are done."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def said(what: str, items: Sequence[Item]) -> Iterator[Item]:
    """Go through items and say how far it is."""
    for done, item in enumerate(items):
        report(what, done, len(items))
        yield item
    report(what, len(items), len(items))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear reports inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
