"""Folds see the very rows that every other aggregate sees, and say nothing but their bounded sums."""

import numpy as np
import pyarrow as pa
import pytest

from entwined.errors import BadInput, BadQuery, QueryTooComplex, Unreadable
from entwined.queries import CountOf, FoldOf, Placed, TableOf, everything
from entwined.queries.placed_numbers import PlacedNumbers
from entwined.queries.row_numbers import RowNumbers
from entwined.schema import Schema
from entwined.tables import open_table
from entwined.tables.duck import Duck
from entwined.tables.table import FAILED
from support import engines
from support.folded import AXES, COLUMNS, FAR, FRAME, SCHEMA, WORD, check_folds, fold
from support.weighed import check_weights


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_a_fold_of_cells_is_the_table_of_counts(engine, tmp_path):
    check_folds(engines.LIGHT[engine], tmp_path)


def answered(*asked, frame=FRAME, schema=SCHEMA):
    with open_table(frame, schema) as table:
        return [numbers.tolist() for numbers in table.answer(asked)]


@pytest.mark.parametrize("columns", [("word", "far"), ("word",)])
def test_a_wrong_function_moves_no_more_than_its_bounds(columns):
    def wild(codes):
        return np.column_stack([codes[:, 0] * 2**60, -(2**62) - codes[:, 0]])

    bounded = fold(wild, (-3, -2), (5, 1), columns)
    assert answered(bounded) == [[150 * 5, 200 * -2]]
    assert (bounded.row.one, bounded.row.both, bounded.largest) == (7, 11, 5)
    for together, sums in ((6, [0, 50 * -2]), (7, [150 * 5, 200 * -2])):
        tight = fold(wild, (-3, -2), (5, 1), columns, together=together)
        assert answered(tight) == [sums]
        assert (tight.row.one, tight.row.both) == (together, 11)


def test_sums_stay_exact_beyond_64_bits_and_are_clamped_at_the_end():
    large = Schema((WORD, FAR), most_rows=1)
    for columns in (("word", "far"), ("word",)):
        huge = fold(lambda codes: codes[:, :1] * 0 + 2**62, (0,), (2**62,), columns)
        assert answered(huge, schema=large) == [[2**63 - 1]]
        both = fold(lambda codes: (codes[:, :1] % 2 * 2 - 1) * 2**62, (-(2**62),), (2**62,), columns)
        assert answered(both, schema=large) == [[0]]


