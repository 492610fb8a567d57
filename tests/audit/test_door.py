"""Audits at ε = 1 of everything that leaves the door: many samples of each query on two neighbouring tables.

The samples are drawn by the function that the door draws with, on the exact answers of the two tables that
are furthest apart for the query. What is audited is the log likelihood ratio of the released integers, the
most telling number there is. Each audit has a planted bug: the same with noise a tenth too small.
"""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from entwined.audit import audit
from entwined.mechanisms.draws import noisy
from entwined.noise import ExponentialChoice
from entwined.queries import (
    Count,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Median,
    Quantile,
    Total,
    Variance,
    parse,
)
from entwined.request.verbs import plan
from entwined.schema import Boolean, Cells, Integer, Person, Schema, Text
from support.memory_table import MemoryTable
from support.simulated import simulated_laplace

SAMPLES = 100_000
ENOUGH = {  # samples by which the planted bug is caught; a variance takes all, so it waits for `make slow`
    "count": 30_000, "histogram": 30_000, "total": 40_000, "totals by group": 40_000, "mean": 60_000, "batch": 60_000,
}  # fmt: skip
FALSE_ALARM = 1e-6
COLUMNS = (Text("who", compare="exact"), Boolean("well", missing="drop"), Integer("age", 0, 3))
BASE = [{"who": f"p{age}", "well": age % 2, "age": age} for age in range(4)]
VALUES = [
    {"who": "me", "well": well, "age": age}
    for well, age in itertools.product([True, False, None], [0, 1, 3, None])
]
SCHEMAS = {
    "add_remove": Schema(COLUMNS, neighbours="add_remove", most_rows=1000).approve(),
    "replace": Schema(COLUMNS, most_rows=1000).approve(),
    "person": Schema(COLUMNS, unit=Person("who", 2), neighbours="add_remove", most_rows=1000).approve(),
    "cells": Schema(COLUMNS, unit=Cells(), most_rows=1000).approve(),
}
QUERIES = {
    "count": Count(where=parse("age >= 1", SCHEMAS["replace"])),
    "total": Total("age"),
    "mean": Mean("age"),
    "variance": Variance("age"),
    "histogram": Histogram("well"),
    "marginal": Marginal(("well",), where=parse("age < 3", SCHEMAS["replace"])),
    "group_by": GroupBy(("well",)),
    "totals by group": GroupBy(("well",), "age"),
    "batch": [Histogram("well"), Count(where=parse("age = 3", SCHEMAS["replace"]))],
}


def neighbours(schema):
    """All pairs of tables that differ in one unit of a few values."""
    if isinstance(schema.unit, Person):
        mine = [list(rows) for rows in itertools.combinations_with_replacement(VALUES[::2], 2)]
        return [(BASE + rows, BASE) for rows in mine]
    if schema.neighbours == "add_remove":
        return [([*BASE, row], BASE) for row in VALUES]
    pairs = itertools.combinations(VALUES, 2)
    if isinstance(schema.unit, Cells):
        pairs = (
            pair for pair in pairs if sum(pair[0][name] != pair[1][name] for name in ("well", "age")) == 1
        )
    return [([*BASE, one], [*BASE, other]) for one, other in pairs]


def furthest(planned):
    """The exact answers of the two neighbouring tables whose releases are easiest to tell apart."""
    aggregates = [one.statistic.aggregate for one in planned.statistics]
    scales = [float(one.law.scale) for one in planned.statistics]

    def distance(pair):
        return sum(
            np.abs(np.subtract(here, there)).sum() / scale
            for here, there, scale in zip(*pair, scales, strict=True)
        )

    answers = [
        tuple(MemoryTable(planned.schema, rows).answer(aggregates) for rows in pair)
        for pair in neighbours(planned.schema)
    ]
    best = max(answers, key=distance)
    return best, distance(best)


def ratios(planned, samples, pair):
    """The log likelihood ratio of each released vector, as the laws that were claimed have it."""
    total = 0.0
    for one, drawn, here, there in zip(planned.statistics, samples, *pair, strict=True):
        total = total + (np.abs(drawn - there) - np.abs(drawn - here)).sum(axis=1) / float(one.law.scale)
    return np.round(total, 9)


def drawn_at_the_door(planned, exact, samples):
    return [
        noisy(one, np.broadcast_to(numbers, (samples, len(numbers))))
        for one, numbers in zip(planned.statistics, exact, strict=True)
    ]


def drawn_with_less_noise(planned, exact, samples, rng):
    return [
        np.stack(
            [simulated_laplace(0.9 * float(one.law.scale), number, rng, samples) for number in numbers],
            axis=1,
        )
        for one, numbers in zip(planned.statistics, exact, strict=True)
    ]


