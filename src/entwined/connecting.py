"""Connections to PostgreSQL that end: a server that accepts one and stays silent keeps nobody waiting for long."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import psycopg

Link: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

SECONDS: Final = 10
"""How long a server may take to let somebody in, unless the URL or PGCONNECT_TIMEOUT says otherwise."""
UNANSWERED: Final = 30_000  # milliseconds after which bytes that nobody confirmed end a connection


def connected(url: str) -> Link:
    """Connect within a deadline; psycopg.errors.ConnectionTimeout where the server stays silent."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    more: dict[str, int] = {"tcp_user_timeout": UNANSWERED, "keepalives_idle": SECONDS}
    if "PGCONNECT_TIMEOUT" not in os.environ:
        more["connect_timeout"] = SECONDS
    own = conninfo_to_dict(url)
    return psycopg.connect(
        make_conninfo(url, **{key: more[key] for key in more if key not in own}), autocommit=True
    )


@contextmanager
def deadline(link: Link, seconds: float = SECONDS) -> Iterator[None]:
    """Cut a connection whose server does not answer short questions in time: what waits for it fails."""

    def cut() -> None:
        with socket.socket(fileno=os.dup(link.fileno())) as wire:
            wire.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
