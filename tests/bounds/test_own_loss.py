"""No theorem says less of a unit than its own loss, whatever a model calls constant, impossible or all but impossible."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, NoisySum
from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.noisy_columns import NoisyColumns, ValueSets
from entwined.bounds.attributes.quilts import quilt_noise
from entwined.bounds.choose import THEOREMS, ask, bound
from entwined.bounds.clipped_values import ClippedValues
from entwined.bounds.distance_loss import DistanceLoss
from entwined.bounds.filled_blanks import FilledBlanks
from entwined.bounds.group import group_bound
from entwined.bounds.near_places import NearPlaces
from entwined.bounds.noisy_linear import NoisyLinear
from entwined.bounds.noisy_sum import SeriesSum
from entwined.bounds.quilt import network_quilt_bound
from entwined.bounds.separable_filled import FilledConcentrated
from entwined.bounds.theorem import KNOWLEDGE
from entwined.dependence import (
    BayesNet,
    Box,
    Edge,
    Forms,
    Gaussian,
    Groups,
    Independent,
    MarkovChain,
    RandomField,
    Variable,
    VaryingChain,
)
from entwined.dependence.city import City
from entwined.dependence.endless_chain import EndlessChain
from entwined.errors import BadModel, EntwinedError, Refused
from entwined.loss import Leakage, Loss
from support.oracle import worst_leakages

TINY = (0.0, 1e-300, 1e-12, 0.3)
LOSSES = (0.0, 5e-324, 1e-300, 0.2, 3.0, 40.0, 1e308)


def law(rng, values):
    """Chances of values, some impossible or all but impossible, and often only one possible."""
    weights = rng.choice([*TINY, 1.0], values)
    weights[rng.integers(values)] = 1.0
    return (weights / weights.sum()).tolist()


def network(rng, units):
    names = [f"v{at}" for at in range(units)]
    variables = []
    for at, name in enumerate(names):
        parents = tuple(rng.permutation(names[:at])[: rng.integers(3)].tolist())
        variables.append(Variable(name, ("0", "1"), parents, [law(rng, 2) for _ in range(2 ** len(parents))]))
    return BayesNet.of(variables)


def chain(rng, length):
    states = int(rng.integers(2, 4))
    step = [law(rng, states) for _ in range(states)]
    start = None if rng.random() < 0.3 else np.array(law(rng, states))
    return MarkovChain(length, Box.exact(step), start)


def varying(rng, length):
    return VaryingChain(length, Box.exact([[law(rng, 2), law(rng, 2)]] * 2), np.array(law(rng, 2)))


def field(rng, units):
    edges = [Edge((f"v{at}", f"v{(at + 1) % units}"), [law(rng, 2), law(rng, 2)]) for at in range(units)]
    return RandomField.of({f"v{at}": 2 for at in range(units)}, edges)


def forms(rng, units):
    answers = network(rng, units - 1)
    return Forms.of(
        answers, "form", [list(answers.names), list(answers.names[:-1])], public=rng.random() < 0.3
    )


def gaussian(rng, units):
    """Some nearly constant, some nearly copies."""
    loads = rng.normal(size=(units, units)) * rng.choice([1e-8, 1.0, 1e3], units)[:, None]
    return Gaussian.of((loads @ loads.T + np.eye(units) * 1e-9 * np.diagonal(loads @ loads.T)).tolist())


def city(rng, units):
    ends = np.array([[at, at + 1] for at in range(units - 1)])
    return City.of_ties(units, ends, across=2, down=2) if hasattr(City, "of_ties") else Groups(units)


MODELS = (network, chain, varying, field, forms, gaussian)


def exposures(rng, model, units):
    losses = rng.choice(LOSSES, units)
    delta, scale = Fraction(1, 10**6), float(rng.choice([1e-3, 0.5, 30.0, 1e9]))
    yield Loss.of(losses)
    yield Loss.of(np.minimum(losses, 40.0))
    rhos = [Fraction(float(loss)) for loss in np.minimum(losses, 40.0)]
    for facts in ({}, {"gaussian": True}, {"gaussian": True, "separable": True}):
        yield ConcentratedLoss(tuple(rhos), units, delta, **facts)
    yield DistanceLoss(Loss.of(losses))
    weights = rng.integers(-2, 4, getattr(model, "states", 2)).tolist()
    yield NoisySum.of(weights, scale, units)
    yield SeriesSum.of(weights, scale, units)
    yield NoisyLinear.total(units, scale, 2.0, delta)
    for own in (Fraction(1, 3), Fraction(0)):
        yield ClippedValues(own, own, Fraction(0), (Fraction(0), Fraction(1)), Fraction(0), units)
        yield ClippedValues(own, own, Fraction(0), (Fraction(0), Fraction(1)), Fraction(0), units, delta)
    yield NearPlaces.of("0.1", own="0.5", within=2, units=units)
    if isinstance(model, Forms):
        filling = tuple(np.array([0.5, 0.5]) for _ in range(units - 1))
        yield FilledBlanks(Loss.of(np.minimum(losses, 40.0)), filling)
        yield FilledConcentrated(ConcentratedLoss(tuple(rhos), units, delta, True, True), filling)


def least(exposure, knowledge):
    """What each kind loses by itself, told here once more by hand; none where others may hide a unit."""
    match exposure:
        case Loss(per_unit=each) | DistanceLoss(each=Loss(per_unit=each)):
            return each
        case FilledBlanks(loss=loss) | FilledConcentrated(loss=loss):
            return least(loss, knowledge)
        case ClippedValues(own=own, delta=delta) if not delta:
            return float(own)
        case NearPlaces(own=own):
            return float(own)
        case SeriesSum(weights=weights, scale=scale):
            return (max(weights) - min(weights)) / scale
    return 0.0


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_every_theorem_gives_one_number_a_unit_that_is_no_less_than_its_own_loss_or_refuses(kind):
    rng, answered = np.random.default_rng(11), set()
    for _ in range(12):
        units = int(rng.integers(2, 6))
        try:
            model = kind(rng, units)
        except BadModel:
            continue
        for exposure in exposures(rng, model, model.units):
            for theorem in THEOREMS:
                if theorem.takes is not type(exposure):
                    continue
                try:
                    leakage = theorem(exposure, model).per_unit
                except EntwinedError:
                    continue
                answered.add(theorem.name)
                assert leakage.shape == (model.units,)
                assert not np.isnan(leakage).any()
                secret = [unit for unit in range(model.units) if unit not in model.unprotected]
                floor = np.broadcast_to(least(exposure, theorem.knowledge), leakage.shape)
                assert (leakage[secret] >= floor[secret] * (1 - 1e-12)).all(), (theorem.name, exposure)
    assert len(answered) >= 3


def test_all_theorems_take_something_that_says_its_own_loss():
    for theorem in THEOREMS:
        assert callable(theorem.takes.own_loss), theorem.name


LOOP = BayesNet.of(
    [
        Variable("a", ("0", "1"), (), [[1.0, 0.0]]),
        Variable("b", ("0", "1"), ("a",), [[0.4, 0.6], [0.5, 0.5]]),
        Variable("c", ("0", "1"), ("a", "b"), [[0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.5, 0.5]]),
        Variable("d", ("0", "1"), ("b", "c"), [[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]]),
    ]
)


def test_a_constant_of_a_network_leaks_its_own_loss():
    leakage = network_quilt_bound(Loss.of([3, 0.2, 0.2, 0.2]), LOOP).per_unit
    assert leakage[0] == 3
    law = np.einsum("a,ab,abc,bcd->abcd", *(np.array(t, float).reshape((2,) * k) for t, k in TABLES))
    truth = worst_leakages(law, [3, 0.2, 0.2, 0.2], "model")
    assert (leakage[1:] >= np.array(truth)[1:] - 1e-9).all()


TABLES = (
    ([1.0, 0.0], 1),
    ([[0.4, 0.6], [0.5, 0.5]], 2),
    ([[0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.5, 0.5]], 3),
    ([[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]], 3),
)


def test_the_own_loss_of_gaussian_noise_is_its_epsilon_at_delta():
    """One standard deviation at 10⁻⁶ is ε 4.8866, and half of one 2.2541 (analytic Gaussian mechanism)."""
    loss = ConcentratedLoss(
        (Fraction(1, 2), Fraction(1, 8), Fraction(0)), 3, Fraction(1, 10**6), gaussian=True
    )
    assert loss.own_loss("model") == pytest.approx([4.8866, 2.2541, 0], abs=2e-3)
    pair = NoisyLinear.of([[1.0, 0.0], [0.0, 0.5]], [1.0, 1.0], 1.0, "1e-6")
    assert pair.own_loss("any") == pytest.approx([4.8866, 2.2541], abs=2e-3)
    assert pair.own_loss("model").tolist() == [0, 0]
    clipped = ClippedValues.of("0.5", bounds=(0, 1), units=2, delta="1e-6")
    assert clipped.own_loss("any") == pytest.approx([4.8866] * 2, abs=2e-3)


@pytest.mark.parametrize("claimed", [[-0.1, 1.0], [1.0], [[1.0, 1.0]]])
def test_the_gate_refuses_what_is_no_leakage_of_each_unit(claimed):
    broken = replace(group_bound, claim=lambda loss, model: Leakage(np.array(claimed)))  # noqa: ARG005
    with pytest.raises(Refused, match="Do not trust it"):
        broken(Loss.uniform(1, 2), Groups(2))


def test_the_gate_lifts_what_is_below_the_own_loss():
    silent = replace(group_bound, claim=lambda loss, model: Leakage(np.zeros(3)))  # noqa: ARG005
    assert silent(Loss.of([0.5, 0, 2]), Groups(3)).per_unit.tolist() == [0.5, 0, 2]


def test_a_parameter_that_cannot_be_is_kept_by_the_noise_of_its_own_column():
    net = BayesNet.of(
        [
            Variable("a", ("low", "high"), (), [[1.0, 0.0]]),
            Variable("b", ("low", "high"), ("a",), [[0.5, 0.5], [0.5, 0.5]]),
        ]
    )
    query = ColumnQuery.count(["a"], rows=10) + ColumnQuery.count(["b"], rows=30)
    (said,) = [
        ask(theorem, net, NoisyColumns.of(query, 20.0, 2), "model")
        for theorem in THEOREMS
        if theorem.takes is NoisyColumns
    ]
    assert said.leakage.per_unit == pytest.approx([0.5, 1.5])
    apart = [ValueSets("a", ("low",), ("high",))]
    assert quilt_noise(net, query, 0.5, apart).scale == pytest.approx(20)
    assert quilt_noise(net, query, 0.5).scale == pytest.approx(60)


def test_every_adversary_has_a_bound_of_a_constant_chain():
    constant = MarkovChain(4, Box.exact([[1, 0], [0, 1]]), np.array([1.0, 0.0]))
    for knowledge in KNOWLEDGE:
        found = bound(constant, Loss.uniform("0.5", 4), knowledge)
        assert found.leakage.worst >= 0.5
    endless = EndlessChain(Box.exact([[1, 0], [0, 1]]), np.array([1.0, 0.0]))
    assert [able.tolist() for able in endless.possible()] == [[True, False]]
    assert bound(Independent(3), Loss.of([0, 0, 7]), "any").leakage.per_unit.tolist() == [0, 0, 7]
