"""Counts over different conditions that agree: estimates, whole numbers, intervals and errors."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entwined.estimate import kept_together, projection
from entwined.estimate.agreement import Released, agreed, agreed_laws, grouped
from entwined.estimate.intervals import intervals
from entwined.estimate.reconciled import Reconciliation
from entwined.noise import DiscreteGaussian
from entwined.queries import Count, Histogram, Marginal, Total, parse
from entwined.schema import Boolean, Schema
from support import conditions
from support.conditions import NEVER_MISSING, POINTS, SCHEMA, TABLES, where
from support.noisy_tables import draws, laplace

NOISES = [laplace(2), laplace(10), DiscreteGaussian(4)]
LECTURE = [Count(), *(Count(where=where(text)) for text in ("sex = 'Male'", "sex = 'Female'", "age > 2"))]


def numbers_of(queries, noise, values):
    found = [query.statistics(SCHEMA)[0].aggregate for query in queries]
    return [Released(one, noise, np.atleast_1d(value)) for one, value in zip(found, values, strict=True)]


@st.composite
def batches(draw):
    tables = tuple(draw(st.lists(st.sampled_from(TABLES), min_size=1, max_size=7)))
    noises = tuple(draw(st.sampled_from(NOISES)) for _ in tables)
    return Reconciliation(
        tables, noises, draw(st.sampled_from([(), NEVER_MISSING, (where("owns and age < 3"),)]))
    )


def variances(how):
    return np.concatenate(
        [[noise.variance] * table.cells for table, noise in zip(how.tables, how.noises, strict=True)]
    )


@given(how=batches(), seed=st.integers(0, 2**32))
@settings(max_examples=50)
def test_estimates_are_the_dense_least_squares_and_no_variance_grows(how, seed):
    values = [np.random.default_rng(seed).normal(size=(2, table.cells)) for table in how.tables]
    weights = conditions.projection(how.tables, variances(how), how.impossible)
    found = np.concatenate(how.estimates(values), axis=1)
    assert found == pytest.approx(np.concatenate(values, axis=1) @ weights.T, abs=1e-8)
    spread = np.concatenate([np.array([law.variance for law in laws])[kinds] for kinds, laws in how.laws])
    assert spread == pytest.approx((weights**2 * variances(how)).sum(axis=1), rel=1e-6, abs=1e-9)
    assert (spread <= variances(how) * (1 + 1e-9)).all()


@given(how=batches(), seed=st.integers(0, 2**32), rows=st.sampled_from([0, 1, 30, 100_000]))
@settings(max_examples=50)
def test_whole_numbers_obey_every_relation_and_no_part_is_above_its_whole(how, seed, rows):
    random = np.random.default_rng(seed)
    matrix = conditions.dense(how.tables, how.impossible)
    truth = matrix @ random.multinomial(rows, random.dirichlet(np.full(matrix.shape[1], 0.2)))
    edges = np.cumsum([table.cells for table in how.tables])[:-1]
    noisy = [
        exact + draws(noise, exact.shape, random)
        for exact, noise in zip(np.split(truth, edges), how.noises, strict=True)
    ]
    found = np.concatenate([table.numbers for table in how.whole(noisy)])
    assert found.min() >= 0
    assert conditions.projection(how.tables, np.ones(len(found)), how.impossible) @ found == pytest.approx(
        found, abs=1e-5
    )
    within = (matrix @ matrix.T) == matrix.sum(axis=1)  # column j lies inside row i
    assert (np.where(within, found, 0).max(axis=1) <= found).all()
    assert not found[matrix.sum(axis=1) == 0].any()


def test_the_batch_of_the_lecture_adds_up():
    numbers = numbers_of(LECTURE, laplace(10), [2005, 1001, 995, 1789])
    made = agreed(numbers, NEVER_MISSING).tables
    assert [int(table.values) for table in made] == [2002, 1004, 998, 1789]
    assert [table.law().variance / laplace(10).variance for table in made] == pytest.approx([2 / 3] * 3 + [1])
    assert [int(table.values) for table in agreed(numbers).tables] == [
        2005,
        1001,
        995,
        1789,
    ]  # 9 may be missing
    above = agreed(numbers_of(LECTURE, laplace(10), [1990, 1001, 995, 2100])).tables
    total, men, women, old = (int(table.values) for table in above)
    assert men + women <= total >= old


def test_a_public_number_of_rows_is_kept():
    rows = Released(LECTURE[0].statistics(SCHEMA)[0].aggregate, None, [2000])
    numbers = [*numbers_of(LECTURE[1:], laplace(10), [1001, 995, 2100]), rows]
    men, women, old, total = agreed(numbers, NEVER_MISSING).tables
    assert men.values + women.values == total.values == 2000
    assert old.values <= 2000
    assert total.intervals() == (2000, 2000)


def test_what_is_impossible_is_zero_and_a_table_of_a_condition_has_no_rows_outside_it():
    queries = [Marginal(("owns", "sex")), Histogram("age", where=where("age > 2"))]
    values = [[9, 9, 9] * 3, [5] * 9]
    pairs, ages = agreed(numbers_of(queries, laplace(3), values), (where("owns and sex = 'Male'"),)).tables
    assert pairs.values.shape == (3, 3)
    assert pairs.values[1, 0] == 0
    assert pairs.intervals()[1][1, 0] == 0
    assert not ages.values[:3].any()
    assert not ages.intervals()[1][:3].any()


def truths(tables, impossible, rows, random):
    possible = [point for point in POINTS if not any(one.holds(point) for one in impossible)]
    counts = random.multinomial(rows, random.dirichlet(np.full(len(possible), 2.0)))
    matrix = conditions.dense(tables, impossible)
    return np.split(matrix @ counts, np.cumsum([table.cells for table in tables])[:-1])


def coverage(how, exact, noisy, scale=1.0):
    """Give the share of releases in which each interval holds the truth, and the mean squared error over the noise's."""
    held, errors = [], []
    found = how.estimates(noisy)
    for place, (estimates, (kinds, laws)) in enumerate(zip(found, how.laws, strict=True)):
        for cell, kind in enumerate(kinds):
            law = laws[kind] * scale
            low, high = intervals(estimates[:, cell], law, 0.95, counts=True)
            held.append(((low <= exact[place][cell]) & (exact[place][cell] <= high)).mean())
            errors.append(
                ((estimates[:, cell] - exact[place][cell]) ** 2).mean() / how.noises[place].variance
            )
    return np.array(held), np.array(errors)


