"""What a PostgreSQL database remembers of its tables' ledgers: a row for each in `entwined_witness` of its schema.

Users, hosts and ports differ, the database is one. The row is written over a connection of its own, where that is
allowed; tables are read over one that cannot write.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

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
        self._table = f'"{schema}".entwined_witness'

    @property
    def path(self) -> str:
        """Where it is, in words."""
        return f"the row of {self._relation.table} in {self._relation.schema}.entwined_witness"

    def read(self) -> tuple[int, str, str] | None:
        """Give what is kept."""
        found = self._run(
            f"SELECT position, hash, ledger FROM {self._table} WHERE relation = %s OR name = %s"
            " ORDER BY relation = %s DESC LIMIT 1",
            (self._relation.number, self._relation.table, self._relation.number),
        )
        return (int(found[0][0]), str(found[0][1]), str(found[0][2])) if found else None

    def start(self, position: int, mark: str, ledger: str) -> None:
        """Write the row where there is none; PermissionError where that is not allowed."""
        self._run(f"CREATE TABLE IF NOT EXISTS {self._table} {COLUMNS}", writes=True)
        self._run(
            f"INSERT INTO {self._table} (relation, name, ledger, position, hash) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (self._relation.number, self._relation.table, ledger, position, mark),
            writes=True,
        )

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
    ) -> list[tuple[Any, ...]]:
        """Run one statement; nothing of what the server says is passed on, as it may repeat the URL."""
        import psycopg
        from psycopg import errors

        try:
            with psycopg.connect(self._url, autocommit=True) as link:
                found = link.execute(statement.encode(), values or None)
                return found.fetchall() if found.description else []
        except errors.UndefinedTable:
            return []
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction):
            if writes:
                raise PermissionError(1, "the user may not write there", self.path) from None
            raise self._unusable("it may not be read. Give the right to SELECT from it") from None
        except psycopg.Error:
            raise self._unusable("the server does not answer. Check it, and ask again") from None

    def _unusable(self, why: str) -> LedgerUnavailable:
        return LedgerUnavailable(f"Which ledger the table belongs to is kept in {self.path}, and {why}.")
