"""An engine in a few lines of plain Python, which the tests of the door release from, and what it gives."""

from entwined.queries import Axis, CountOf, TableOf, everything
from entwined.schema import Categorical, Coded, Integer, Person, Rows, Schema, Text
from test_queries_oracle import exact_answer


class MemoryTable:
    """Rows as mappings from column to raw value; it counts how often it is read."""

    identity = "memory"

    def __init__(self, schema, rows, kept=None):
        self.schema = schema
        self.rows = list(rows)
        self.kept = kept
        self.reads = 0

    def check(self, aggregates):
        """Every aggregate can be answered."""

    def answer(self, aggregates):
        self.reads += 1
        rows = list(map(self.coded, self.rows))
        if isinstance(self.schema.unit, Person):
            rows = self.picked(rows, self.schema.unit.column, self.schema.unit.most, None)
        if self.kept:
            rows = self.picked(rows, *self.kept)
        return [exact_answer(aggregate, rows) for aggregate in aggregates]

    def keeping(self, column, most, first=None):
        return MemoryTable(self.schema, self.rows, (column, most, first))

    def coded(self, row):
        named = {column.name: column for column in self.schema.columns}
        return {
            name: column.encode(row[name]) if isinstance(column, Coded) else column.form(row[name])
            for name, column in named.items()
        }

    def picked(self, rows, column, most, first):
        none = {one.name: one.missing_code for one in self.schema.columns if isinstance(one, Coded)}
        groups = {}
        for row in sorted(rows, key=lambda row: [row[name] for name in none]):
            if row[column] != none.get(column) and row.get(first, "") != none.get(first):
                groups.setdefault(row[column], []).append(row)
        for who, group in groups.items() if first else ():
            steps = {row[first]: row for row in reversed(group)}
            groups[who] = [steps[step] for step in sorted(steps)]
        return [row for group in groups.values() for row in group[:most]]


PEOPLE = (
    Text("home", compare="exact"),
    Categorical("gender", ("male", "female")),
    Integer("age", 0, 99),
)
ROWS = [
    {"home": "h1", "gender": "male", "age": 30},
    {"home": "h1", "gender": "female", "age": 31},
    {"home": "h1", "gender": "female", "age": 3},
    {"home": "h2", "gender": None, "age": 200},
    {"home": None, "gender": "male", "age": 44},
]
GENDERS = TableOf((Axis("gender", 2),), everything())


def test_the_engine_codes_and_counts():
    table = MemoryTable(Schema(PEOPLE), ROWS)
    assert table.answer([GENDERS, CountOf(everything())]) == [[2, 2, 1], [5]]
    assert table.reads == 1


def test_the_engine_keeps_groups_small_by_their_own_rows():
    table = MemoryTable(Schema(PEOPLE, unit=Rows()), ROWS).keeping("home", 2)
    assert table.answer([GENDERS]) == [[1, 1, 1]]  # of h1 the man and the woman of 3
    assert MemoryTable(Schema(PEOPLE, unit=Person("home", 1)), ROWS).answer([GENDERS]) == [[1, 0, 1]]
    first = MemoryTable(Schema(PEOPLE), ROWS).keeping("home", 1, "age")
    assert first.answer([GENDERS]) == [[0, 1, 1]]
    twins = [
        *ROWS[:2],
        {"home": " h1 ", "gender": "male", "age": 31},
        {"home": "h1", "gender": None, "age": None},
    ]
    steps = MemoryTable(Schema(PEOPLE), twins).keeping("home", 3, "age")
    assert steps.answer([GENDERS]) == [
        [2, 0, 0]
    ]  # one row of age 31, the first by all codes; none without an age
