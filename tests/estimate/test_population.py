"""Weighted answers on a generated stratified survey: both intervals hold their truth as often as they say."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from entwined.errors import BadQuery
from entwined.estimate.answers import Answered, Release
from entwined.estimate.grid import placed
from entwined.estimate.population import Estimated, population, populations
from entwined.estimate.sampling import SampleError
from entwined.estimate.spans import Around, span
from entwined.estimate.trends import trend
from entwined.mechanisms.draws import noisy
from entwined.noise import DiscreteLaplace
from entwined.queries import Count, Histogram, Mean, Sampling, Share, Total, parse
from entwined.queries.sampling import COARSE, FINE
from entwined.request.desk import open_desk
from entwined.request.verbs import plan
from support.stratified_survey import DRAWN, REGIONS, SCHEMA, WEIGHTS, Survey

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


def released(query, samples, *, loss=1, delta=None, strata="region", even=True):
    """Releases of a query and of what its sampling error is made of, one a sample, with noise as the door draws it."""
    asked = [query, Sampling.behind(query, strata, even=even)]
    planned = plan(SCHEMA, asked, loss=loss, delta=delta)
    exact = [SURVEY.exact(one.statistic.aggregate, samples) for one in planned.statistics]
    drawn = [noisy(one, numbers) for one, numbers in zip(planned.statistics, exact, strict=True)]
    for turn in range(len(samples)):
        answers = []
        for asked_for, uses in zip(planned.queries, planned.uses, strict=True):
            statistics = [planned.statistics[use] for use in uses]
            numbers = tuple(tuple(drawn[use][turn].tolist()) for use in uses)
            value = placed(asked_for, SCHEMA, asked_for.answer(SCHEMA, numbers))
            laws = tuple(one.law for one in statistics)
            answers.append(Answered(asked_for.fingerprint, value, Around(0), numbers, laws))
        uses = planned.uses[planned.queries.index(query)]
        truth = query.answer(SCHEMA, [exact[use][turn].tolist() for use in uses])
        yield Release(tuple(answers), {}, schema=SCHEMA), truth


def test_a_release_shows_both_intervals_and_is_read_back(tmp_path):
    counts = SURVEY.samples(np.random.default_rng(2), 1)[0]
    rows = pd.DataFrame(SURVEY.rows).loc[np.repeat(np.arange(len(counts)), counts)]
    rows = rows.assign(region=np.array(REGIONS)[rows.region], weight=rows.weight / 100, works=rows.works == 1)
    share = Share(where="works", weight="weight")
    asked = {"share": share, "behind": Sampling.behind(share, "region")}
    with open_desk(rows, SCHEMA, ledger=tmp_path / "l.sqlite", cap=3) as door:
        found = door.release(asked, loss=2)
    told = population(found, share)
    assert populations(found) == {share.bound(SCHEMA).fingerprint: told}
    assert "share · of the population" in str(found)
    again = Release.from_document(found.document()).under(SCHEMA)
    assert population(again, share) == told
    assert told.sample == found["share"].interval


def holds(ends, truth):
    return ends[0] <= truth <= ends[1]


def covered(name, times, seed=11, **more):
    """How often each interval holds: that of the sample, and that of the population."""
    query, truth = QUERIES[name]
    samples = SURVEY.samples(np.random.default_rng(seed), times)
    held = []
    for release, of_sample in released(query, samples, **more):
        found = population(release, query)
        held.append((holds(found.sample, of_sample), holds(found.population, truth)))
    return np.mean(held, axis=0)


@pytest.mark.parametrize("name", ["total", "mean", "share"])
def test_both_intervals_hold_their_truth(name):
    slack = 4.5 * (0.05 * 0.95 / 120) ** 0.5  # a right one is out of it once in 10^5
    assert (covered(name, 120) >= 0.95 - slack).all()


@pytest.mark.parametrize("name", QUERIES)
def test_the_interval_of_the_sample_is_the_released_one(name):
    query, _ = QUERIES[name]
    planned = plan(SCHEMA, [query, Sampling.behind(query, "region")], loss=1)
    (release, _), *_ = released(query, SURVEY.samples(np.random.default_rng(3), 1), even=False)
    statistics = [planned.statistics[use] for use in planned.uses[planned.queries.index(query)]]
    answer = release.of(query)
    where = span(query, SCHEMA, statistics, answer.numbers)
    assert population(release, query).sample == replace(answer, span=where).interval


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_both_intervals_hold_their_truth_ten_thousand_times(name):
    found = covered(name, 10_000)
    print(name, found)
    assert (found >= 0.94).all()
    assert (found <= 0.96).all()


def one_release(query, *, seed=5, **more):
    samples = SURVEY.samples(np.random.default_rng(seed), 1)
    (found,) = released(query, samples, **more)
    return found[0]


def length(ends):
    return float(ends[1] - ends[0])


def test_people_are_known_less_well_than_rows_and_the_design_effect_is_kishs():
    query, _ = QUERIES["mean"]
    found = population(one_release(query, loss=50), query)
    assert length(found.population) > 1.2 * length(found.sample)
    assert found.sample[0] <= found.value <= found.sample[1]
    weights = np.repeat([float(weight) for weight in WEIGHTS], DRAWN)
    exact = weights.sum() ** 2 / (weights**2).sum()
    assert found.effective == pytest.approx(exact, rel=0.05)
    assert found.design_effect == pytest.approx(len(weights) / exact, rel=0.05)


def test_a_surer_interval_is_longer_and_gaussian_noise_is_served():
    query, truth = QUERIES["share"]
    release = one_release(query, delta="1e-6")
    usual, surer = (population(release, query, confidence=sure) for sure in (0.95, 0.999))
    assert length(surer.population) > 1.5 * length(usual.population)
    assert length(surer.sample) > 1.5 * length(usual.sample)
    assert surer.population[0] <= truth <= surer.population[1]


def test_sampling_within_strata_is_told_from_sampling_without():
    """The regions differ: who leaves the strata out is told a longer interval, never a shorter one."""
    query, _ = QUERIES["mean"]
    samples = SURVEY.samples(np.random.default_rng(5), 1)
    within, without = (
        next(released(query, samples, loss=50, strata=strata))[0] for strata in ("region", None)
    )
    assert length(population(without, query).population) > 1.05 * length(population(within, query).population)


def test_a_trend_adds_squares_of_independent_waves_and_ends_of_others():
    def wave(value, low, high):
        ends = Fraction(low), Fraction(high)
        return Estimated("x", Fraction(value), ends, (ends[0] - 4, ends[1] + 4), Fraction(39, 40), 100.0, 1.5)

    before, after = wave(10, 7, 11), wave(20, 16, 23)
    apart = trend(before, after)
    assert (apart.value, apart.sample, apart.confidence) == (
        10,
        (10 - Fraction(17**0.5), 10 + Fraction(18**0.5)),
        Fraction(39, 40),
    )
    assert apart.population == (10 - Fraction(89**0.5), 10 + Fraction(98**0.5))
    panel = trend(before, after, independent=False)
    assert (panel.sample, panel.population) == ((5, 16), (-3, 24))
    assert panel.confidence == Fraction(19, 20)


@pytest.mark.slow
@pytest.mark.parametrize("independent", [True, False])
def test_a_trend_between_waves_holds_the_true_change(independent):
    """Both waves are of one population, so that nothing changed."""
    query, _ = QUERIES["mean"]
    sure = 0.95 if independent else 0.975
    waves = [
        [
            (population(release, query, confidence=sure), truth)
            for release, truth in released(query, SURVEY.samples(np.random.default_rng(seed), 2000))
        ]
        for seed in (1, 2)
    ]
    held = []
    for (before, old), (after, new) in zip(*waves, strict=True):
        found = trend(before, after, independent=independent)
        assert float(found.confidence) == pytest.approx(0.95)
        held.append((holds(found.sample, new - old), holds(found.population, 0)))
    found = np.mean(held, axis=0)
    print(found)
    assert (found >= 0.94).all()
    assert not independent or (found <= 0.97).all()


def test_what_cannot_be_said_is_refused_in_words():
    query, _ = QUERIES["mean"]
    release = one_release(query)
    with pytest.raises(BadQuery, match=r"release\.under"):
        population(Release(release.answers, {}), query)
    with pytest.raises(BadQuery, match="nothing was released about its sampling error"):
        population(Release(release.answers[:1], {}, schema=SCHEMA), query)
    with pytest.raises(BadQuery, match="does not answer"):
        population(release, Mean("income", weight="weight", where=RICH))
    found = population(release, query)
    share = QUERIES["share"][0]
    with pytest.raises(BadQuery, match="the same"):
        trend(found, population(one_release(share), share))
    with pytest.raises(BadQuery, match="same confidence"):
        trend(found, population(release, query, confidence=0.9))


def test_even_weights_are_not_taken_for_it_where_values_are_missing():
    numbers = [COARSE * 1000, 0, COARSE * 500, COARSE * 600, 0, 0, FINE * 250]
    law = DiscreteLaplace(Fraction(COARSE))
    assert not SampleError.of(tuple(numbers), law).is_of_all
    assert SampleError.of((*numbers[:3], COARSE * 999, *numbers[4:]), law).is_of_all


def test_a_total_without_even_weights_is_held_by_a_longer_interval():
    query, truth = QUERIES["total"]
    samples = SURVEY.samples(np.random.default_rng(5), 1)
    even, uneven = (population(next(released(query, samples, even=even))[0], query) for even in (True, False))
    assert length(uneven.population) > length(even.population)
    assert uneven.population[0] <= truth <= uneven.population[1]


def test_weighted_counts_agree_with_their_tables(tmp_path):
    rows = pd.DataFrame(
        {"region": ["north", "south"] * 50, "weight": [0.5, 2.0] * 50, "income": 7, "works": True}
    )
    asked = {
        "all": Count(weight="weight", where="region is not null"),
        "by": Histogram("region", weight="weight"),
    }
    with open_desk(rows, SCHEMA, ledger=tmp_path / "l.sqlite", cap=3) as door:
        found = door.release(asked, loss=1)
    assert found["all"].adjusted.value == sum(found["by"].adjusted.value)
    assert found["all"].adjusted.value.denominator in {1, 2, 4, 5, 10, 20, 25, 50, 100}
    low, high = found["all"].interval
    assert low <= found["all"].value <= high
