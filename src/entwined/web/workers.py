"""Several processes that answer at one address: they share the folder and the ledgers, and nothing in memory.

A worker that was killed is replaced. What it had charged stays charged, and a request that is sent again with its id
is answered under that charge. A worker that ends by itself cannot serve at all: then everything ends.
"""

import multiprocessing
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from entwined.errors import Refused

LOOK: Final = 0.5
PATIENCE: Final = 10.0
ENDED: Final = (
    "A worker cannot serve and ended by itself; what it said stands above. All workers were stopped."
)
MAKING: Final = multiprocessing.get_context("spawn")


def bound(host: str, port: int) -> socket.socket:
    """Listen at an address, for workers to share."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as failed:
        made.close()
        raise Refused(
            f"Nothing can listen at {host}:{port}: {failed.strerror}. Choose another --port."
        ) from None
    made.set_inheritable(True)
    return made


@dataclass(slots=True)
class Workers:
    """So many processes, each with an application that it makes itself."""

    make: Callable[[], ASGIApp]
    listening: socket.socket
    running: list[SpawnProcess]
    stopped: threading.Event

    @classmethod
    def of(cls, make: Callable[[], ASGIApp], listening: socket.socket, number: int) -> "Workers":
        """Start so many; `make` is sent to each of them."""
        made = cls(make, listening, [], threading.Event())
        made.running = [made.begun() for _ in range(number)]
        return made

    def begun(self) -> SpawnProcess:
        """Start one."""
        one = MAKING.Process(target=serve, args=(self.make, self.listening), daemon=True)
        one.start()
        return one

    def run(self) -> None:
        """Replace those that were killed until a signal comes, then end all of them."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.stopped.set())
        try:
            while not self.stopped.is_set():
                wait([one.sentinel for one in self.running], LOOK)
                self.running = [self.replaced(one) for one in self.running]
        finally:
            self.end()

    def replaced(self, one: SpawnProcess) -> SpawnProcess:
        """Start another for one that was killed."""
        if one.exitcode is None or self.stopped.is_set():
            return one
        if one.exitcode >= 0:
            raise Refused(ENDED)
        return self.begun()

    def end(self) -> None:
        """Let each finish what it has begun, for a while."""
        for one in self.running:
            one.terminate()
        for one in self.running:
            one.join(PATIENCE)
            one.kill()


def serve(make: Callable[[], ASGIApp], listening: socket.socket) -> None:
    """Serve in a process of its own, as long as whoever started it is there."""
    config = uvicorn.Config(make(), log_level="warning", access_log=False, server_header=False)
    server = uvicorn.Server(config)
    parent = multiprocessing.parent_process()

    def watch(sentinels: Sequence[int]) -> None:
        wait(sentinels)
        server.should_exit = True

    if parent is not None:
        threading.Thread(target=watch, args=([parent.sentinel],), daemon=True).start()
    server.run([listening])
