"""A document of an issuer, asked for over HTTP: no redirects, no proxies, and all of it within one deadline.

An issuer that answers byte by byte never lets a socket's own time run out. So the connection is shut when the deadline
passes, wherever it is: in the handshake, in the head or in the body.
"""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from threading import Timer
from time import monotonic
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

LARGEST: Final = 1_000_000
PORTS: Final = {"http": 80, "https": 443}
OK: Final = 200


def document_at(url: str, deadline: float) -> Any:
    """Read a JSON document; `deadline` is a time of the monotonic clock."""
    with _answered(urlsplit(url), deadline) as reply:
        if reply.status != OK:
            raise ValueError(f"The issuer answers with the status {reply.status}.")
        body = reply.read(LARGEST + 1)
    if monotonic() >= deadline:  # what was read may have been cut off
        raise TimeoutError("The issuer did not answer in time.")
    if len(body) > LARGEST:
        raise ValueError("The issuer says too much.")
    return json.loads(body)


@contextmanager
def _answered(parts: SplitResult, deadline: float) -> Iterator[HTTPResponse]:
    """Ask, and give the reply while its connection is open."""
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    with (
        socket.create_connection((host, port), timeout=_left(deadline)) as plain,
        closing(plain.dup()) as held,  # the same connection, however it is wrapped
    ):
        watch = Timer(_left(deadline), _shut, [held])
        watch.daemon = True
        watch.start()
        try:
            link = HTTPConnection(host, port)
            link.sock = plain if parts.scheme == "http" else _secured(plain, host)
            with closing(link):
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                link.request("GET", path, headers={"Accept": "application/json", "Connection": "close"})
                yield link.getresponse()
        finally:
            watch.cancel()


def _secured(plain: socket.socket, host: str) -> ssl.SSLSocket:
    return ssl.create_default_context().wrap_socket(plain, server_hostname=host)


def _shut(held: socket.socket) -> None:
    try:
        held.shutdown(socket.SHUT_RDWR)
    except OSError:  # it ended meanwhile
        return


def _left(deadline: float) -> float:
    """Give the seconds that are left."""
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError("The issuer did not answer in time.")
    return left
