"""What a plan of a synthetic table says, held against what comes: noise, misplaced rows, and relations afforded."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.mechanisms.offered import settled
from entwined.promise.promise import promise_of
from entwined.schema import Integer, Schema
from support.memory_table import MemoryTable

ALLOWED = 0.2
CASES = [  # rows, cells of the columns, how often a column is told by the one before, mode, loss, δ
    (1284, (4, 5, 3, 6, 20, 8), 0.3, "adaptive", 1, None),
    (1284, (4, 5, 3, 6, 20, 8), 0.3, "adaptive", "0.1", None),
    (4000, (2,) * 10, 0.3, "adaptive", 1, None),
    (20_000, (3, 4, 5, 6, 7, 8), 0.3, "adaptive", 2, None),
    (20_000, (3, 4, 5, 6, 7, 8), 0.3, "adaptive", 2, "1e-6"),
    (500, (6, 6, 6), 0.3, "adaptive", 1, "1e-6"),
    (4000, (4,) * 30, 0.4, "adaptive", 1, None),
    (1284, (4, 5, 3, 6, 20, 8), 0.3, "independent", 1, None),
    (20_000, (10, 2, 3), 0.9, "independent", "0.2", "1e-6"),
    (1284, (5,) * 6, 0.3, "correlated", 1, None),
    (20_000, (4,) * 8, 0.3, "correlated", 1, "1e-6"),
    (4000, (3, 3, 4, 4), 0.6, "correlated", 4, None),
]  # fmt: skip


def planned(rows, sizes, mode, loss, delta, known=True):
    columns = tuple(Integer(f"c{at}", 0, size - 1) for at, size in enumerate(sizes))
    schema = Schema(columns, neighbours="replace", **({"rows": rows} if known else {})).approve()
    return settled(Synthesis, promise_of(schema, delta=delta), {"mode": mode}, loss=loss), schema


def made_up(rows, sizes, told, seed):
    """Columns of which each is told by the one before so often, and else drawn evenly."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, sizes[0], rows)]
    for before, size in itertools.pairwise(sizes):
        copied = columns[-1] * size // before
        columns.append(np.where(rng.random(rows) < told, copied, rng.integers(0, size, rows)))
    return np.column_stack(columns)


def released(mechanism, schema, table):
    rows = [dict(zip(schema.names, map(int, row), strict=True)) for row in table]
    held = MemoryTable(schema, rows)
    return mechanism.output(mechanism.run(held.answer, schema))


def reaches(output):
    """The ± of each table, of one that was counted twice by both."""
    certain = {}
    for one in output.notes.tables:
        reach = one.noise.half_width(Fraction(19, 20))
        certain[one.scope] = certain.get(one.scope, 0.0) + 1 / reach**2
    return {scope: total**-0.5 for scope, total in certain.items()}


@pytest.mark.parametrize(("rows", "sizes", "told", "mode", "loss", "delta"), CASES)
def test_noise_is_within_a_fifth_of_what_was_foretold(rows, sizes, told, mode, loss, delta):
    """Columns as related as a plan takes them to be: the mean ± of columns and of tables, and no row too many."""
    mechanism, schema = planned(rows, sizes, mode, loss, delta)
    sheet = mechanism.expected()
    lines = {line[0]: line for line in sheet.rows}
    found = reaches(released(mechanism, schema, made_up(rows, sizes, told, 3)))
    alone = [
        (lines[f"c{scope[0]}"], reach)
        for scope, reach in found.items()
        if f"c{scope[0]}" in lines and len(scope) == 1
    ]
    assert alone
    for (_, _, _, about, least, most, _), reach in alone:
        assert 0.95 * least <= reach <= 1.05 * most
        assert about == pytest.approx(reach, rel=ALLOWED)
    several = [reach for scope, reach in found.items() if len(scope) > 1]
    if several:
        *_, (_, _, _, about, least, most, _) = sheet.rows
        assert about == pytest.approx(np.mean(several), rel=ALLOWED)
        assert 0.95 * least <= min(several) <= max(several) <= 1.05 * most
    assert all(0 < line[-1] <= rows for line in sheet.rows)


@pytest.mark.parametrize(
    ("rows", "sizes", "mode", "loss"),
    [(1284, (300, 200, 100), "adaptive", "0.01"), (50, (20, 20, 9), "correlated", "0.001")],
)
def test_no_more_rows_are_misplaced_than_there_are(rows, sizes, mode, loss):
    """Where noise drowns everything: at most all rows, and nothing is said where the number of rows is not known."""
    mechanism, _ = planned(rows, sizes, mode, loss, None)
    assert max(line[-1] for line in mechanism.expected().rows) == rows
    unknown, _ = planned(rows, sizes, mode, loss, None, known=False)
    assert {line[-1] for line in unknown.expected().rows} == {None}
    assert any("expected_rows" in note for note in unknown.expected().notes)
    assert max(line[-1] for line in unknown.expected(rows).rows) == rows


def test_a_loss_that_affords_no_relation_says_so_before_the_charge_and_says_what_would():
    """4,000 rows of 145 columns at a loss of 1: none of 10,440 pairs; what would do is found by raising the loss."""
    mechanism, _ = planned(4000, (4,) * 145, "adaptive", 1, None)
    sheet = mechanism.expected()
    relations = sheet.document["relations"]
    assert (relations["pairs"], relations["afforded"], relations["afforded_at_most"]) == (
        math.comb(145, 2),
        0,
        0,
    )
    assert (
        "affords none of 10,440 pairs of columns: columns will be independent of each other" in sheet.notes[0]
    )
    times = {one["pairs"]: one["times_the_loss"] for one in relations["enough"]}
    for goal in (1, 144):
        more, _ = planned(4000, (4,) * 145, "adaptive", round(1.02 * times[goal], 4), None)
        less, _ = planned(4000, (4,) * 145, "adaptive", round(0.95 * times[goal], 4), None)
        assert (
            less.expected().document["relations"]["afforded"]
            < goal
            <= more.expected().document["relations"]["afforded"]
        )


@pytest.mark.parametrize("loss", ["0.1", "0.3", 3])
def test_where_none_is_afforded_none_is_measured_even_where_columns_tell_each_other(loss):
    mechanism, schema = planned(1500, (3,) * 7, "adaptive", loss, None)
    most = mechanism.expected().document["relations"]["afforded_at_most"]
    output = released(mechanism, schema, made_up(1500, (3,) * 7, 1.0, 5))
    assert (most == 0) == (output.measured_pairs == 0) == (loss != 3)
    assert ("columns are independent of each other" in output.sheet.notes[1]) == (most == 0)


def test_columns_alone_say_that_no_pair_is_counted():
    mechanism, schema = planned(300, (3, 4, 5), "independent", 1, None)
    assert "none of 3 pairs of columns is counted" in mechanism.expected().notes[0]
    output = released(mechanism, schema, made_up(300, (3, 4, 5), 1.0, 5))
    assert output.measured_pairs == 0
