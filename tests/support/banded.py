"""Rows at the edges of bands, what SQL asks about them, and a plain count that knows nothing of codes."""

import random
from collections import Counter
from datetime import date, datetime, timedelta

from entwined.queries.sql import read_sql
from entwined.schema import Integer, Moment, Real, Schema
from entwined.tables import open_table

SCHEMA = Schema(
    (
        Integer("age", 0, 99, bands={"stage": {"child": 0, "adult": 18, "old": 65}}),
        Integer("cold", -20, 20, missing="drop"),
        Real("size", 0, 2, "0.25", outside="missing"),
        Moment("day", "2023-11-15", "2025-03-10", bands={"month": "month"}),
        Moment("paid", "2023-11-01", "2025-03-31", "month"),
        Moment("seen", "2024-01-01", "2024-03-31 23:00", "hour", missing="drop"),
    ),
    most_rows=1000,
)


OUTSIDE = 7.0


def stage(age):
    return "child" if age < 18 else "adult" if age < 65 else "old"


def bucket(age):
    return 0 if age < 20 else 5 if age >= 60 else 1 + (age - 20) // 10


def quarter(day):
    return f"{day.year}-Q{(day.month + 2) // 3}"


def monday(day):
    return (day - timedelta(days=day.weekday())).isoformat()


# what is grouped by: the SQL of the key, the column, and what it says of a value
ASKED = {
    "stage": ("age", stage),
    "CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END": ("age", stage),
    "CASE WHEN day < DATE '2024-02-29' THEN 'before' WHEN day = DATE '2024-02-29' THEN 'then' ELSE 'after' END": (
        "day",
        lambda day: "before" if day < date(2024, 2, 29) else "then" if day == date(2024, 2, 29) else "after",
    ),
    "age / 10": ("age", lambda age: age // 10),
    "floor(cold / 10.0)": ("cold", lambda cold: cold // 10),
    "floor(size / 0.5)": ("size", lambda size: int(size // 0.5)),
    "width_bucket(age, 20, 60, 4)": ("age", bucket),
    "month": ("day", lambda day: day.isoformat()[:7]),
    "date_trunc('week', day)": ("day", monday),
    "date_trunc('month', day)": ("day", lambda day: day.isoformat()[:7]),
    "date_trunc('quarter', day)": ("day", quarter),
    "EXTRACT(YEAR FROM day)": ("day", lambda day: day.isoformat()[:4]),
    "paid": ("paid", lambda day: day.year * 12 + day.month),
    "date_trunc('quarter', paid)": ("paid", quarter),
    "date_trunc('month', seen)": ("seen", lambda seen: seen.isoformat()[:7]),
    "date_trunc('day', seen)": ("seen", lambda seen: seen.isoformat()[:10]),
}


def edges():
    """Rows on both sides of every cut: ends of months, leap days, ages next to a band, and what is missing."""
    rng = random.Random(7)
    first = date(2023, 11, 15)
    days = [first + timedelta(days=turn) for turn in range(482)]
    ends = [day for day in days if day.day in (1, 28, 29, 30, 31)]
    seen = [
        datetime(2024, month, day, hour)
        for month in (1, 2, 3)
        for day in (1, 29, 31 - 2 * (month == 2))
        for hour in (0, 23)
    ]
    rows = 300
    paid = [rng.choice([date(2023, 11, 1), date(2025, 3, 31), *ends, None]) for _ in range(rows)]
    return {
        "paid": ("day", paid),
        "age": (
            "whole",
            [rng.choice([0, 9, 10, 17, 18, 19, 20, 59, 60, 64, 65, 99, None]) for _ in range(rows)],
        ),
        "cold": ("whole", [rng.choice([-20, -11, -10, -9, -1, 0, 1, 9, 10, 20, None]) for _ in range(rows)]),
        "size": (
            "number",
            [rng.choice([0.0, 0.25, 0.5, 0.75, 1.0, 1.75, 2.0, OUTSIDE, None]) for _ in range(rows)],
        ),
        "day": ("day", [rng.choice([days[0], days[-1], *ends, None]) for _ in range(rows)]),
        "seen": ("moment", [rng.choice([*seen, None]) for _ in range(rows)]),
    }


def plainly(rows, column, of):
    """Count as a loop would, from low to high; what is missing or outside comes last, or is left out."""
    values = [value for value in rows[column][1] if value is not None and value != OUTSIDE]
    counts = Counter(of(value) for value in sorted(values))
    lost = [len(rows[column][1]) - len(values)]
    return counts, lost if SCHEMA.coded(column).missing == "value" else []


def question(key):
    """Group by a key, by its name after AS where it is an expression."""
    name = "" if key.isidentifier() else " AS k"
    asked = f"SELECT {key}{name}, count(*) FROM t GROUP BY {(name and 'k') or key}"  # noqa: S608  (never run)
    return read_sql(asked, SCHEMA).queries[0]


def check_bands(keeper, folder):
    """Ask everything in one go, and hold it against the plain counts."""
    rows = edges()
    source, _ = keeper(rows, folder)
    asked = [question(key) for key in ASKED]
    with open_table(source, SCHEMA) as table:
        found = table.answer([query.statistics(SCHEMA)[0].aggregate for query in asked])
    for query, numbers, (column, of) in zip(asked, found, ASKED.values(), strict=True):
        counts, lost = plainly(rows, column, of)
        labels = [label for (label,) in query.labels(SCHEMA)]
        cells = dict(zip(labels, numbers.tolist(), strict=True))
        assert [cells.pop(None)] * len(lost) == lost if lost else None not in cells
        assert [number for number in cells.values() if number] == list(counts.values())
        assert all(cells[value] == number for value, number in counts.items() if isinstance(value, str))
