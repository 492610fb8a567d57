"""Short words for what is asked and where: default names of statistics, and the name of a table."""

from pathlib import PurePath
from typing import Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

from entwined.errors import BadInput
from entwined.queries import Query

LONGEST: Final = 120
SECRET: Final = ("password", "sslpassword")  # what libpq takes as a secret


def in_words(query: Query, where: str = "", among: str = "") -> str:
    """Say in a line what a query asks, with its conditions as they were written.

    >>> from entwined.queries import Histogram
    >>> in_words(Histogram("region", 5), "age > 20")
    'histogram of region in 5 bins where age > 20'
    """
    said = query.words
    for word, condition in (("where", where), ("among", among)):
        inside = " ".join(condition.split())
        said += f" {word} {inside}" if inside else ""
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def table_name(source: str) -> str:
    """Give the name that SQL calls a table by: that of its file without the ending, or the one in its URL.

    >>> table_name("data/survey.csv.gz"), table_name("db.duckdb::people"), table_name("postgresql://h/d?table=p")
    ('survey', 'people', 'p')
    """
    if "://" in source:
        try:
            return parse_qs(urlsplit(source).query).get("table", [""])[-1]
        except ValueError:  # such as an address that lacks its bracket
            raise BadInput(
                "The table's URL cannot be read. Write postgresql://host/base?table=name."
            ) from None
    path, _, named = source.partition("::")
    return named or PurePath(path).name.partition(".")[0]


def without_password(source: str) -> str:
    """Give a URL without the password in it, to be written down; libpq takes it from ~/.pgpass or PGPASSWORD.

    >>> without_password("postgresql://ann:secret@h/d?table=p"), without_password("data/survey.csv")
    ('postgresql://ann@h/d?table=p', 'data/survey.csv')
    """
    if "://" not in source:
        return source
    try:
        parts = urlsplit(source)
        options = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        raise BadInput("The table's URL cannot be read. Write postgresql://host/base?table=name.") from None
    user, at, host = parts.netloc.rpartition("@")
    kept = parts.query if all(key not in SECRET for key, _ in options) else ""
    bare = kept or urlencode([(key, value) for key, value in options if key not in SECRET])
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}", query=bare))