def test_what_could_pass_64_bits_is_refused_before_a_row_is_read():
    with open_table(FRAME, SCHEMA) as table:
        table.check([fold(lambda codes: codes * 0, most=(2**63 // 1000, 1))])
        with pytest.raises(QueryTooComplex, match="most_rows"):
            table.check([fold(lambda codes: codes * 0, most=(2**63 // 1000 + 1, 1))])


def failing(codes):
    if (codes[:, 1] == 5).any():
        raise BadInput(f"a row has {codes.tolist()}")
    return codes


SECRETS = {
    "raises": failing,
    "shape": lambda codes: codes[codes[:, 1] != 5],
    "type": lambda codes: codes * (1.0 if (codes[:, 1] == 5).any() else 1),
    "no array": lambda codes: None if (codes[:, 1] == 5).any() else codes,
}


@pytest.mark.parametrize("way", SECRETS)
@pytest.mark.parametrize("engine", ["arrow", "postgres"])
def test_a_function_that_fails_on_rows_says_the_same_whatever_they_hold(way, engine, tmp_path):
    stored = {"word": ("text", ["a"] * 3), "far": ("whole", [0, 5, 7])}
    with open_table(engines.LIGHT[engine](stored, tmp_path)[0], SCHEMA) as table:
        table.check([fold(SECRETS[way])])
        with pytest.raises(Unreadable) as raised:
            table.answer([fold(SECRETS[way]), CountOf(everything())])
        assert table.answer([CountOf(everything())])[0].tolist() == [3]
    assert str(raised.value) == FAILED
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)


@pytest.mark.parametrize(
    "function",
    [
        lambda codes: codes[:, :1],
        lambda codes: codes.astype(float),
        lambda codes: codes.astype(np.int32),
        lambda codes: codes.tolist(),
        lambda codes: codes - codes.mean(axis=0).astype(np.int64),
        lambda codes: codes + len(codes),
        lambda codes: codes + np.arange(len(codes))[:, None],
        lambda codes: codes // None,
    ],
)
def test_a_function_that_is_none_of_a_row_is_refused_before_the_charge(function):
    with open_table(FRAME, SCHEMA) as table, pytest.raises(BadQuery, match="depend on that row alone"):
        table.check([fold(function)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": ()},
        {"columns": ("word", "word")},
        {"least": (0,)},
        {"least": (), "most": ()},
        {"least": (1, 1), "most": (0, 0)},
        {"most": (2**63, 1)},
        {"most": (1.0, 1)},
        {"together": -1},
        {"groups": 0},
        {"groups": 2**20},
        {"function": None},
    ],
)
def test_a_fold_that_cannot_be_is_refused(wrong):
    given = {"columns": ("word", "far"), "least": (0, 0), "most": (1, 1), "function": len} | wrong
    with pytest.raises(BadQuery):
        FoldOf(**given, where=everything())


@pytest.mark.parametrize("how", [{}, {"together": 3}])
def test_a_row_moves_groups_no_further_than_is_said(how):
    """Every row and every pair of rows, of any group or of none."""

    def function(codes):
        return np.column_stack([codes[:, 0] - 1, codes % 5])

    asked = fold(function, (0, -2), (2, 4), groups=3, **how)
    codes = np.array([(a, b) for a in range(5) for b in range(7)])
    vectors = asked.vectors(codes)
    assert np.abs(vectors).sum(axis=1).max() == asked.row.one
    assert np.abs(vectors[:, None] - vectors[None]).sum(axis=2).max() == asked.row.both == 2 * asked.row.one
    assert np.array_equal(asked.sums(codes, np.int64), vectors.sum(axis=0))
    assert asked.sums(codes, object).tolist() == vectors.sum(axis=0).tolist()


PLACES = (
    Placed(0),
    Placed(1, ("word",), (4,)),
    Placed(1, ("far", "word"), (7, 4)),
    Placed(0, ("far",), (7,)),
)


@pytest.mark.parametrize("least", [(0, 0), (-2, -4), (1, -4)])
def test_a_row_moves_placed_numbers_no_further_than_is_said(least):
    """Every row and every pair of rows; a row that changes may leave each cell with as much as it enters another."""

    def function(codes):
        return np.column_stack([codes[:, 0] * 3 - 5, codes[:, 1].astype(np.int64) * 3 - 9])

    asked = fold(function, least, (2, 4), placed=PLACES)
    codes = np.array([(a, b) for a in range(4) for b in range(7)], np.uint8)
    vectors = asked.vectors(codes)
    assert vectors.shape == (28, asked.cells) == (28, 1 + 4 + 28 + 7)
    assert np.abs(vectors).sum(axis=1).max() <= asked.row.one == 2 * 2 + 2 * 4
    apart = np.abs(vectors[:, None] - vectors[None]).sum(axis=2).max()
    assert asked.row.one < apart <= asked.row.both
    assert np.array_equal(asked.sums(codes, np.int64), vectors.sum(axis=0))
    assert asked.sums(codes, object).tolist() == vectors.sum(axis=0).tolist()


@pytest.mark.parametrize("largest", [9, 2**40, 2**62 - 1])
def test_placed_numbers_are_added_up_exactly_however_large(largest):
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(0, 4, 3000), rng.integers(0, 2, 3000)])
    drawn = rng.integers(-largest, largest, 3000, endpoint=True) >> 11
    drawn[:2] = [largest >> 11, -(largest >> 11)]
    asked = fold(
        lambda _: drawn[:, None], (-largest,), (largest,), placed=(Placed(0, ("far", "word"), (2, 4)),)
    )
    sums = [sum(drawn[(codes[:, 0] == a) & (codes[:, 1] == b)].tolist()) for b in range(2) for a in range(4)]
    assert asked.sums(codes, np.int64).tolist() == sums
    assert asked.sums(codes, object).tolist() == sums


@pytest.mark.parametrize(
    "wrong",
    [
        {"placed": (Placed(2),)},
        {"placed": (Placed(-1),)},
        {"placed": (Placed(0, ("other",), (4,)),)},
        {"placed": (Placed(0, ("word",)),)},
        {"placed": PLACES, "groups": 2},
        {"placed": PLACES, "together": 3},
    ],
)
def test_numbers_that_cannot_be_placed_are_refused(wrong):
    with pytest.raises(BadQuery, match="places"):
        fold(len, **wrong)


def test_numbers_that_are_placed_by_other_codes_than_the_schemas_are_refused():
    with open_table(FRAME, SCHEMA) as table, pytest.raises(BadQuery, match="schema has others"):
        table.check([fold(lambda codes: codes, placed=(Placed(0, ("word",), (3,)),))])


def test_groups_of_rows_and_codes_are_those_of_a_plain_fold():
    def group(codes):
        return codes[:, :1] - 1

    def plain(codes):
        return np.column_stack([codes[:, 0] - 1, np.ones(len(codes), np.int64), codes])

    most = (1, WORD.missing_code, FAR.missing_code)
    one = fold(group, (0, 0, 0), most, groups=2, adds_codes=True)
    other = fold(plain, (0, 0, 0), most, groups=2)
    with open_table(FRAME, SCHEMA) as table:
        found, expected = table.answer([one, other])
        assert found.tolist() == expected.tolist()
        assert found[0] == 50
        with pytest.raises(BadQuery, match="other bounds"):
            table.check([fold(group, (0, 0, 0), (1, 1, 1), groups=2, adds_codes=True)])
    for wrong in ({"together": 3}, {"least": (0, 0)}, {"least": (0, 1, 0)}):
        given = {"columns": ("word", "far"), "least": (0, 0, 0), "most": (1, 4, 4), "function": group} | wrong
        with pytest.raises(BadQuery):
            FoldOf(**given, where=everything(), groups=2, adds_codes=True)


def test_the_columns_of_a_fold_can_be_queried():
    schema = Schema(COLUMNS)
    frame = pa.table({"who": ["ann"], "word": ["a"], "step": [1], "far": [1]})
    with open_table(frame, schema) as table:
        for columns in (("who",), ("nobody",)):
            with pytest.raises(BadQuery):
                table.check([fold(lambda codes: codes, (0,), (1,), columns)])


def test_folds_of_one_question_share_one_scan(monkeypatch):
    asked = []
    scan = Duck.Reader.folded
    monkeypatch.setattr(
        Duck.Reader,
        "folded",
        lambda reader, ask, folding: asked.append(ask) or scan(reader, ask, folding),
    )
    answered(*(fold(lambda codes, n=n: codes * 0 + n) for n in range(5)), TableOf((AXES[0],), everything()))
    assert len(asked) == 1


def test_a_function_of_few_codes_never_meets_a_row():
    """It is asked about all codes alike, so that it could not tell one table from another."""
    seen = []
    for frame in (FRAME, FRAME.slice(0, 1), FRAME.slice(0, 0)):
        calls = []
        few = fold(lambda codes, calls=calls: calls.append(codes) or codes, (0,), (3,), ("word",))
        answered(few, frame=frame)
        seen.append([codes.tolist() for codes in calls])
    assert seen[0] == seen[1] == seen[2]


def test_a_function_cannot_change_what_another_is_given():
    def spoil(codes):
        codes[:] = 0
        return codes

    clean = fold(lambda codes: np.minimum(codes, 9))
    assert answered(fold(spoil), clean, fold(spoil)) == [[0, 0], [300, 50 * (5 + 9 + 9)], [0, 0]]


def test_a_malformed_file_is_folded_once_over(tmp_path):
    """What was folded before DuckDB met a malformed row does not count twice."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"word,far\n" + b"a,1\n" * 300_000 + b'b,"2\n' + b"c,3,3\n")
    counts = fold(lambda codes: np.column_stack([codes[:, 0] == 0, codes[:, 0] == 3]).astype(np.int64))
    assert answered(counts, frame=path, schema=Schema((WORD, FAR))) == [[300_000, 2]]


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_weighted_sums_and_sampling_errors_are_exact_on_every_engine(engine, tmp_path):
    check_weights(engines.LIGHT[engine], tmp_path)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.int64])
@pytest.mark.parametrize("groups", [2, 32, 33])
def test_sums_by_group_are_exact_however_wide_the_numbers_are(kind, groups):
    """Held against Python's integers: in single floats, in doubles, and where neither is exact."""
    rng = np.random.default_rng(groups)
    ends = np.iinfo(kind)
    for least, most in ((0, 9), (ends.min >> 10, ends.max >> 10), (ends.min >> 10, ends.max >> 14)):
        numbers = rng.integers(least, most, (6000, 3), kind, endpoint=True)
        numbers[:3] = most
        group = rng.integers(-1, groups + 1, 6000)
        sums = [[0] * 4 for _ in range(groups)]
        for at, row in zip(group.tolist(), numbers.tolist(), strict=True):
            if 0 <= at < groups:
                sums[at] = [a + b for a, b in zip(sums[at], [1, *row], strict=True)]
        expected = [number for line in sums for number in line]
        for given in (numbers, np.asfortranarray(numbers)):
            rows = RowNumbers(given, group, groups, counts=True)
            assert rows.sums(np.int64).tolist() == expected
            assert rows.sums(object).tolist() == expected


@pytest.mark.parametrize("largest", [9, 2**36, 2**62 // 3000])
def test_tables_that_are_added_up_two_at_once_are_those_added_up_by_rows(largest):
    """Small tables of one number in pairs, one left over, one too large, the same twice, and one of two columns."""
    rng = np.random.default_rng(largest % 97)
    sizes = {"a": 3, "b": 7, "c": 2, "d": 5000, "e": 5}
    codes = np.column_stack([rng.integers(0, size, 3000) for size in sizes.values()]).astype(np.uint16)
    numbers = rng.integers(-largest, largest, (3000, 2), endpoint=True)
    named = ["a", "b", "b", "b", "d", "c", "e"]
    placed = [Placed(number, (name,), (sizes[name],)) for number in (0, 1) for name in named]
    placed += [Placed(1), Placed(0, ("a", "e"), (3, 5))]
    found = PlacedNumbers(numbers, codes, list(sizes), tuple(placed))
    expected = found.vectors.astype(object).sum(axis=0).tolist()
    assert found.sums(np.int64).tolist() == found.sums(object).tolist() == expected