def check(name, relation, samples=SAMPLES):
    planned = plan(SCHEMAS[relation], QUERIES[name], loss=1)
    pair, distance = furthest(planned)
    assert distance == pytest.approx(1, rel=1e-6)  # the charge is exactly what the worst neighbours show
    found = audit(
        *(ratios(planned, drawn_at_the_door(planned, exact, samples), pair) for exact in pair),
        false_alarm=FALSE_ALARM,
    )
    assert not found.refutes(1.0)
    assert found.epsilon > 0.75  # it would see a claim a quarter too large, with three noises at once too
    rng = np.random.default_rng(7)
    bug = audit(
        *(ratios(planned, drawn_with_less_noise(planned, exact, samples, rng), pair) for exact in pair),
        false_alarm=FALSE_ALARM,
    )
    assert bug.refutes(1.0)


@pytest.mark.parametrize("name", ENOUGH)  # the others are tables of counts, like a histogram
def test_additive_queries_under_adding_and_removing(name):
    check(name, "add_remove", ENOUGH[name])


@pytest.mark.slow
@pytest.mark.parametrize("relation", SCHEMAS)
@pytest.mark.parametrize("name", QUERIES)
def test_additive_queries_under_every_relation(name, relation):
    check(name, relation)


@pytest.mark.parametrize("relation", SCHEMAS)
@pytest.mark.parametrize("name", QUERIES)
def test_no_neighbours_are_further_apart_than_charged(name, relation):
    """The same without samples, for every relation: the exact loss of the worst pair is the charge, or less."""
    planned = plan(SCHEMAS[relation], QUERIES[name], loss=1)
    distance = furthest(planned)[1]
    assert distance <= 1 + 1e-9
    assert distance > 0.5


# choices

FEW = 5_000
RANKS = {
    "median": Median("age"),
    "low": Quantile("age", Fraction(1, 20)),
    "high": Quantile("age", Fraction(19, 20)),
    "lower third": Quantile("age", Fraction(1, 3)),
}
WIDE = {
    relation: Schema((Integer("age", 0, 1999),), neighbours=relation, most_rows=1000).approve()
    for relation in ("add_remove", "replace")
}


@cache
def log_chances(query, law, counts):
    return np.log(law.probabilities(query.scores(np.array(counts))))


def choice_loss(query, law, here, there):
    """The exact largest log ratio of the chances of a choice on two tables of counts."""
    one, other = (log_chances(query, law, tuple(map(int, counts))) for counts in (here, there))
    return float(np.abs(one - other).max())


def small_neighbours(relation, most=7):
    """All tables of a few rows over four codes, with their neighbours."""
    unit = np.eye(4, dtype=int)
    for counts in itertools.product(range(most), repeat=4):
        if sum(counts) < most:
            for at in range(4):
                more = np.array(counts) + unit[at]
                if relation == "add_remove":
                    yield counts, more
                else:
                    yield from ((counts, more - unit[gone]) for gone in range(at) if counts[gone])


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("name", RANKS)
def test_choices_keep_their_claim_on_all_small_tables(name, relation):
    planned = plan(SCHEMAS[relation], RANKS[name], loss=1)
    law = planned.statistics[0].law
    losses = [choice_loss(RANKS[name], law, *pair) for pair in small_neighbours(relation)]
    assert 0.3 < max(losses) <= 1


def test_choices_by_their_exact_law_where_it_is_worst():
    """One value near the low end of a wide range: whoever comes at the other end moves nearly all chances."""
    here, there = np.zeros(2000, dtype=int), np.zeros(2000, dtype=int)
    here[1] = there[1] = there[-1] = 1
    law = plan(WIDE["add_remove"], Median("age"), loss=1).statistics[0].law
    assert 0.99 < choice_loss(Median("age"), law, here, there) <= 1
    assert choice_loss(Median("age"), ExponentialChoice(law.rate / Fraction(9, 10)), here, there) > 1.09
    here[0] = 1  # and now goes there from the low end
    law = plan(WIDE["replace"], Median("age"), loss=1).statistics[0].law
    assert 0.99 < choice_loss(Median("age"), law, here, there) <= 1
    assert choice_loss(Median("age"), ExponentialChoice(law.rate / Fraction(9, 10)), here, there) > 1.09


def check_choice(name, samples):
    planned = plan(SCHEMAS["add_remove"], RANKS[name], loss=1)
    (one,) = planned.statistics

    def drawn(exact):
        return noisy(one, np.broadcast_to(exact, (samples, 4))).reshape(-1)

    assert not audit(drawn([2, 3, 0, 0]), drawn([2, 3, 0, 1]), false_alarm=FALSE_ALARM).refutes(1.0)


def test_choices_at_the_door():
    check_choice("median", FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKS)
def test_all_choices_at_the_door(name):
    check_choice(name, SAMPLES)


def test_a_choice_that_forgets_that_scores_move_both_ways_is_caught():
    law = plan(SCHEMAS["add_remove"], Median("age"), loss=1).statistics[0].law
    bug = ExponentialChoice(4 * law.rate)
    rng = np.random.default_rng(11)
    chances = [bug.probabilities(Median("age").scores(exact)) for exact in ([0, 1, 0, 0], [0, 1, 0, 1])]
    seen = [rng.choice(4, FEW, p=np.array(chance) / math.fsum(chance)) for chance in chances]
    assert audit(*seen, false_alarm=FALSE_ALARM).refutes(1.0)
