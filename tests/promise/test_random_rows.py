"""Random batches of every kind of question about random columns: no two rows, or cells, are told apart further.

Every pair of rows that the columns allow, missing values included, is enumerated: what the noise of all statistics
shows of the change is held against what was charged, with Laplace noise exactly and with Gaussian noise as ρ.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import BadQuery, EntwinedError
from entwined.noise import DiscreteGaussian
from entwined.noise.dominated import rho_of_laplace
from entwined.queries import (
    Count,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Quantile,
    Sampling,
    Share,
    Total,
    Variance,
    codes_in,
    everything,
)
from entwined.request.verbs import plan
from entwined.schema import Boolean, Categorical, Cells, Integer, Moment, Real, Rows, Schema
from support.exact_answers import exact_answer

DELTA = "0.0001"
MOST_KINDS = 130  # of rows: all pairs of them are looked at
BATCHES = 60


def drawn_column(rng, name):
    about = {"missing": rng.choice(["value", "drop"]), "public": rng.random() < 0.12}
    kind = rng.randrange(5)
    if kind == 0:
        return Boolean(name, **about)
    if kind == 1:
        return Categorical(name, tuple("abc"[: rng.randint(2, 3)]), **about)
    if kind == 2:
        low = rng.randint(-2, 1)
        return Integer(name, low, low + rng.randint(1, 3), **about)
    if kind == 3:
        return Real(name, 0, rng.randint(1, 2), Fraction(1, 2), **about)
    return Moment(name, "2020-01-01", f"2020-01-0{rng.randint(2, 4)}", **about)


def drawn_condition(rng, schema, depth=2):
    column = rng.choice(schema.columns)
    if not depth or rng.random() < 0.55:
        low, high = sorted(rng.sample(range(column.size + 1), 2))
        return codes_in(column.name, column.size, ((low, high - 1),))
    one, two = (drawn_condition(rng, schema, depth - 1) for _ in range(2))
    return rng.choice([one & two, one | two, one - two, ~one])


def drawn_query(rng, schema):
    """Ask for anything; what makes no sense for the columns is refused."""
    names = list(schema.names)
    one, other = rng.choice(names), rng.choice([*names, None])
    more = {"where": drawn_condition(rng, schema)} if rng.random() < 0.6 else {}
    if rng.random() < 0.25:
        more["weight"] = rng.choice(names)
    of = drawn_condition(rng, schema) if rng.random() < 0.5 else everything()
    sides = tuple(rng.sample(names, rng.randint(1, min(2, len(names)))))
    makers = [
        lambda: Count(**more),
        lambda: Histogram(one, **more),
        lambda: Marginal(sides, **more),
        lambda: Total(one, **more),
        lambda: Mean(one, **more),
        lambda: Mean(one, "public", **more),
        lambda: Variance(one, **more),
        lambda: Share(of=of, **more),
        lambda: Quantile(one, Fraction(rng.randint(0, 4), 4), **more),
        lambda: GroupBy(sides, total=other, **more),
        lambda: Sampling(one, other, even=rng.random() < 0.3, **more),
    ]
    made = rng.choice(makers)().bound(schema)
    made.check(schema)
    return made


def drawn_batch(rng, delta):
    """Draw columns, a unit and questions until some of them can be planned."""
    while True:
        columns = tuple(drawn_column(rng, name) for name in "abc"[: rng.randint(1, 3)])
        if math.prod(column.size for column in columns) > MOST_KINDS:
            continue
        cells = rng.random() < 0.35
        neighbours = "replace" if cells else rng.choice(["replace", "add_remove"])
        rows = None if neighbours == "add_remove" else rng.choice([None, 6])
        schema = Schema(columns, Cells() if cells else Rows(), neighbours, most_rows=30, rows=rows).approve()
        queries = []
        for _ in range(rng.randint(1, 4)):
            try:
                queries.append(drawn_query(rng, schema))
            except (BadQuery, TypeError):
                continue
        noise = {"noise": "laplace"} if delta and rng.random() < 0.4 else {}
        try:
            return plan(
                schema, queries, loss=rng.choice(["0.5", "2", "6"]), delta=delta,
                shares=[rng.choice([1, 2, "0.3"]) for _ in queries], **noise,
            )  # fmt: skip
        except EntwinedError:
            continue


def shown(planned, kinds, others):
    """What all noise shows of every pair of rows, the last of them no row at all; others are in the table."""
    found = np.zeros((len(kinds), len(kinds)))
    for one in planned.statistics:
        exact = np.array(
            [exact_answer(one.statistic.aggregate, [*others, *([row] if row else [])]) for row in kinds]
        )
        if one.noise is None:
            logs = np.log([one.law.probabilities(one.choice.scores(counts)) for counts in exact])
            found += 0 if planned.promise.measure.delta else np.ptp(_pairs(logs), axis=0).max(axis=-1)
            continue
        moved = np.abs(exact[:, None, :] - exact[None, :, :])
        found += shown_of(moved, one.law, concentrated=planned.promise.measure.delta is not None)
    return found


def _pairs(logs):
    return np.stack(np.broadcast_arrays(logs[:, None, :], logs[None, :, :]))


def shown_of(moved, law, *, concentrated):
    scale = float(law.scale)
    if not concentrated:
        return moved.sum(axis=-1) / scale
    if isinstance(law, DiscreteGaussian):
        return (moved**2).sum(axis=-1) / (2 * scale**2)
    paid = {int(by): float(rho_of_laplace(law.scale, int(by))) if by else 0.0 for by in np.unique(moved)}
    return np.vectorize(paid.__getitem__)(moved).sum(axis=-1)


def far(planned, rng):
    """For each unit what is shown at most, and what was charged for it."""
    schema, base = planned.promise.schema, planned.promise.base(planned.charged)
    names, sizes = schema.names, [column.size for column in schema.columns]
    kinds = [dict(zip(names, codes, strict=True)) for codes in itertools.product(*map(range, sizes))]
    others = [rng.choice(kinds) for _ in range(rng.randint(0, 4))]
    found = shown(planned, [*kinds, None], others)
    codes = np.array([list(row.values()) for row in kinds])
    same = codes[:, None, :] == codes[None, :, :]
    public = [at for at, column in enumerate(schema.columns) if column.public]
    if schema.unit.by_column:
        for at, column in enumerate(schema.columns):
            if not column.public:
                alone = np.delete(same, at, axis=2).all(axis=2)
                yield (found[:-1, :-1] * alone).max(), base.columns.get(column.name, 0)
        return
    pairs = (found[:-1, :-1] * same[:, :, public].all(axis=2)).max()
    if schema.neighbours == "add_remove":
        yield found[:-1, -1].max(), base.nominal
        pairs = max(found[:-1, :-1].max(), found[:-1, -1].max())
    yield pairs, base.replace


@pytest.mark.parametrize("delta", [None, DELTA])
def test_no_batch_shows_more_of_a_row_or_a_cell_than_was_charged(delta):
    rng, tight = random.Random(7), []
    for _ in range(BATCHES):
        planned = drawn_batch(rng, delta)
        for most, charged in far(planned, rng):
            asked = [query.kind for query in planned.queries]
            assert most <= float(charged) * (1 + 1e-9), (asked, planned.promise.schema)
            tight += [most / float(charged)] if charged else []
    assert np.median(tight) > 0.7  # so that it can fail
