"""What a PostgreSQL database remembers of its tables' ledgers: rows of `entwined_rollback_guard` in their schema.

Users, hosts and ports differ, the database is one. The row is written over a connection of its own, where that is
allowed; tables are read over one that cannot write. Whoever may insert into the guard table binds a table by it, also
without the right to make one: the guard table is made only where there is none.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from entwined.connecting import connected, deadline
from entwined.errors import LedgerUnavailable

if TYPE_CHECKING:
    import psycopg

Link: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

# a view leads to what it is made of, a part to its whole and a whole to its parts
RELATIONS: Final = b"""
WITH RECURSIVE found(oid) AS (
    SELECT to_regclass(%s)::oid
    UNION
    SELECT further.oid FROM found CROSS JOIN LATERAL (
        SELECT refobjid AS oid FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = objid
            WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass AND ev_class = found.oid
        UNION SELECT inhparent FROM pg_inherits WHERE inhrelid = found.oid
        UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = found.oid
    ) AS further
)
SELECT pg_class.oid::int8, nspname::text, relname::text,
    (SELECT oid::int8 FROM pg_database WHERE datname = current_database())
FROM found JOIN pg_class USING (oid) JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY pg_class.oid <> to_regclass(%s)::oid, pg_class.oid"""
GUARD: Final = "entwined_rollback_guard"
MAY_KEEP: Final = b"""
SELECT NOT pg_is_in_recovery() AND CASE WHEN to_regclass(%s) IS NULL
    THEN has_schema_privilege(%s, 'CREATE')
    ELSE has_table_privilege(to_regclass(%s), 'INSERT') AND has_table_privilege(to_regclass(%s), 'UPDATE') END"""
COLUMNS: Final = (
    "(relation bigint NOT NULL, name text NOT NULL, ledger text NOT NULL, position bigint NOT NULL,"
    " hash text NOT NULL, PRIMARY KEY (relation, name))"
)


class Relation(NamedTuple):
    """One table or view, by the numbers and names that its server gives it."""

    number: int
    schema: str
    table: str
    database: int
    system: str

    @property
    def name(self) -> str:
        """What it is known by, whatever the server's address is."""
        return f"postgresql {self.system}/{self.database}/{self.number}"


def relations(link: Link, relation: str) -> list[Relation]:
    """List a table or view, and everything that it is made of or a part of."""
    system = _system(link)
    found = link.execute(RELATIONS, (relation, relation)).fetchall()
    return [Relation(number, schema, table, base, system) for number, schema, table, base in found]


def _system(link: Link) -> str:
    """Name the server as it was named when it was made; by its address where it does not tell."""
    import psycopg

    try:
        found = link.execute(b"SELECT system_identifier FROM pg_control_system()").fetchone()
    except psycopg.Error:
        found = None
    return str(found[0]) if found else f"{link.info.host}:{link.info.port}"


class RowNotes:
    """The row of one table; by its number, or by its name after it was loaded anew."""

    def __init__(self, url: str, relation: Relation) -> None:
        self._url = url
        self._relation = relation
        schema = relation.schema.replace('"', '""')
        self._schema, self._table = relation.schema, f'"{schema}".{GUARD}'

    @property
    def path(self) -> str:
        """Where it is, in words."""
        return f"the row of {self._relation.table} in {self._relation.schema}.{GUARD}"

    def read(self) -> tuple[int, str, str] | None:
        """Give what is kept."""
        found = self._run(
            f"SELECT position, hash, ledger FROM {self._table} WHERE relation = %s OR name = %s"
            " ORDER BY relation = %s DESC LIMIT 1",
            (self._relation.number, self._relation.table, self._relation.number),
        )
        return (int(found[0][0]), str(found[0][1]), str(found[0][2])) if found else None

    @property
    def can_keep(self) -> bool:
        """Whether the user may write the row, in a guard table that is there or one of their own."""
        asked = (self._table, self._schema, self._table, self._table)
        found = self._run(MAY_KEEP.decode(), asked)
        return bool(found and found[0][0])

    def start(self, position: int, mark: str, ledger: str) -> None:
        """Write the row where there is none, in a guard table made if need be; PermissionError where neither may be."""
        inserted = (
            f"INSERT INTO {self._table} (relation, name, ledger, position, hash) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING"
        )
        row = (self._relation.number, self._relation.table, ledger, position, mark)
        if self._run(inserted, row, writes=True) is None:
            self._run(f"CREATE TABLE IF NOT EXISTS {self._table} {COLUMNS}", writes=True)
            self._run(inserted, row, writes=True)

    def raise_to(self, position: int, mark: str, ledger: str) -> None:
        """Write a further entry of the same ledger."""
        self._run(
            f"UPDATE {self._table} SET position = %s, hash = %s"
            " WHERE (relation = %s OR name = %s) AND ledger = %s AND position < %s",
            (position, mark, self._relation.number, self._relation.table, ledger, position),
            writes=True,
        )

    def forget(self) -> None:
        """Take the row out."""
        if self.read() is not None:
            self._run(
                f"DELETE FROM {self._table} WHERE relation = %s OR name = %s",
                (self._relation.number, self._relation.table),
                writes=True,
            )

    def _run(
        self, statement: str, values: tuple[Any, ...] = (), *, writes: bool = False
    ) -> list[tuple[Any, ...]] | None:
        """Run one statement; None where there is no guard table. The server's own words may repeat the URL."""
        import psycopg
        from psycopg import errors

        try:
            with connected(self._url) as link, deadline(link):
                found = link.execute(statement.encode(), values or None)
                return found.fetchall() if found.description else []
        except errors.UndefinedTable:
            return None
        except (
            errors.UniqueViolation,
            errors.DuplicateTable,
        ):  # another process made the guard table just now
            return []
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction):
            if writes:
                raise PermissionError(1, "the user may not write there", self.path) from None
            raise self._unusable("it may not be read. Give the right to SELECT from it") from None
        except psycopg.Error:
            raise self._unusable("the server does not answer. Check it, and ask again") from None

    def _unusable(self, why: str) -> LedgerUnavailable:
        return LedgerUnavailable(f"Which ledger the table belongs to is kept in {self.path}, and {why}.")
