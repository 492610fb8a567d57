"""An engine in a few lines of plain Python, which the tests of the door release from, and what it gives."""

from entwined.queries import Axis, CountOf, TableOf, everything
from entwined.schema import Person, Rows, Schema
from support.memory_table import PEOPLE, ROWS, MemoryTable

GENDERS = TableOf((Axis("gender", 2),), everything())


def test_the_engine_codes_and_counts():
    table = MemoryTable(Schema(PEOPLE), ROWS)
    assert table.answer([GENDERS, CountOf(everything())]) == [[2, 2, 1], [5]]
    assert table.reads == 1


def test_the_engine_keeps_groups_small_by_their_own_rows():
    table = MemoryTable(Schema(PEOPLE, unit=Rows()), ROWS).keeping("home", 2)
    assert table.answer([GENDERS]) == [[0, 2, 1]]  # of h1 both women, by lot
    assert MemoryTable(Schema(PEOPLE, unit=Person("home", 1)), ROWS).answer([GENDERS]) == [[0, 1, 1]]
    first = MemoryTable(Schema(PEOPLE), ROWS).keeping("home", 1, "age")
    assert first.answer([GENDERS]) == [[0, 1, 1]]
    twins = [
        *ROWS[:2],
        {"home": " h1 ", "gender": "male", "age": 31},
        {"home": "h1", "gender": None, "age": None},
    ]
    steps = MemoryTable(Schema(PEOPLE), twins).keeping("home", 3, "age")
    assert steps.answer([GENDERS]) == [[1, 1, 0]]  # one row of age 31, by lot; none without an age
