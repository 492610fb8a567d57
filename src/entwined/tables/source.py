"""Open a table wherever its rows live."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from entwined.errors import BadTable
from entwined.schema import Column, Schema
from entwined.tables.engine import Engine
from entwined.tables.files import CSV_ENDS, DUCKDB_ENDS, PARQUET_ENDS, open_csv, open_duckdb, open_parquet
from entwined.tables.frames import open_arrow, open_pandas
from entwined.tables.survey import SURVEY_ENDS, open_survey
from entwined.tables.table import Table

KNOWN = (
    "Give a file (.csv, .csv.gz, .parquet, .duckdb with a table, .sav, .dta), a pandas, polars or Arrow frame, "
    "postgresql://host/database?table=name, or a Spark session, frame or spark:// URL."
)


def open_table(
    source: Any,
    schema: Schema,
    *,
    table: str | None = None,
    version: str | None = None,
    resident: bool = False,
) -> Table:
    """Open rows under a schema; names and types are read, rows are not.

    `table` names one of several in a database; it may also stand in the source: `file.duckdb::name`,
    `postgresql://host/database?table=name`. `version` says which state of a table in PostgreSQL or Spark this is, as
    `&version=2026-03` in a URL does: what was answered of one version is not asked of the rows again. Without it
    every opening is a version of its own. Files and frames tell their version themselves. A `resident` table keeps the
    coded rows of a file in memory once they were first lent, if there is room: for many questions, one after another.
    """
    declared = {one.name: one for one in schema.columns}
    engine = engine_of(source, table=table, version=version, declared=declared)
    try:
        return Table(schema, engine, resident=resident)
    except BaseException:
        engine.close()
        raise


def engine_of(
    source: Any, *, table: str | None = None, version: str | None = None, declared: Mapping[str, Column]
) -> Engine:
    """Find the engine for a source."""
    if isinstance(source, str) and "://" in source:
        return _by_url(source, table, version)
    module = type(source).__module__.partition(".")[0]
    if module == "pyspark":
        from entwined.tables.spark import open_spark

        return open_spark(source, table, version)
    if version is not None:
        raise BadTable("A file or frame tells its version itself. Leave version out.")
    if isinstance(source, str | os.PathLike):
        return _by_path(os.fspath(source), table, declared)
    if module == "pandas" and hasattr(source, "iloc"):
        return open_pandas(source, declared)
    if hasattr(source, "__arrow_c_stream__"):
        return open_arrow(source)
    raise BadTable(f"Rows cannot be read from a {type(source).__name__}. {KNOWN}")


def _by_path(given: str, table: str | None, declared: Mapping[str, Column]) -> Engine:
    given, _, named = given.partition("::") if table is None else (given, "", table)
    low = given.lower()
    if low.endswith(DUCKDB_ENDS):
        if not named:
            raise BadTable(f"{given} is a database. Say which table: {given}::name.")
        return open_duckdb(given, named)
    if named:
        raise BadTable(f"{given} holds one table; {named!r} names another. Leave it out.")
    if low.endswith(CSV_ENDS):
        return open_csv(given)
    if low.endswith(PARQUET_ENDS) or os.path.isdir(given):  # noqa: PTH112  (False for a name too long)
        return open_parquet(given)
    if low.endswith(SURVEY_ENDS):
        return open_survey(given, declared)
    raise BadTable(f"{given!r:.200} is no kind of file that is known. {KNOWN}")


def _by_url(url: str, table: str | None, version: str | None) -> Engine:
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an address that lacks its bracket; its words may hold a password
        raise BadTable(f"The URL of the table cannot be read. {KNOWN}") from None
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    named = options.pop("table", None) if table is None else table
    stated = options.pop("version", None) if version is None else version
    bare = urlunsplit(parts._replace(query=urlencode(options)))
    if parts.scheme in ("postgresql", "postgres"):
        if not named:
            raise BadTable(
                "The URL names a database. Say which table: postgresql://host/database?table=name."
            )
        from entwined.tables.postgres import Postgres

        return Postgres(bare, named, stated)
    if parts.scheme in ("spark", "sc"):
        from entwined.tables.spark import open_master

        return open_master(bare, named, stated)
    raise BadTable(f"A URL of kind {parts.scheme!r:.60} is not known. {KNOWN}")
