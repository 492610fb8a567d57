"""Classes of models under Gaussian noise: no member shows more than the bounds of its class."""

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, certify, verify
from entwined.bounds.gaussian_noise import any_messages, gaussian_messages_bound, gaussian_transport_bound
from entwined.bounds.pairs import TILTED
from entwined.bounds.profiles.passing import TOGETHER
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.separable import (
    crossed,
    separable_messages_bound,
    separable_transport_bound,
    tilted_messages,
)
from entwined.dependence import BayesNet, Box, Edge, Graph, MarkovChain, RandomField, Variable
from entwined.errors import DoesNotApply
from support.hockey_sticks import ChannelCurve, separable_sticks, sum_sticks

UNITS = 4
DELTA = "1e-6"
EPSILONS = np.linspace(0, 4, 10)


def rows_between(rng, low, high):
    """Rows of chances between two ends: start low and fill up in a random order, sometimes half way to another."""
    rows = []
    for below, above in zip(low, high, strict=True):
        row, left = below.copy(), 1 - below.sum()
        for place in rng.permutation(row.size):
            more = min(above[place] - below[place], left)
            row[place], left = row[place] + more, left - more
        rows.append(row)
    return np.array(rows)


def some_rows(rng, low, high):
    one, other = (rows_between(rng, low, high) for _ in range(2))
    share = rng.choice([0.0, 0.5])
    return (1 - share) * one + share * other


def around(rng, shape):
    """Ends of chances around a random table."""
    middle, width = rng.dirichlet(np.full(shape[1], 2.0), size=shape[0]), rng.uniform(0.02, 0.2)
    return np.maximum(middle - width, 0.0), np.minimum(middle + width, 1.0)


def pairs(low, high):
    return np.stack([low, high], axis=-1).tolist()


def chained(start, steps):
    joint = start
    for step in steps:
        joint = joint[..., None] * step
    return joint


def chain_class(rng):
    """A chain whose steps may each have another transition of the class."""
    low, high = around(rng, (2, 2))
    model = MarkovChain(UNITS, Box(low, high))

    def member():
        return chained(rng.dirichlet([1, 1]), [some_rows(rng, low, high) for _ in range(UNITS - 1)])

    return model, member


def net_class(rng):
    """A star of bits whose tables lie between ends."""
    ends = [around(rng, (2, 2)) for _ in range(UNITS - 1)]
    first = around(rng, (1, 2))
    bits = ("0", "1")
    model = BayesNet.of(
        [
            Variable("root", bits, (), pairs(*first)),
            *(Variable(f"v{j}", bits, ("root",), pairs(*end)) for j, end in enumerate(ends)),
        ]
    )

    def member():
        joint = some_rows(rng, *first)[0]
        for end in ends:
            joint = joint[..., None] * some_rows(rng, *end).reshape(2, *[1] * (joint.ndim - 1), 2)
        return joint

    return model, member


def field_class(rng):
    """A path of bits whose potentials lie between ends."""
    ends = []
    for _ in range(UNITS - 1):
        middle = rng.uniform(0.5, 3, (2, 2))
        ends.append((middle * rng.uniform(0.6, 1, (2, 2)), middle * rng.uniform(1, 1.6, (2, 2))))
    model = RandomField.of(
        dict.fromkeys("abcd", 2),
        [Edge(("abcd"[j], "abcd"[j + 1]), pairs(*end)) for j, end in enumerate(ends)],
    )

    def member():
        tables = [np.where(rng.random((2, 2)) < 0.5, *end) for end in ends]
        joint = chained(rng.dirichlet([1, 1]), tables)
        return joint / joint.sum()

    return model, member


def graph_class(rng):
    """A path of bits of which only the log odds are known, up to an end."""
    most = rng.uniform(0.3, 2.5, UNITS - 1)
    model = Graph(UNITS, np.array([[j, j + 1] for j in range(UNITS - 1)]), most)

    def member():
        odds = rng.choice([-1, -0.4, 1], UNITS - 1) * most
        tables = [np.array([[np.exp(each), 1.0], [1.0, 1.0]]) * rng.uniform(0.5, 2, (2, 1)) for each in odds]
        joint = chained(rng.dirichlet([1, 1]), tables)
        return joint / joint.sum()

    return model, member


CLASSES = {"chain": chain_class, "net": net_class, "field": field_class, "graph": graph_class}


@pytest.mark.parametrize("kind", CLASSES)
def test_no_member_shows_more_than_its_class(kind):
    rng = np.random.default_rng(111)
    closest = 0.0
    for _ in range(4):
        model, member = CLASSES[kind](rng)
        channels = [rng.dirichlet([1.0] * 3, size=2) for _ in range(UNITS)]
        curves = list(map(ChannelCurve.of, channels))
        passed = (
            tilted_messages(TOGETHER, curves, model)
            if kind == "chain"
            else crossed(curves, model, TILTED.apart)
        )
        told = passed(Grid.up_to(24.0, 1024))
        bounds = [told.profiles[place].at(np.expm1(EPSILONS)) for place in told.place]
        for _ in range(5):
            joint = member()
            for unit, truth in separable_sticks(joint, channels, np.exp(EPSILONS)):
                assert (bounds[unit] >= truth * (1 - 1e-11)).all()
                closest = max(closest, float(truth[0] / bounds[unit][0]))
    assert closest > 0.9


@pytest.mark.parametrize("kind", CLASSES)
def test_no_sum_of_a_member_shows_more_than_its_class(kind):
    rng = np.random.default_rng(112)
    for _ in range(2):
        model, member = CLASSES[kind](rng)
        weights, scale = rng.choice([0.5, 1.0, 2.0], UNITS), float(rng.uniform(1, 4))
        loss = ConcentratedLoss.of([w**2 / (2 * scale**2) for w in weights], DELTA, gaussian=True)
        told = any_messages(loss, model)(Grid.up_to(24.0, 256))
        bounds = [told.profiles[place].at(np.expm1(EPSILONS)) for place in told.place]
        for _ in range(2):
            for unit, truth in sum_sticks(member(), weights, scale, np.exp(EPSILONS)):
                assert (bounds[unit] >= truth * (1 - 1e-10) - 1e-300).all()


def test_a_class_has_no_transport_and_its_messages_are_certified():
    loss = ConcentratedLoss.uniform("0.01", UNITS, DELTA, gaussian=True, separable=True)
    for kind in ("chain", "net", "field"):
        model, _ = CLASSES[kind](np.random.default_rng(113))
        for theorem in (separable_transport_bound, gaussian_transport_bound):
            with pytest.raises(DoesNotApply, match="many members"):
                theorem(loss, model)
        proved = bound(model, loss, "model")
        assert proved.theorem.name == "separable messages"
        assert verify(certify(proved).document).valid
        wider = model.stronger(0.25)
        for theorem in (separable_messages_bound, gaussian_messages_bound):
            assert theorem(loss, wider).worst > theorem(loss, model).worst
