"""Weighted answers on a generated stratified survey: both intervals hold their truth as often as they say."""

import numpy as np
import pytest

from entwined.estimate.answers import Answered, Release
from entwined.estimate.grid import placed
from entwined.estimate.population import population
from entwined.estimate.spans import span
from entwined.mechanisms.draws import noisy
from entwined.queries import Count, Mean, Sampling, Share, Total, parse
from entwined.request.verbs import plan
from support.stratified_survey import SCHEMA, Survey

SURVEY = Survey.made(7)
RICH = parse("income > 22", SCHEMA)
WORKS = parse("works", SCHEMA)


def works(row):
    return row["works"] == 1


def rich(row):
    return row["income"] > 22


QUERIES = {
    "total": (Total("income", weight="weight"), SURVEY.truth(lambda row: row["income"])),
    "count": (Count(where=RICH, weight="weight"), SURVEY.truth(rich)),
    "mean": (
        Mean("income", weight="weight"),
        SURVEY.truth(lambda row: row["income"]) / SURVEY.truth(lambda _: 1),
    ),
    "mean of some": (
        Mean("income", weight="weight", where=WORKS),
        SURVEY.truth(lambda row: works(row) * row["income"]) / SURVEY.truth(works),
    ),
    "share": (Share(where=WORKS, weight="weight"), SURVEY.truth(works) / SURVEY.truth(lambda _: 1)),
    "share of some": (
        Share(where=WORKS, of=RICH, weight="weight"),
        SURVEY.truth(lambda row: works(row) * rich(row)) / SURVEY.truth(rich),
    ),
}


def released(query, samples, *, loss=1, delta=None):
    """Releases of a query and of what its sampling error is made of, one a sample, with noise as the door draws it."""
    asked = [query, Sampling.behind(query, "region", even=True)]
    planned = plan(SCHEMA, asked, loss=loss, delta=delta)
    exact = [SURVEY.exact(one.statistic.aggregate, samples) for one in planned.statistics]
    drawn = [noisy(one, numbers) for one, numbers in zip(planned.statistics, exact, strict=True)]
    for turn in range(len(samples)):
        answers = []
        for asked_for, uses in zip(planned.queries, planned.uses, strict=True):
            statistics = [planned.statistics[use] for use in uses]
            numbers = tuple(tuple(drawn[use][turn].tolist()) for use in uses)
            value = placed(asked_for, SCHEMA, asked_for.answer(SCHEMA, numbers))
            where = span(asked_for, SCHEMA, statistics, numbers)
            laws = tuple(one.law for one in statistics)
            answers.append(Answered(asked_for.fingerprint, value, where, numbers, laws))
        uses = planned.uses[planned.queries.index(query)]
        truth = query.answer(SCHEMA, [exact[use][turn].tolist() for use in uses])
        yield Release(tuple(answers), {}, schema=SCHEMA), truth


def holds(ends, truth):
    return ends[0] <= truth <= ends[1]


def covered(name, times, seed=11, **more):
    """How often each interval holds: as released, of the sample and of the population."""
    query, truth = QUERIES[name]
    samples = SURVEY.samples(np.random.default_rng(seed), times)
    held = []
    for release, of_sample in released(query, samples, **more):
        found = population(release, query)
        held.append(
            (
                holds(release.of(query).interval, of_sample),
                holds(found.sample, of_sample),
                holds(found.population, truth),
            )
        )
    return np.mean(held, axis=0)


@pytest.mark.parametrize("name", ["total", "mean", "share"])
def test_both_intervals_hold_their_truth(name):
    slack = 4.5 * (0.05 * 0.95 / 400) ** 0.5  # a right one is out of it once in 10^5
    for share in covered(name, 400):
        assert 0.95 - slack <= share <= 0.955 + slack


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_both_intervals_hold_their_truth_ten_thousand_times(name):
    found = covered(name, 10_000)
    print(name, found)
    assert (found >= 0.94).all()
    assert (found <= 0.96).all()
