"""Several processes at one address: one that is killed is replaced, and none outlives the service."""

import os
import signal
import threading
import time
from http.client import HTTPConnection, HTTPException

import psutil
import pytest

from entwined.errors import Refused
from entwined.web.workers import Workers, bound
from support.small_app import failing, making

PATIENCE = 60


def who_answers(listening):
    """Ask until somebody answers, and say which process it was."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        link = HTTPConnection(*listening.getsockname(), timeout=5)
        try:
            link.request("GET", "/")
            return int(link.getresponse().read())
        except (OSError, HTTPException):
            time.sleep(0.05)
        finally:
            link.close()
    raise TimeoutError


def test_a_worker_that_is_killed_is_replaced_and_all_end_together(monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # this is no main thread
    listening = bound("127.0.0.1", 0)
    workers = Workers.of(making, listening, 1)
    running = threading.Thread(target=workers.run)
    running.start()
    try:
        first = who_answers(listening)
        os.kill(first, signal.SIGKILL)
        second = who_answers(listening)
        assert first != second
    finally:
        workers.stopped.set()
        running.join(PATIENCE)
        listening.close()
    assert not running.is_alive()
    assert not psutil.pid_exists(second)


def test_workers_that_cannot_serve_are_not_started_again_and_again(monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with bound("127.0.0.1", 0) as listening, pytest.raises(Refused, match="ended by itself"):
        Workers.of(failing, listening, 1).run()


def test_an_address_that_is_taken_is_said_in_words():
    with bound("127.0.0.1", 0) as listening:
        listening.listen()
        with pytest.raises(Refused, match="Choose another --port"):
            bound(*listening.getsockname())
