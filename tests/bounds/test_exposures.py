"""Theorems of every kind in one list: each starts from its exposure, and has the same certificate and verify."""

import copy
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from entwined.bounds import (
    ClippedValues,
    ConcentratedLoss,
    DistanceLoss,
    NoisyLinear,
    NoisySum,
    bound,
    calibrate,
    certify,
    verify,
)
from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.noisy_columns import NoisyColumns, ValueSets
from entwined.bounds.certificate import Certificate, digest
from entwined.bounds.choose import THEOREMS, named, theorems_taking
from entwined.bounds.concentrated_group import concentrated_group_bound
from entwined.bounds.filled_blanks import FilledBlanks, laws_of_columns
from entwined.bounds.near_places import NearPlaces
from entwined.bounds.noisy_sum import SeriesSum
from entwined.bounds.scalar import least_scale
from entwined.bounds.separable_filled import FilledConcentrated
from entwined.bounds.theorem import UNIT_VALUE
from entwined.dependence import (
    BayesNet,
    Box,
    City,
    Forms,
    Gaussian,
    Graph,
    Groups,
    Independent,
    MarkovChain,
    Variable,
)
from entwined.dependence.places import CityGrid
from entwined.errors import BadLoss, DoesNotApply, NoTheorem, Refused
from entwined.loss import Loss
from entwined.noise import epsilon_at, largest_rho

DELTA = Fraction(1, 10**6)
CHAIN = MarkovChain(6, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]))
ANSWERS = BayesNet.of(
    [
        Variable("q0", ("0", "1"), (), [[0.4, 0.6]]),
        Variable("q1", ("0", "1"), ("q0",), [[0.9, 0.1], [0.3, 0.7]]),
    ]
)
FORMS = Forms.of(ANSWERS, "form", [["q0", "q1"], ["q0"]])
CASES = {
    "losses": (CHAIN, Loss.uniform("0.2", 6), "any"),
    "a distance": (Gaussian.of([[1.0, 0.5], [0.5, 2.0]]), Loss.of([0.5, 1.0]), "any"),
    "concentrated": (Groups(3), ConcentratedLoss.uniform("0.01", 3, DELTA), "any"),
    "concentrated, uneven": (
        CHAIN,
        ConcentratedLoss.of(["0.01", 1, 0.5, Fraction(1, 7), 2, 3], DELTA),
        "any",
    ),
    "a noisy sum": (CHAIN, NoisySum.of([0, 1], 5.0, 6), "model"),
    "a noisy sum over series": (CHAIN, SeriesSum.of([0, 1], 5.0, 6), "model"),
    "noisy weighted sums": (
        Gaussian.of([[1.0, 0.5], [0.5, 2.0]]),
        NoisyLinear.of([[1.0, 0.5], [0.5, 2.0]], [3.0, 4.0], 2.0, DELTA),
        "any",
    ),
    "parameters of columns": (
        ANSWERS,
        NoisyColumns.of(
            ColumnQuery.mean("q0", 0, 1) + ColumnQuery.count(["q0", "q1"], rows=5),
            9.0,
            2,
            [ValueSets("q0", ("0",), ("1",))],
        ),
        "model",
    ),
    "places": (
        City.of(3, np.array([[0, 1], [1, 2]]), CityGrid(2, 2)),
        DistanceLoss(Loss.of([0.5, 0.2, 1.0])),
        "any",
    ),
    "near places": (
        City.of(3, np.array([[0, 1], [1, 2]]), CityGrid(2, 2, 2.0, 2.0)),
        NearPlaces.of("0.2", own="0.5", besides="0.1", within=1, units=3),
        "any",
    ),
    "gaussian by distance": (
        Gaussian.of([[1.0, 0.5], [0.5, 2.0]]),
        DistanceLoss(Loss.of([0.5, 0.2])),
        "any",
    ),
    "clipped values": (
        Gaussian.of([[1.0, 0.5], [0.5, 2.0]]),
        ClippedValues.of("0.5", bounds=(0, 8), units=2, besides="0.2", rounding="0.1"),
        "any",
    ),
    "clipped values, concentrated": (
        Gaussian.of([[1.0, 0.5], [0.5, 2.0]]),
        ClippedValues.of("0.05", bounds=(0, 8), units=2, besides="0.02", rounding="0.1", delta=DELTA),
        "any",
    ),
    "filled blanks": (FORMS, FilledBlanks(Loss.of([0.5, 1, 0.2]), laws_of_columns(ANSWERS)), "model"),
    "filled blanks, concentrated": (
        FORMS,
        FilledConcentrated(
            ConcentratedLoss.of(["0.01", "0.02", "0.005"], DELTA, gaussian=True, separable=True),
            laws_of_columns(ANSWERS),
        ),
        "model",
    ),
}


