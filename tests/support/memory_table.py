"""An engine in a few lines of plain Python, which the tests of the door release from."""

from entwined.schema import Categorical, Coded, Integer, Person, Text
from support import lots
from support.exact_answers import exact_answer


class MemoryTable:
    """Rows as mappings from column to raw value; it counts how often it is read."""

    identity = "memory"

    def __init__(self, schema, rows, kept=None):
        self.schema = schema
        self.rows = list(rows)
        self.kept = kept
        self.reads = 0
        self.seen = self.codes = None

    def check(self, aggregates):
        """Every aggregate can be answered."""

    def answer(self, aggregates):
        self.reads += 1
        if self.seen != self.rows:
            self.seen, self.codes = list(map(dict, self.rows)), list(map(self.coded, self.rows))
        rows, unit = self.codes, self.schema.unit
        if isinstance(unit, Person) and self.kept and self.kept[0] == unit.column and self.kept[2]:
            rows = self.picked(rows, unit.column, unit.most, self.kept[2])
        elif isinstance(unit, Person) and self.kept:
            rows = self.persons(rows, unit, *self.kept)
        elif isinstance(unit, Person):
            rows = self.picked(rows, unit.column, unit.most, None)
        elif self.kept:
            rows = self.picked(rows, *self.kept)
        return [exact_answer(aggregate, rows) for aggregate in aggregates]

    def persons(self, rows, unit, column, most, first):
        """Of the persons at one place some, by lot; who is at several is at the least of them, and so with steps."""
        none = {one.name: one.missing_code for one in self.schema.columns if isinstance(one, Coded)}
        homes, steps, groups = {}, {}, {}
        for row in rows:
            if row[column] != none.get(column):
                homes.setdefault(row[unit.column], set()).add(row[column])
            if first is not None and row[first] != none[first]:
                steps.setdefault(row[unit.column], set()).add(row[first])
        for row in self.picked(rows, unit.column, unit.most, None):
            who = row[unit.column]
            if who in homes:
                groups.setdefault(min(homes[who]), {}).setdefault(who, []).append(row)
        kept = []
        for home, group in groups.items():
            order = sorted(group, key=lambda who, home=home: lots.lot_of_person(self.schema, home, who))
            if first is not None:
                there = {min(steps[who]): who for who in reversed(order) if who in steps}
                order = [there[step] for step in sorted(there)]
            kept += [row for who in order[:most] for row in group[who]]
        return kept

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
        for row in rows:
            if row[column] != none.get(column) and row.get(first, "") != none.get(first):
                groups.setdefault(row[column], []).append(row)
        codes, ids = lots.columns_of(self.schema, column)
        for who, group in groups.items():
            contents = [tuple(lots.spelled(row[name]) for name in (*codes, *ids)) for row in group]
            order = lots.in_order(self.schema, who, group, contents)
            steps = {row[first]: row for row in reversed(order)} if first else {}
            groups[who] = [steps[step] for step in sorted(steps)] if first else order
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
