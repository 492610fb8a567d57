"""Long work says how far it is; who listens is the caller's choice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(what: str, done: int, total: int) -> None:
    """Say that `done` of at most `total` steps are done."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear reports inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
