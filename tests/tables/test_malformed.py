"""A malformed row of a CSV file stays one row, whatever is wrong with it, and changes no other."""

import csv
import gzip
import io
import random
import time
from fractions import Fraction

import pytest

from entwined.errors import Unreadable
from entwined.queries import Axis, CountOf, Histogram, TableOf, everything
from entwined.request.opening import open_ledger
from entwined.request.verbs import release
from entwined.schema import Categorical, Integer, Schema
from entwined.tables import describe, open_table
from entwined.tables.mending import LONGEST_ROW
from support import engines

AGE, SEX, WORD = (
    Integer("age", 0, 5),
    Categorical("sex", ("m", "f")),
    Categorical("word", ("a", 'b"', "c\nd", "e,f")),
)
SCHEMA = Schema((AGE, SEX, WORD))
ASKED = [TableOf((Axis("age", 6), Axis("sex", 2), Axis("word", 4)), everything()), CountOf(everything())]
ALL_MISSING = (None, None, None)
BAD = {
    "too few": (b"3", ("3", None, None)),
    "too few, quoted": (b'"3","m"', ("3", "m", None)),
    "too many": (b"3,m,a,1", ALL_MISSING),
    "too many, quoted": (b'3,m,"a",1', ALL_MISSING),
    "not UTF-8": (b"3,\xff\xfe,a", ("3", None, "a")),
    "not UTF-8, quoted": (b'3,m,"a\xff"', ("3", "m", None)),
    "a quote behind a quote": (b'3,"m"x,a', ALL_MISSING),
    "an open quote": (b'3,"m,a', ALL_MISSING),
    "an open quote at the start": (b'"3,m,a', ALL_MISSING),
    "an open quote at the end": (b'3,m,"a', ALL_MISSING),
    "three quotes": (b'3,"""m,a', ALL_MISSING),
    "too long": (b"3,m," + b"a" * LONGEST_ROW, ALL_MISSING),
    "too long, quoted": (b'3,m,"' + b"a" * LONGEST_ROW + b'"', ALL_MISSING),
    "a zero": (b"3,m\0,a", ("3", None, "a")),
    "a lone return": (b"3,m\r,a", ("3", None, "a")),
    "spaces": (b"  ", ALL_MISSING),
}
ROWS = [
    ("1", "m", "a"),
    ("2", "f", 'b"'),
    ("3", "x", "c\nd"),
    (None, None, "e,f"),
    ("9", "m", None),
    ("0", "f", 'q"r'),
]


def text_of(rows):
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(
        [["age", "sex", "word"], *([cell or "" for cell in row] for row in rows)]
    )
    return made.getvalue().encode()


def answers(path):
    with open_table(path, SCHEMA) as table:
        return [numbers.tolist() for numbers in table.answer(ASKED)]


def expected(rows):
    columns = {
        name: ("text", list(cells)) for name, cells in zip(SCHEMA.names, zip(*rows, strict=True), strict=True)
    }
    return engines.reference(SCHEMA, columns, ASKED)


ENDINGS = [
    (kind, ending)
    for kind, (raw, _) in BAD.items()
    for ending in ("\n", "\r\n", "\r")
    if ending == "\n" or (len(raw) < LONGEST_ROW and b"\r" not in raw)
]


@pytest.mark.parametrize(("kind", "ending"), ENDINGS)
def test_a_malformed_row_has_its_own_fate_and_no_other_changes(kind, ending, tmp_path):
    raw, fate = BAD[kind]
    before, after = ROWS[:3], ROWS[3:]
    head, rest = text_of(before), text_of(after).partition(b"\n")[2]
    path = tmp_path / "rows.csv"
    whole = head.replace(b"\n", ending.encode()), raw + ending.encode(), rest.replace(b"\n", ending.encode())
    path.write_bytes(b"".join(whole))
    inside = "c" + ending + "d"  # a row's line may end inside a cell as it does outside
    seen = [tuple(cell and cell.replace("c\nd", inside) for cell in row) for row in (*before, fate, *after)]
    assert answers(path) == expected(seen)


