"""Least squares against dense algebra, and integers that agree."""

import ast
import itertools
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

import entwined.estimate
from entwined.errors import BadQuery, QueryTooComplex
from entwined.estimate import controlled, least_squares
from entwined.estimate.agreement import Released, agreed
from entwined.estimate.consistency import consistent, error_laws
from entwined.estimate.layout import Layout, NoisyTable
from entwined.estimate.least_squares import LeastSquares
from entwined.noise import DiscreteGaussian
from entwined.progress import listening
from entwined.queries import Count, GroupBy, Histogram, Marginal, Total, compare
from entwined.queries.axes import Axis
from entwined.schema import Boolean, Categorical, Integer, Rows, Schema
from support.noisy_tables import dense, draws, laplace, marginal, released

COLUMNS = [Axis("a", 3), Axis("b", 7, keeps_missing=False), Axis("c", 2, keeps_missing=False)]
LONGEST = 7
NOISES = [laplace(1), laplace(5), laplace("20.5"), DiscreteGaussian(Fraction(3))]


def sides(axis):
    """Cut a side into cells of one width, or into bands."""
    even = [Axis(axis.column, axis.levels, width, axis.keeps_missing) for width in (1, 1, 2, 3)]
    bands = [Axis(axis.column, axis.levels, 1, axis.keeps_missing, cuts) for cuts in ((0, 1, 4), (0, 5))]
    return st.sampled_from([*even, *(bands if axis.levels == LONGEST else ())])


@st.composite
def layouts(draw, noises=NOISES):
    """Draw one to six tables over up to three columns, each side in cells of some width, in any order."""
    made = []
    for _ in range(draw(st.integers(1, 6))):
        names = draw(st.lists(st.sampled_from(COLUMNS), unique=True, max_size=3))
        axes = tuple(draw(sides(axis)) for axis in names)
        made.append(Layout(axes, draw(st.sampled_from(noises))))
    return tuple(made)


def widths_are_one(tables):
    return all(axis.width == 1 and not axis.cuts for layout in tables for axis in layout.axes)


def solved(tables):
    """Solve the normal equations by the pseudo-inverse: the weights of all cells in all estimates."""
    matrix = dense(COLUMNS, tables)
    variances = np.concatenate([np.full(layout.cells, layout.variance) for layout in tables])
    roots = np.sqrt(variances)
    return matrix @ np.linalg.pinv(matrix / roots[:, None], rcond=1e-10) / roots, variances