def simulated(how, releases, seed, rows=2000):
    random = np.random.default_rng(seed)
    exact = truths(how.tables, how.impossible, rows, random)
    noisy = [
        one + draws(noise, (releases, len(one)), random) for one, noise in zip(exact, how.noises, strict=True)
    ]
    return exact, noisy


BATCH = Reconciliation(tuple(map(conditions.counting, LECTURE)), (laplace(10),) * 4, NEVER_MISSING)


def test_intervals_hold_as_often_as_they_say_and_shorter_ones_are_caught():
    """With 10⁵ releases a share is 0.07 % off by chance: the bounds are four of these away, a false alarm in 10⁴."""
    exact, noisy = simulated(BATCH, 100_000, 1)
    held, errors = coverage(BATCH, exact, noisy)
    assert ((held > 0.947) & (held < 0.96)).all()
    assert (errors < 1.02).all()
    assert (errors[:3] < 0.7).all()
    assert (coverage(BATCH, exact, noisy, scale=0.9)[0] < 0.947).all()


def whole_errors(how, exact, noisy):
    """Give the mean squared error of published numbers over that of the same numbers as drawn, and coverage.

    Beside what the noise's law says a mean of 10⁴ squares of Laplace noise is off by 2 %; beside its own draws it is not.
    """
    releases = len(noisy[0])
    squares, held = [np.zeros(len(one)) for one in exact], [np.zeros(len(one)) for one in exact]
    drawn = [((one - true) ** 2).mean(axis=0) for one, true in zip(noisy, exact, strict=True)]
    ends = []
    for estimates, (kinds, laws) in zip(how.estimates(noisy), how.laws, strict=True):
        each = [
            intervals(estimates[:, cell], laws[kind], 0.95, counts=True) for cell, kind in enumerate(kinds)
        ]
        ends.append((np.array([low for low, _ in each]).T, np.array([high for _, high in each]).T))
    for release in range(releases):
        for place, (found, _) in enumerate(how.whole([one[release] for one in noisy])):
            squares[place] += (found - exact[place]) ** 2 / drawn[place] / releases
            low, high = (
                np.minimum(ends[place][0][release], found),
                np.maximum(ends[place][1][release], found),
            )
            held[place] += ((low <= exact[place]) & (exact[place] <= high)) / releases
    return np.concatenate(squares), np.concatenate(held)


