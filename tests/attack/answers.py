"""What tables would answer: by plain arithmetic on codes, and by the engine for rows that it picks."""

import numpy as np

from entwined.queries import CountOf, SumOf, TableOf, TotalsOf
from entwined.schema import Integer, Person, Schema
from entwined.tables.rows import CodedRows
from entwined.tables.source import engine_of
from entwined.tables.steps import statement


def contribution(aggregates, row):
    """What one row, a mapping from column to code, adds to every number that is asked for."""
    return np.concatenate([_added(one, row) for one in aggregates])


def _added(one, row):
    found = np.zeros(one.cells)
    if not one.where.holds(row):
        return found
    weight = one.term.value(row[one.term.column]) if isinstance(one, SumOf | TotalsOf) else 1
    if isinstance(one, CountOf | SumOf):
        return found + weight
    assert isinstance(one, TableOf | TotalsOf)
    cells = [axis.cell(row[axis.column]) for axis in one.axes]
    if None not in cells:
        found[np.ravel_multi_index(cells, [axis.cells for axis in one.axes])] = weight
    return found


def scales(statistics):
    """The scale of the noise of every number."""
    return np.concatenate(
        [np.full(one.statistic.aggregate.cells, float(one.law.scale)) for one in statistics]
    )


def coded(schema, row):
    """The codes of one row of raw values."""
    return {
        column.name: column.encode(row[column.name]) for column in schema.columns if hasattr(column, "encode")
    }


def picked_answers(schema, aggregates, worlds, table, folder, kept=None):
    """The answers of each world, its rows coded and picked by the engine, and those of the table: all read at once.

    Whoever is in one world must be in no other, nor in the table: the picking is by person or group.
    """
    worlds = [*worlds, table]
    wide = Schema((*schema.columns, Integer("world", 0, max(1, len(worlds) - 1))), schema.unit, "add_remove")
    path = folder / "worlds.csv"
    rows = [{**row, "world": at} for at, world in enumerate(worlds) for row in world]
    write_csv(path, wide.names, rows)
    engine = engine_of(str(path), declared={one.name: one for one in wide.columns})
    try:
        person = Person(*kept[:2]) if kept else None
        read = CodedRows(wide, engine, person, kept[2] if kept else None)
        names = [column.name for column in wide.columns if hasattr(column, "encode")]
        steps, last = read.steps(names)
        wanted = ", ".join(read.code(name) for name in names)
        with engine.reading() as reader:
            found = reader.rows(statement(steps, f"SELECT {wanted} FROM {last}"))  # noqa: S608  (our own names)
    finally:
        engine.close()
    exact = np.zeros((len(worlds), sum(one.cells for one in aggregates)))
    known = {}
    for codes in found:
        row = dict(zip(names, codes, strict=True))
        world = row.pop("world")
        key = tuple(row.values())
        if key not in known:
            known[key] = contribution(aggregates, row)
        exact[world] += known[key]
    return exact[:-1], exact[-1]


def write_csv(path, names, rows):
    def cell(value):
        text = "" if value is None else str(value)
        return f'"{text}"' if text != text.strip() or '"' in text or "," in text else text

    lines = [",".join(names), *(",".join(cell(row.get(name)) for name in names) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
