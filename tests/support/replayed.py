"""How likely a transcript of a synthesis is under some rows: exact for everything that got noise, step by step."""

from itertools import combinations

import numpy as np

from entwined.mechanisms.marginals.adaptive import FAR, _columns, _grains, _independent
from entwined.mechanisms.marginals.explained import distance
from entwined.mechanisms.marginals.grain import coarse
from entwined.mechanisms.marginals.law import fitted


def exact_table(cells, scope, sizes):
    """Count rows of cells."""
    shape = [sizes[at] for at in scope]
    if not len(cells):
        return np.zeros(int(np.prod(shape)), np.int64)
    return np.bincount(np.ravel_multi_index(cells[:, scope].T, shape), minlength=int(np.prod(shape)))


def counted(cells, noted, sizes):
    """Count rows of cells as a noisy table of a transcript does, before its noise."""
    exact = exact_table(cells, noted.scope, sizes)
    return exact if noted.grain is None else coarse(exact, noted.grain)


def log_likelihood(mechanism, notes, cells):
    """The log weight of all noisy tables and distances of an adaptive transcript, given the rows, up to a constant.

    What was asked at each step, and with what noise, is in the transcript; the distances are from a law that is fitted
    to the columns alone, which came first: as they were first told, which the later telling alone is likely by, of which
    they are made. Choices are not in it: they cost a share of their own.
    """
    domain, meter = mechanism.domain, mechanism.meter
    total = 0.0
    for one in notes.tables:
        total += float(one.noise.log_weights(one.counts - counted(cells, one, domain.sizes)).sum())
    if not notes.distances:
        return total
    first = notes.earlier or notes.tables[: len(domain.axes)]
    alone = [one.counted for one in first]
    law = fitted(alone, domain.sizes)
    grains = _grains(law, domain, meter.deviation(mechanism.recipe.rest / mechanism.recipe._most(domain)))
    pairs = list(combinations(range(len(domain.axes)), 2))
    noise = meter.noise_of_distances(FAR, len(pairs))
    columns = _columns(law)
    far = [
        distance(exact_table(cells, pair, domain.sizes), _independent(columns, law.rows, pair), grains, pair)
        for pair in pairs
    ]
    seen = np.array([notes.distances[pair] for pair in pairs])
    return total + float(noise.log_weights(seen - np.array(far)).sum())