def places(document, path=()):
    inside = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in inside:
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))
        else:
            yield (*path, key)


def changed(document, path):
    other = copy.deepcopy(document)
    place = other
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    if isinstance(old, str):
        place[path[-1]] = "1/3" if "/" in old and old[0].isdigit() else f"{old} x"
    else:
        place[path[-1]] = old * 1.5 + 1
    other["digest"] = digest({key: value for key, value in other.items() if key != "digest"})
    return other


@pytest.mark.parametrize("case", CASES)
def test_every_kind_has_the_same_certificate_and_is_verified_alike(case):
    model, exposure, knowledge = CASES[case]
    proved = bound(model, exposure, knowledge)
    certificate = certify(proved)
    document = json.loads(json.dumps(certificate.document, allow_nan=False))
    assert verify(document).valid
    assert type(exposure).from_document(document["inputs"]["loss"]).document == exposure.document
    assert document["leakage"] == proved.leakage.worst == certificate.leakage.worst
    assert document["guarantee"] == proved.guarantee
    assert ("but for a chance of 1e-06" in proved.guarantee) == (exposure.delta > 0)
    assert document["trusted"][-1] == exposure.believed
    for path in places(document):
        if path[0] not in ("format", "digest", "versions", "inputs"):
            assert not verify(changed(document, path)).valid, path
    for path in places(document["inputs"]["loss"], ("inputs", "loss")):
        assert not verify(changed(document, path)).valid, path


def test_all_theorems_are_in_one_list_and_each_is_asked_for_its_own_kind():
    kinds = {theorem.takes for theorem in THEOREMS}
    assert kinds == {
        Loss,
        ConcentratedLoss,
        FilledBlanks,
        FilledConcentrated,
        NoisySum,
        SeriesSum,
        NoisyLinear,
        ClippedValues,
        DistanceLoss,
        NearPlaces,
        NoisyColumns,
    }
    assert sum(len(theorems_taking(kind)) for kind in kinds) == len(THEOREMS)
    for model, exposure, knowledge in CASES.values():
        proved = bound(model, exposure, knowledge)
        asked = {proved.theorem.name, *(said.theorem.name for said in proved.alternatives)}
        assert asked == {theorem.name for theorem in theorems_taking(type(exposure))}
        for theorem in THEOREMS:
            if theorem.takes is not type(exposure):
                with pytest.raises(DoesNotApply, match="It starts from"):
                    theorem(exposure, model)
    secrets = {theorem.secret for theorem in THEOREMS}
    assert len(secrets) == 8
    assert named("message passing").secret is UNIT_VALUE


def test_a_certificate_cannot_be_made_of_what_is_not_proved():
    with pytest.raises(NoTheorem, match="knows no values"):
        bound(CHAIN, NoisySum.of([0, 1], 5.0, 6), "any")
    with pytest.raises(Refused, match="proves nothing for knowledge 'any'"):
        Certificate(CHAIN, NoisySum.of([0, 1], 5.0, 6), "any", named("wasserstein"))
    with pytest.raises(Refused, match="no bound"):
        Certificate(Groups(10), ConcentratedLoss.uniform(10**5, 10, DELTA), "any", concentrated_group_bound)
    with pytest.raises(BadLoss, match="6 units"):
        bound(Independent(5), ConcentratedLoss.uniform(1, 6, DELTA))


# concentrated losses in groups


def delta_at(shift, epsilon):
    """The exact δ of a Gaussian answer of deviation 1 that moves by the shift."""
    return norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)


@pytest.mark.parametrize("seed", range(5))
def test_copies_in_one_noisy_sum_learn_no_more_and_nearly_as_much(seed):
    """Unit j moves the sum by √(2ρ_j); where all of a group have one value it moves by all of them at once."""
    rng = np.random.default_rng(seed)
    rhos = rng.uniform(0.001, 0.3, int(rng.integers(1, 5)))
    loss = ConcentratedLoss.of([float(rho) for rho in rhos], DELTA)
    claim = concentrated_group_bound(loss, Groups(rhos.size)).worst
    shift = np.sqrt(2 * rhos).sum()
    assert claim == pytest.approx(
        epsilon_at(float(shift**2 / 2), DELTA), rel=1e-12
    )  # the divergence is reached
    assert delta_at(shift, claim) <= DELTA
    assert delta_at(shift, 0.8 * claim) > DELTA
    larger = shift + np.sqrt(2 * 0.3)  # the trusted part broken: one more in the group than declared
    assert delta_at(larger, claim) > DELTA