def test_published_numbers_of_the_lecture_are_no_further_from_the_truth():
    """A count that nothing else tells of is published as it was drawn; the others come nearer to the truth."""
    errors, _ = whole_errors(BATCH, *simulated(BATCH, 300, 2))
    assert (errors[:3] < 0.85).all()
    assert errors[3] == pytest.approx(1)


MIXED = Reconciliation(TABLES, (laplace(5),) * len(TABLES), NEVER_MISSING)


@pytest.mark.parametrize(("scale", "rows"), [(1, 2000), (5, 2000), (5, 30)])
def test_rounding_adds_errors_where_others_took_more_away(scale, rows):
    how = Reconciliation(TABLES, (laplace(scale),) * len(TABLES), NEVER_MISSING)
    errors, _ = whole_errors(how, *simulated(how, 200, 5, rows))
    assert errors[np.isfinite(errors)].max() < 1 + 1e-9
    assert errors.mean() < 0.6


@pytest.mark.parametrize("rows", [20, 300])
def test_an_exact_count_is_not_spoilt_by_a_noisy_number_of_rows(rows):
    """Parts are not above wholes, and of two that do not fit the noisier one gives way."""
    tables = tuple(map(conditions.counting, (Count(where=where("sex = 'Male'")), Histogram("well"))))
    how = Reconciliation(tables, (laplace(2), laplace(40)), NEVER_MISSING)
    exact, noisy = simulated(how, 300, 4, rows)
    errors, _ = whole_errors(how, exact, noisy)
    short = noisy[1].sum(axis=1) < noisy[0][:, 0]
    assert short.mean() > 0.05  # else nothing is tried here
    assert errors[0] < 1.02
    assert errors[1:3].max() < 1


def test_where_noise_is_seldom_a_row_whole_numbers_that_agree_are_further_from_the_truth():
    """If one of a whole and its two parts is off by one, any way to mend it is wrong two times of three: 4/3."""
    how = Reconciliation(BATCH.tables, (laplace(0.3),) * 4, NEVER_MISSING)
    errors, _ = whole_errors(how, *simulated(how, 1500, 8))
    assert 1 < errors[:3].mean() < 1.5
    assert errors[3] == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("how", [BATCH, MIXED], ids=["lecture", "mixed"])
def test_over_ten_thousand_releases_intervals_hold_and_errors_are_smaller(how):
    exact, noisy = simulated(how, 10_000, 3)
    drawn = [
        np.abs(one - true) <= noise.half_width(0.95)
        for one, true, noise in zip(noisy, exact, how.noises, strict=True)
    ]
    before = np.concatenate([one.mean(axis=0) for one in drawn])
    errors, held = whole_errors(how, exact, noisy)
    possible = conditions.dense(how.tables, how.impossible).any(axis=1)
    print(before.min(), before.max(), held[possible].min(), held[possible].max(), errors.max(), errors.mean())
    assert ((before > 0.94) & (before < 0.97)).all()
    assert (held > 0.94).all()
    assert errors.mean() < 1
    assert errors.max() < 1 + 1e-9  # never larger: a count that nothing else tells of keeps its own error
    if how is BATCH:
        assert (held < 0.96).all()
        assert errors[:3].max() < 0.7


