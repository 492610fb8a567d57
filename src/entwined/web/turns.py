"""Who is next: fresh answers are drawn a few at a time, and those who wait take turns, whoever asks most."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from entwined.web.refusals import TurnedAway

MOST_WAITING: Final = 1000
WAIT: Final = (
    "Too many questions are waiting. Ask again in a moment with the same request id; nothing was charged."
)


class Turns:
    """A queue for each name, served in turn; it belongs to one event loop."""

    def __init__(self, at_once: int, most_each: int) -> None:
        self._free = at_once
        self._most_each = most_each
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it inside."""
        if self._free:
            self._free -= 1
        else:
            await self._queued(name)
        try:
            yield
        finally:
            self._next()

    async def _queued(self, name: str) -> None:
        queue = self._waiting.setdefault(name, deque())
        if len(queue) >= self._most_each or sum(map(len, self._waiting.values())) >= MOST_WAITING:
            raise TurnedAway(429, WAIT)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given, and nobody is here to take it
                self._next()
            raise

    def _next(self) -> None:
        """Give the turn to the next name that waits, which then goes to the end."""
        while self._waiting:
            name, queue = next(iter(self._waiting.items()))
            turn = queue.popleft() if queue else None
            if queue:
                self._waiting.move_to_end(name)
            else:
                del self._waiting[name]
            if turn is not None and not turn.done():
                turn.set_result(None)
                return
        self._free += 1