def test_no_law_of_a_group_and_nothing_that_is_known_learns_more():
    """Three bits of any joint law in one Gaussian sum: the exact δ at the claimed ε, for all secrets and known sets."""
    rng, outputs = np.random.default_rng(17), np.linspace(-12, 16, 4001)
    delta, largest = Fraction(1, 1000), 0.0
    for _ in range(12):
        joint = rng.dirichlet(np.full(8, rng.choice([0.1, 1.0]))).reshape(2, 2, 2)
        rhos = rng.uniform(0.02, 0.5, 3)
        claim = concentrated_group_bound(ConcentratedLoss.of(rhos.tolist(), delta), Groups(3)).worst
        sums = np.tensordot(np.sqrt(2 * rhos), np.indices((2, 2, 2)), 1)
        density = joint[..., None] * norm.pdf(outputs - sums[..., None])
        for i in range(3):
            for seen in ((), *((j,) for j in range(3) if j != i)):
                chance, means = (np.moveaxis(one, i, 0) for one in (joint, density))
                unknown = tuple(place + (place < i) for place in range(3) if place != i and place not in seen)
                chance, means = chance.sum(unknown), means.sum(unknown)
                for laws in np.moveaxis(means / chance[..., None], 0, -1).reshape(-1, outputs.size, 2):
                    for a, b in ((0, 1), (1, 0)):
                        excess = np.maximum(laws[:, a] - math.exp(claim) * laws[:, b], 0)
                        largest = max(largest, float(np.trapezoid(excess, outputs)))
                assert largest <= delta
    assert largest > 1e-9


@pytest.mark.parametrize("size", [1, 2, 7])
def test_equal_losses_are_squared_by_the_size_of_the_group_exactly(size):
    loss = ConcentratedLoss.uniform("0.013", size, DELTA)
    assert concentrated_group_bound(loss, Groups(size)).worst == epsilon_at(
        Fraction("0.013") * size**2, DELTA
    )
    assert concentrated_group_bound(loss, Independent(size)).worst == epsilon_at("0.013", DELTA)


def test_groups_are_the_parts_of_a_graph_that_hang_together():
    graph = Graph(5, np.array([[0, 1], [1, 2], [3, 4]]), np.array([1.0, 1.0, 1.0]))
    found = concentrated_group_bound(ConcentratedLoss.uniform("0.01", 5, DELTA), graph).per_unit
    three, two = epsilon_at(Fraction(9, 100), DELTA), epsilon_at(Fraction(4, 100), DELTA)
    assert found.tolist() == [three, three, three, two, two]
    uneven = ConcentratedLoss((Fraction(0), Fraction(1, 4), Fraction(1), Fraction(0), Fraction(0)), 5, DELTA)
    found = concentrated_group_bound(uneven, graph).per_unit
    assert found == pytest.approx([epsilon_at("2.25", DELTA)] * 3 + [0.0] * 2, rel=1e-12)
    with pytest.raises(DoesNotApply, match="no bound"):
        concentrated_group_bound(ConcentratedLoss.uniform(1, 2, DELTA), Gaussian.of([[1.0, 0.5], [0.5, 1.0]]))


def test_calibration_turns_every_kind_round():
    found = calibrate(Groups(4), 1.0, "any", ConcentratedLoss.uniform(1, 4, DELTA))
    assert found.exposure.common == pytest.approx(float(largest_rho(1, DELTA)) / 16, rel=1e-8)
    assert found.leakage.worst <= 1
    count = calibrate(CHAIN, 1.0, "model", NoisySum.of([0, 1], 1.0, 6))
    assert count.theorem.name == "exact scalar accountant"
    assert count.exposure.scale == pytest.approx(least_scale(CHAIN, [0, 1], 1.0), rel=1e-8)
    filled = FilledBlanks(Loss.uniform(1, 3), laws_of_columns(ANSWERS))
    assert calibrate(FORMS, 1.0, "model", filled).leakage.worst == pytest.approx(1, rel=1e-8)


def test_what_is_no_concentrated_loss_is_refused():
    for wrong in (
        lambda: ConcentratedLoss((Fraction(1), Fraction(1)), 3, DELTA),
        lambda: ConcentratedLoss((Fraction(-1),), 3, DELTA),
        lambda: ConcentratedLoss((), 0, DELTA),
        lambda: ConcentratedLoss.uniform(0, 3, DELTA),
    ):
        with pytest.raises(BadLoss, match="Give"):
            wrong()