def test_where_atoms_are_too_many_the_simplest_conditions_agree_and_the_others_are_named(monkeypatch):
    queries = [*LECTURE, Histogram("owns", where=where("age > 5")), Marginal(("sex", "age", "owns"))]
    values = [2005, 1001, 995, 1789, [3] * 3, [1] * 81]
    numbers = [*numbers_of(queries, laplace(10), values), *numbers_of([Total("age")], laplace(90), [7000])]
    assert grouped(numbers).alone == ()
    assert grouped(numbers).by_subject == ((6,),)
    monkeypatch.setattr(kept_together, "MOST_CELLS", 20)
    monkeypatch.setattr(kept_together, "_kept", kept_together._kept.__wrapped__)
    groups = grouped(numbers)
    assert groups.by_atoms == (1, 2, 3, 4)
    assert groups.alone == (0, 5)  # the whole table and the total stay with each other
    made = agreed(numbers)
    assert made.alone == (0, 5)
    assert made.tables[0].values == made.tables[5].values.sum()
    laws = agreed_laws(numbers)
    for table, (kinds, found) in zip(made.tables, laws, strict=True):
        assert table.laws == found
        assert (table.kinds.ravel() == kinds).all()


def test_the_choice_of_what_agrees_never_looks_at_numbers(monkeypatch):
    monkeypatch.setattr(projection, "MOST_CELLS", 20)
    monkeypatch.setattr(kept_together, "MOST_CELLS", 20)
    monkeypatch.setattr(kept_together, "_kept", kept_together._kept.__wrapped__)
    queries = [*LECTURE, Marginal(("sex", "age"))]
    one = grouped(numbers_of(queries, laplace(1), [9, 9, 9, 9, [9] * 27]))
    other = grouped(numbers_of(queries, laplace(1), [-500, 10**6, 0, 1, list(range(27))]))
    assert one == other


@pytest.mark.slow
def test_two_hundred_counts_over_two_to_the_sixteen_atoms_take_seconds():
    schema = Schema(tuple(Boolean(f"b{place:02}") for place in range(16)), neighbours="add_remove")
    random = np.random.default_rng(5)
    texts = {"b00 or not b00": None}
    while len(texts) < 200:
        some = sorted(random.choice(16, random.integers(1, 5), replace=False).tolist())
        texts[" and ".join(f"{random.choice(['', 'not '])}b{place:02}" for place in some)] = None
    rows = {f"b{place:02}": random.random(20_000) < random.random() for place in range(16)}
    python = [text.replace("and", "&").replace("or", "|").replace("not ", "~") for text in texts]
    exact = np.array([int(np.sum(eval(text, rows))) for text in python])  # noqa: S307  (texts of our own)
    aggregates = [Count(where=parse(text, schema)).statistics(schema)[0].aggregate for text in texts]
    noisy = exact + draws(laplace(20), exact.shape, random)
    numbers = [
        Released(one, laplace(20), [value]) for one, value in zip(aggregates, noisy.tolist(), strict=True)
    ]
    impossible = [parse(f"b{place:02} is null", schema) for place in range(16)]
    start = time.process_time()
    made = agreed(numbers, impossible)
    for table in made.tables:
        table.intervals()
    spent = time.process_time() - start
    assert not made.alone
    published = np.array([int(table.values) for table in made.tables])
    assert np.mean((published - exact) ** 2) < laplace(20).variance
    assert spent < 10