@given(tables=layouts(), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_estimates_are_the_dense_least_squares(tables, seed):
    random = np.random.default_rng(seed)
    values = [random.normal(size=(1, *layout.shape)) for layout in tables]
    found = np.concatenate([part.ravel() for part in LeastSquares(tables).estimates(values)])
    weights, _ = solved(tables)
    assert found == pytest.approx(weights @ np.concatenate([value.ravel() for value in values]), abs=1e-9)


@given(tables=layouts())
@settings(max_examples=40)
def test_laws_have_the_variance_of_dense_least_squares_and_never_more_than_the_noise(tables):
    weights, variances = solved(tables)
    wanted = (weights**2 * variances).sum(axis=1)
    found = np.concatenate(
        [np.array([law.variance for law in laws])[kinds].ravel() for kinds, laws in error_laws(tables)]
    )
    assert found == pytest.approx(wanted, rel=1e-8)
    assert (found <= variances * (1 + 1e-8)).all()


@given(tables=layouts())
@settings(max_examples=20)
def test_laws_collect_the_weights_cell_by_cell(tables):
    weights, _ = solved(tables)
    sizes = np.cumsum([0, *(layout.cells for layout in tables)])
    for place, (kinds, laws) in enumerate(error_laws(tables)):
        for row, kind in zip(weights[sizes[place] : sizes[place + 1]], kinds.ravel(), strict=True):
            for noise in {layout.noise for layout in tables}:
                mine = [row[sizes[i] : sizes[i + 1]] for i, t in enumerate(tables) if t.noise == noise]
                wanted = np.sort(np.abs(np.concatenate(mine)))[::-1]
                shares = [share for share in laws[kind].shares if share.noise == noise]
                found = -np.sort(-np.repeat([s.weight for s in shares], [s.copies for s in shares]))
                assert found == pytest.approx(wanted[: len(found)], abs=1e-9)
                assert wanted[len(found) :].sum() < 1e-6


@given(tables=layouts([*NOISES, None]), seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_estimates_are_unbiased_exact_tables_stay_as_they_are(tables, seed):
    joint = np.random.default_rng(seed).poisson(3, [column.cells for column in COLUMNS])
    exact = [marginal(joint, COLUMNS, layout)[None].astype(float) for layout in tables]
    for found, table in zip(LeastSquares(tables).estimates(exact), exact, strict=True):
        assert found == pytest.approx(table, abs=1e-6)


def test_a_public_total_is_kept():
    total, table = Layout((), None), Layout((COLUMNS[0],), laplace(30))
    made = consistent([NoisyTable(total, 1000), NoisyTable(table, [200, 300, 700, 100])], counts=True)
    assert made.tables[0].values == 1000
    assert made.tables[0].intervals() == (1000, 1000)
    assert made.tables[1].estimates == pytest.approx(np.array([125, 225, 625, 25]))
    assert made.tables[1].law(0).variance == pytest.approx(laplace(30).variance * 3 / 4)


def check_agreement(made, tables):
    """Every pair of tables has equal sums over what it shares, unless it is named as loose."""
    loose = {(one, other) for one, other, _ in made.loose}
    for (i, one), (j, other) in itertools.combinations(enumerate(zip(made.tables, tables, strict=True)), 2):
        names = {axis.column for axis in one[1].axes} & {axis.column for axis in other[1].axes}
        subsets = [names] if (i, j) not in loose else [set(), *({name} for name in names)]
        for kept in subsets:
            sums = [shared_sums(table.values, layout, kept) for table, layout in (one, other)]
            bounds = {key: sums[0][key] for key in sums[0].keys() & sums[1].keys()}
            assert bounds == {key: sums[1][key] for key in bounds}


def shared_sums(values, layout, kept):
    """Add up the cells at or above every corner that the cuts of a table know."""
    found = values
    for place in reversed(range(values.ndim)):
        if layout.axes[place].column not in kept:
            found = found.sum(axis=place)
    axes = sorted((a for a in layout.axes if a.column in kept), key=lambda axis: axis.column)
    order = [a.column for a in layout.axes if a.column in kept]
    found = found.transpose([order.index(axis.column) for axis in axes])
    for place in range(found.ndim):
        found = np.flip(np.cumsum(np.flip(found, place), axis=place), place)
    starts = [
        [*(a.cuts or range(0, a.levels, a.width)), *([a.levels] if a.keeps_missing else [])] for a in axes
    ]
    return {
        corner: int(found[cell])
        for cell, corner in zip(np.ndindex(found.shape), itertools.product(*starts), strict=True)
    }


@given(tables=layouts([*NOISES, None]), seed=st.integers(0, 2**32), rows=st.sampled_from([0, 1, 30, 100_000]))
@settings(max_examples=100)
def test_counts_are_integers_that_agree_and_are_not_negative(tables, seed, rows):
    random = np.random.default_rng(seed)
    shape = [column.cells for column in COLUMNS]
    joint = random.multinomial(rows, random.dirichlet(np.full(np.prod(shape), 0.2))).reshape(shape)
    made = consistent(released(joint, COLUMNS, tables, random), counts=True)
    for table in made.tables:
        assert table.values.dtype == np.int64
        assert table.values.min() >= 0
    check_agreement(made, tables)
    if widths_are_one(tables) and all(len(layout.axes) < 3 for layout in tables):
        assert not made.loose


@given(tables=layouts([*NOISES, None]), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_sums_of_either_sign_agree(tables, seed):
    random = np.random.default_rng(seed)
    joint = random.integers(-1000, 1000, [column.cells for column in COLUMNS])
    made = consistent(released(joint, COLUMNS, tables, random), counts=False)
    check_agreement(made, tables)
    if len(tables) == 1 and tables[0].noise is not None:
        assert np.abs(made.tables[0].values - made.tables[0].estimates).max() < 1e-6


def test_a_table_of_three_columns_keeps_neighbouring_pairs_and_names_the_others():
    a, b, c = COLUMNS
    tables = (
        Layout((c, a, b), laplace(5)),
        Layout((a, b), laplace(5)),
        Layout((c, b), laplace(5)),
        Layout((a, c), laplace(5)),
        Layout((Axis("b", 7, 2, keeps_missing=False), c), laplace(5)),
    )
    random = np.random.default_rng(3)
    made = consistent(released(random.poisson(2, (4, 7, 2)), COLUMNS, tables, random), counts=True)
    assert made.loose == ((0, 3, ("a", "c")), (0, 4, ("b", "c")), (2, 4, ("b", "c")))
    check_agreement(made, tables)


@given(estimates=arrays(float, st.integers(1, 30), elements=st.floats(-50, 50)), total=st.integers(0, 500))
def test_a_line_adds_up_and_moves_by_less_than_one(estimates, total):
    near = controlled.evened(estimates, np.array(float(total)))
    found = controlled.line(near, total)
    assert found.sum() == total
    assert np.abs(found - near).max() < 1 + 1e-6


@given(
    cells=arrays(np.int64, st.tuples(*[st.integers(1, 5)] * 3), elements=st.integers(0, 6)),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=100)
def test_rectangles_keep_the_sums_of_rows_and_columns(cells, seed):
    noise = np.random.default_rng(seed).laplace(0, 3, cells.shape)
    rows, columns = cells.sum(axis=-1), cells.sum(axis=-2)
    weights = np.random.default_rng(seed).uniform(0.01, 1, cells.shape)
    for given_weights in (None, np.ones(cells.shape), weights):
        found = controlled.rectangles(cells + noise, rows, columns, given_weights)
        assert (found.sum(axis=-1) == rows).all()
        assert (found.sum(axis=-2) == columns).all()
        assert found.min() >= 0 or given_weights is None


def test_numbers_with_whole_sums_move_by_less_than_one():
    random, moves = np.random.default_rng(5), []
    for _ in range(50):
        whole = random.poisson(3, (1, 6, 8))
        mixed = np.mean([random.permuted(whole, axis=None) for _ in range(4)], axis=0)
        sums, even = (whole.sum(axis=-1), whole.sum(axis=-2)), np.ones(mixed.shape)
        near = controlled._nearest(mixed, *sums, even)
        found = controlled.rectangles(near, *sums, even)
        moves.append(np.abs(found - near))
    assert np.max(moves) < 1
    assert np.mean(moves) < 0.3  # most go to the nearest integer


def test_the_nearest_table_is_the_one_a_general_solver_finds():
    random = np.random.default_rng(7)
    for _ in range(5):
        whole = random.poisson(2, (1, 3, 4))
        noisy = whole + random.normal(0, 3, whole.shape)
        rows, columns = whole.sum(axis=-1), whole.sum(axis=-2)
        weights = random.uniform(0.1, 1, whole.shape)
        found = controlled._nearest(noisy, rows, columns, weights)
        best = minimize(
            lambda x, noisy=noisy, weights=weights: 0.5 * ((x - noisy.ravel()) ** 2 / weights.ravel()).sum(),
            whole.ravel().astype(float),
            bounds=[(0, None)] * 12,
            constraints=[
                {"type": "eq", "fun": lambda x, r=rows: x.reshape(3, 4).sum(axis=1) - r[0]},
                {"type": "eq", "fun": lambda x, c=columns: x.reshape(3, 4).sum(axis=0)[:-1] - c[0, :-1]},
            ],
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-12},
        )
        assert found.ravel() == pytest.approx(best.x, abs=0.01)


def test_less_error_for_every_cell_before_rounding_and_on_the_whole_after():
    a, b, c = COLUMNS
    tables = (
        Layout((), laplace(10)),
        *(Layout((x,), laplace(10)) for x in (a, b, c)),
        Layout((a, b), laplace(10)),
    )
    random = np.random.default_rng(11)
    joint = random.poisson(20, (4, 7, 2))
    errors = np.zeros((3, len(tables)))
    for _ in range(300):
        noisy = released(joint, COLUMNS, tables, random)
        made = consistent(noisy, counts=True)
        for place, (before, after) in enumerate(zip(noisy, made.tables, strict=True)):
            exact = marginal(joint, COLUMNS, tables[place])
            for kind, values in enumerate((before.values, after.estimates, after.values)):
                errors[kind, place] += ((values - exact) ** 2).mean()
    assert (errors[1] < errors[0]).all()
    assert (errors[2] < errors[0]).all()
    assert errors[1, 0] < 0.75 * errors[0, 0]


def test_too_many_blocks_set_a_column_apart_and_laws_stay_true(monkeypatch):
    monkeypatch.setattr(least_squares, "MOST_SUMS", 10)
    b = COLUMNS[1]
    tables = (
        Layout((), laplace(5)),
        Layout((b,), laplace(5)),
        Layout((Axis("b", 7, 2, keeps_missing=False),), laplace(5)),
        Layout((COLUMNS[2], b), laplace(5)),
    )
    solution = LeastSquares(tables)
    assert solution.apart == {"b"}
    random = np.random.default_rng(1)
    error = solution.estimates(
        [draws(layout.noise, (20_000, *layout.shape), random).astype(float) for layout in tables]
    )
    assert np.allclose(error[0], error[2].sum(axis=1))
    assert np.allclose(error[1], error[3].sum(axis=1))
    for place, found in enumerate(error):
        cell = (0,) * (found.ndim - 1)
        weights = solution.weights(place, [cell])
        variance = laplace(5).variance * (weights.copies * weights.weights[0] ** 2).sum()
        assert found[(slice(None), *cell)].var() == pytest.approx(variance, rel=0.05)
        assert variance <= laplace(5).variance
    made = consistent(released(random.poisson(9, (4, 7, 2)), COLUMNS, tables, random), counts=True)
    check_agreement(made, tables)


def test_the_order_of_tables_and_sides_changes_nothing():
    a, b, _ = COLUMNS
    random = np.random.default_rng(2)
    values = random.poisson(30, (4, 7))
    one = consistent(
        [
            NoisyTable(Layout((a, b), laplace(5)), values),
            NoisyTable(Layout((b,), laplace(2)), values.sum(axis=0) + 3),
        ],
        counts=True,
    )
    other = consistent(
        [
            NoisyTable(Layout((b,), laplace(2)), values.sum(axis=0) + 3),
            NoisyTable(Layout((b, a), laplace(5)), values.T),
        ],
        counts=True,
    )
    assert one.tables[0].estimates == pytest.approx(other.tables[1].estimates.T)
    assert (one.tables[1].values == other.tables[0].values).all()


def test_twenty_histograms_and_all_pairs_of_six_columns_take_seconds():
    random = np.random.default_rng(4)
    columns = [Axis(f"c{i:02}", size) for i, size in enumerate([2, 3, 5, 8, 12, 20, *range(10, 150, 10)])]
    tables = [Layout((), laplace(5)), *(Layout((column,), laplace(20)) for column in columns)]
    tables += [Layout(pair, laplace(40)) for pair in itertools.combinations(columns[:6], 2)]
    noisy = [NoisyTable(layout, random.integers(0, 500, layout.shape)) for layout in tables]
    heard = []
    start = time.process_time()
    with listening(lambda *said: heard.append(said)):
        made = consistent(noisy, counts=True)
    for table in made.tables:
        table.intervals()
    assert time.process_time() - start < 10
    assert len(heard) == len(tables)
    assert len({int(table.values.sum()) for table in made.tables}) == 1


SCHEMA = Schema(
    (Categorical("town", ("x", "y", "z")), Boolean("owns"), Integer("age", 0, 19), Integer("income", 0, 9)),
    unit=Rows(),
    neighbours="add_remove",
)


def test_answers_of_a_batch_meet_those_of_the_same_rows():
    old = compare(SCHEMA.coded("age"), ">=", 10).true
    queries = [
        Count(),
        Histogram(column="town"),
        Histogram(column="age", bins=4),
        Histogram(column="age"),
        Marginal(of=("town", "owns")),
        Total(column="income"),
        GroupBy(keys=("owns",), total="income"),
        Count(where=old),
        Histogram(column="owns", where=old),
    ]
    statistics = [statistic for query in queries for statistic in query.statistics(SCHEMA)]
    random = np.random.default_rng(6)
    numbers = [
        Released(one.aggregate, laplace(8), random.integers(0, 300, one.aggregate.cells))
        for one in statistics
    ]
    made = agreed(numbers)
    count, *tables = (table.values for table in made.tables[:5])
    assert all(table.sum() == count for table in tables)
    assert (tables[0] == tables[3].sum(axis=1)).all()
    assert (tables[1] == np.add.reduceat(tables[2], [0, 5, 10, 15, 20])).all()
    assert made.tables[5].values == made.tables[6].values.sum()
    assert made.tables[7].values == made.tables[8].values.sum() != count
    assert not made.tables[6].counts
    assert made.tables[0].counts


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Layout((COLUMNS[0], COLUMNS[0]), laplace(1)), "each column once"),
        (lambda: NoisyTable(Layout((), laplace(1)), np.array([1, 2])), "one integer a cell"),
        (lambda: NoisyTable(Layout((), laplace(1)), np.array([1.5])), "one integer a cell"),
        (lambda: consistent([], counts=True), "one or more"),
        (lambda: LeastSquares((Layout((Axis("a", 2),), None), Layout((Axis("a", 3),), None))), "one schema"),
    ],
)
def test_what_cannot_be_is_refused(make, said):
    with pytest.raises(BadQuery, match=said):
        make()


def test_numbers_too_large_for_floats_are_refused():
    with pytest.raises(QueryTooComplex, match="coarser unit"):
        consistent([NoisyTable(Layout((), laplace(1)), np.array(-(2**63)))], counts=False)


def test_post_processing_has_no_way_to_the_rows():
    folder = Path(entwined.estimate.__file__).parent
    seen, waiting = set(), {"entwined.estimate.agreement", "entwined.estimate.ratios"}
    while waiting:
        module = waiting.pop()
        seen.add(module)
        source = (folder / f"{module.rpartition('.')[2]}.py").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not node.module.startswith(("entwined.tables", "entwined.ledger", "ibis", "duckdb"))
                if node.module.startswith("entwined.estimate."):
                    waiting |= {node.module} - seen
    assert len(seen) > 8
