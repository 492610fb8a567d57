"""Generated tables and random questions about them, whose released numbers are held against the truth of the table."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from entwined.errors import BadQuery
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.consistent_release import make_consistent
from entwined.mechanisms.draws import noisy
from entwined.queries import Count, GroupBy, Histogram, Mean, Median, Quantile, Share, Total, Variance, parse
from entwined.queries.rows import rows_inside
from entwined.request.verbs import plan
from entwined.schema import Boolean, Categorical, Integer, Schema

LOSSES = ("0.02", "0.1", "0.5", "1", "4")
QUANTILES = [Fraction(1, 100), Fraction(1, 10), Fraction(9, 10), Fraction(99, 100)]


@dataclass(frozen=True)
class Picture:
    """A table of codes under a schema."""

    schema: Schema
    codes: dict[str, np.ndarray]

    @property
    def rows(self):
        return len(next(iter(self.codes.values())))

    def exact(self, statistic):
        """The integers of a statistic, worked out here and not by an engine."""
        asked = statistic.aggregate
        columns = {name: self.codes[name] for name in asked.where.columns}
        inside = rows_inside(asked.where, columns, self.rows)
        codes = {name: column[inside] for name, column in self.codes.items()}
        added = np.ones(int(inside.sum()), np.int64)
        if asked.adds is not None:
            for term in asked.adds.factors:
                added *= (term.factor * codes[term.column] + term.offset) ** term.power
        if not asked.sides:
            return np.array([added.sum()])
        places = np.zeros(len(added), np.int64)
        for axis in asked.sides:
            cells = np.array([axis.cell(code) for code in range(axis.levels + axis.keeps_missing)])
            places = places * axis.cells + cells[codes[axis.column]]
        return np.bincount(places, added, asked.cells).astype(np.int64)

    def released(self, queries, loss, delta=None, *, consistent=False):
        """Draw a release of these rows, and make its answers agree if that is wanted."""
        planned = plan(self.schema, queries, loss=loss, delta=delta)
        exact = [self.exact(one.statistic) for one in planned.statistics]
        drawn = [
            tuple((one.drawn(counts[None])[0] if one.noise is None else noisy(one, counts[None])[0]).tolist())
            for one, counts in zip(planned.statistics, exact, strict=True)
        ]
        release = as_drawn(planned, drawn).under(self.schema)
        return planned, exact, make_consistent(planned, release) if consistent else release


def picture(rows, rng):
    """A table with skewed categories, rare values, many ids, amounts that are mostly zero, and years."""
    ids = int(rng.integers(50, 1500))
    zipf = 1 / np.arange(1, 41) ** rng.uniform(0.5, 2.5)
    amounts = np.minimum(rng.lognormal(5, rng.uniform(0.5, 1.5), rows), 9999).astype(int)
    amounts[rng.random(rows) < rng.uniform(0, 0.95)] = 0
    codes = {
        "kind": rng.choice(40, rows, p=zipf / zipf.sum()),
        "id": rng.integers(0, ids, rows),
        "rare": (rng.random(rows) < rng.choice([0.001, 0.02, 0.3, 0.97])).astype(int),
        "age": np.clip(rng.normal(28, 15, rows), 0, 79).astype(int),
        "amount": amounts,
        "gain": np.clip(rng.normal(rng.choice([0, 3, 200]), 60, rows) + 1000, 0, 2000).astype(int),
        "year": np.clip(rng.normal(90, 10, rows), 0, 120).astype(int),
    }
    columns = (
        Categorical("kind", tuple(f"k{at}" for at in range(40)), missing="drop"),
        Categorical("id", tuple(f"i{at}" for at in range(ids)), missing="drop"),
        Boolean("rare", missing="drop"),
        Integer("age", 18, 97, missing="drop"),
        Integer("amount", 0, 9999, missing="drop"),
        Integer("gain", -1000, 1000, missing="drop"),
        Integer("year", 1900, 2020, missing="drop"),
    )
    return Picture(Schema(columns, rows=rows, most_rows=rows).approve(), codes)


def question(schema, rng):
    """A random question."""
    where = parse(
        str(rng.choice(["age > 30", "rare", "kind in ('k0', 'k3')", "amount > 0", "year > 1992"])), schema
    )
    given = {"where": where} if rng.random() < 0.5 else {}
    numeric = str(rng.choice(["age", "amount", "gain", "year"]))
    at = QUANTILES[rng.integers(len(QUANTILES))]
    makers = (
        lambda: Histogram("kind", **given),
        lambda: Histogram("id", **given),
        lambda: GroupBy(("kind", "rare"), **given),
        lambda: GroupBy(("kind",), "amount", **given),
        lambda: Histogram("amount", 200, **given),
        lambda: Count(where=where),
        lambda: Total("amount", **given),
        lambda: Mean(numeric, **given),
        lambda: Mean("rare", **given),
        lambda: Share(where=where),
        lambda: Share(where=where, of=parse("age > 25 and amount >= 0", schema)),
        lambda: Variance(numeric, **given),
        lambda: Median(numeric, **given),
        lambda: Quantile(numeric, at, **given),
    )
    return makers[rng.integers(len(makers))]()


def answerable(schema, rng):
    """A random question that is not answered by its own condition."""
    while True:
        query = question(schema, rng).bound(schema)
        try:
            query.check(schema)
        except BadQuery:
            continue
        return query


def truths(planned, query, exact, answer, schema):
    """The true numbers of an answer, or None for a choice."""
    uses = planned.uses[[one.fingerprint for one in planned.queries].index(query.fingerprint)]
    if planned.statistics[uses[0]].noise is None:
        return None
    value = query.answer(schema, [exact[use].tolist() for use in uses])
    return np.array(value if isinstance(answer.value, tuple) else [value], dtype=float)


def ranks_off(table, query, answer):
    """How far the released value's ranks are from the wanted one, as a part of the rows on the lesser side."""
    column = table.schema.coded(query.values[0])
    (statistic,) = query.statistics(table.schema)
    counts = table.exact(statistic)
    off = statistic.choice.ranks_off(counts.astype(float))[column.encode(answer.value)]
    return off / max(float(statistic.choice.tail) * counts.sum(), 1e-9)


def numbers_labelled(table, rng, *, consistent=False):
    """Ask a random question at a random loss, and give the class, relative error and true relative deviation of each number."""
    query = answerable(table.schema, rng)
    delta = Fraction(1, 10**6) if rng.random() < 0.4 else None
    queries = [
        query,
        *([Count(where=query.inside)] if rng.random() < 0.3 and not query.inside.is_everything else []),
    ]
    planned, exact, release = table.released(queries, str(rng.choice(LOSSES)), delta, consistent=consistent)
    answer = release.of(query)
    released = np.array(answer.value if isinstance(answer.value, tuple) else [answer.value], dtype=float)
    true = truths(planned, query, exact, answer, table.schema)
    if true is None:
        yield answer.quality.level(0), answer.quality.relative_error(0), ranks_off(table, query, answer)
        return
    deviations = np.abs(released - true) / np.maximum(np.abs(true), 1e-12)
    for place, deviation in enumerate(deviations.tolist()):
        yield answer.quality.level(place), answer.quality.relative_error(place), deviation