def test_random_files_with_random_malformed_rows(tmp_path):
    rng = random.Random(5)
    path = tmp_path / "rows.csv"
    small = [name for name, (raw, _) in BAD.items() if len(raw) < 1000]
    for _ in range(12):
        lines, fates = [text_of([])], []
        for _ in range(rng.randrange(1, 30)):
            if rng.random() < 0.15:
                raw, fate = BAD[rng.choice(small)]
                lines.append(raw + b"\n")
            else:
                fate = rng.choice(ROWS)
                lines.append(text_of([fate]).partition(b"\n")[2])
            fates.append(fate)
        path.write_bytes(b"".join(lines))
        assert answers(path) == expected(fates)


def test_the_last_row_may_be_cut_off(tmp_path):
    path = tmp_path / "rows.csv"
    for raw, fate in ((b"3,m", ("3", "m", None)), (b'3,m,"a', ALL_MISSING), (b'3,m,"a"', ("3", "m", "a"))):
        path.write_bytes(text_of(ROWS) + raw)
        assert answers(path) == expected([*ROWS, fate])


def test_one_column_counts_its_empty_lines(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b'age\n1\n\n2,5\n"\n\xff\n3\n')
    with open_table(path, Schema((AGE,))) as table:
        assert table.answer([TableOf((Axis("age", 6),), everything())])[0].tolist() == [0, 1, 0, 1, 0, 0, 4]


def test_packed_files_are_mended_in_little_memory(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(text_of(ROWS) + b"1" * 10**8 + b"\n" + b"1,m,a\n"))
    start = time.process_time()
    assert answers(path) == expected([*ROWS, ALL_MISSING, ("1", "m", "a")])
    assert time.process_time() - start < 10


def test_a_file_that_changes_is_read_anew(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(text_of(ROWS) + b"3,m,a,1\n")
    before = open_table(path, SCHEMA)
    for bad in (b"3,m,a,1\n", b"", b"2\n1,x\n"):
        path.write_bytes(text_of(ROWS) + bad)
        fates = {
            b"3,m,a,1\n": [ALL_MISSING],
            b"": [],
            b"2\n1,x\n": [("2", None, None), ("1", "x", None)],
        }[bad]
        with pytest.raises(Unreadable):
            before.answer(ASKED)
        before.close()
        before = open_table(path, SCHEMA)
        for _ in range(2):
            assert [numbers.tolist() for numbers in before.answer(ASKED)] == expected([*ROWS, *fates])
    before.close()


def test_the_holder_hears_of_malformed_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(text_of(ROWS) + b"3,m,a,1\n2\n")
    assert "2 rows of the file are malformed" in describe(path).notes
    path.write_bytes(text_of(ROWS))
    assert "malformed" not in describe(path).notes


@pytest.mark.parametrize("kind", ["too many", "not UTF-8", "an open quote", "too long"])
def test_a_release_has_the_same_outcome_with_and_without_a_malformed_row(kind, tmp_path):
    """The number of rows, which neighbours share, stays; what is charged and the shapes are the same."""
    schema, outcomes = SCHEMA.approve(), []
    for name, last in (("sound", b"3,m,a"), ("malformed", BAD[kind][0])):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(text_of(ROWS) + last + b"\n")
        with (
            open_table(path, schema) as table,
            open_ledger(tmp_path / f"{name}.sqlite", schema, cap=9) as ledger,
        ):
            found = release(table, [Histogram("age"), Histogram("sex")], ledger=ledger, loss=Fraction(1))
            spent = ledger.book.spent().price.nominal
            outcomes.append((spent, [type(one.value) for one in found.answers], len(found.answers[1].value)))
            assert table.answer(ASKED)[1].tolist() == [len(ROWS) + 1]
    assert outcomes[0] == outcomes[1]
