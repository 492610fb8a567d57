"""Parts that read several units: exact hockey sticks of small releases, and what is refused."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, SharedPart, bound, certify, verify
from entwined.bounds.forests import known_forest, tilted_forest
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.separable import separable_messages_bound, separable_transport_bound
from entwined.bounds.shared_parts import (
    Attached,
    joined_by,
    messages_with,
    shared_group_bound,
    shared_messages_bound,
    shared_transport_bound,
)
from entwined.dependence import BayesNet, Edge, Groups, RandomField, Variable
from entwined.errors import BadLoss, DoesNotApply
from support import draw
from support.chains import symmetric
from support.hockey_sticks import ChannelCurve, mechanism_sticks, released
from support.product import product_model

DELTA = "1e-6"


@dataclass(frozen=True)
class WorstCurve:
    """The largest of several curves."""

    curves: tuple[ChannelCurve, ...]

    def at(self, excess):
        return np.max([curve.at(excess) for curve in self.curves], axis=0)


def attached(units, channel):
    """A part with what it shows when one of its units changes alone, and when any may."""
    alone = []
    for axis, size in enumerate(channel.shape[:-1]):
        slices = np.moveaxis(channel, axis, 0).reshape(size, -1, channel.shape[-1])
        alone.append(WorstCurve(tuple(ChannelCurve.of(slices[:, k]) for k in range(slices.shape[1]))))
    return Attached(units, tuple(alone), ChannelCurve.of(channel.reshape(-1, channel.shape[-1])))


def channel(rng, sizes, outputs=2):
    return rng.dirichlet(np.full(outputs, rng.choice([0.7, 2.0, 8.0])), size=sizes)


def compared(rng, models, most_units=4, gammas=10):
    """Hold both theorems against random channels on random trees with parts on their edges."""
    count, ratios = 0, []
    while models > 0:
        drawn = (draw.tree if rng.random() < 0.6 else draw.chain)(rng)
        if not 2 <= len(drawn.sizes) <= most_units:
            continue
        models -= 1
        sizes, model = drawn.sizes, product_model(drawn)
        own = [((j,), channel(rng, (size,))) for j, size in enumerate(sizes)]
        pairs = [tuple(sorted(scope)) for scope, _ in drawn.factors if len(scope) == 2]
        pairs = [pair for pair in pairs if rng.random() < 0.6][:2] or pairs[:1]
        pairs = [tuple(map(int, rng.permutation(pair))) for pair in pairs]
        shared = [(pair, channel(rng, tuple(sizes[j] for j in pair))) for pair in pairs]
        count += held_against(rng, drawn.joint(), model, own, shared, gammas, ratios)
    return count, ratios


def held_against(rng, joint, model, own, shared, gammas, ratios):
    """Compare one release under one law for both adversaries."""
    curves = [ChannelCurve.of(rows) for _, rows in own]
    parts = [attached(*part) for part in shared]
    likelihood = released(joint.shape, [*own, *shared])
    span = min(float(np.ptp(np.log(likelihood.reshape(-1, likelihood.shape[-1])), axis=0).max()), 20.0)
    epsilons, count = np.append(0.0, rng.uniform(0, 0.6 * span, gammas - 1)), 0
    for knowledge, forest in (("any", tilted_forest), ("model", known_forest)):
        with_parts = joined_by(*forest(model), parts, joint.ndim)
        told = messages_with(curves, parts, *with_parts)(Grid.up_to(span * 1.02, 512))
        bounds = np.array([profile.at(np.expm1(epsilons)) for profile in told.profiles])
        worst = np.zeros_like(bounds)
        for unit, truth in mechanism_sticks(joint, likelihood, np.exp(epsilons), knowledge):
            assert (bounds[unit] >= truth * (1 - 1e-11)).all()
            worst[unit] = np.maximum(worst[unit], truth)
            count += gammas
        seen = worst > 1e-4
        ratios.extend((bounds[seen] / worst[seen]).tolist())
    return count


def test_no_part_of_two_neighbours_shows_more_than_the_theorems_say():
    count, ratios = compared(np.random.default_rng(101), models=14)
    assert count > 5_000
    assert np.median(ratios) < 1.6


@pytest.mark.slow
def test_no_part_of_two_neighbours_of_many_trees_shows_more_than_the_theorems_say():
    count, ratios = compared(np.random.default_rng(102), models=400)
    print(f"{count:,} comparisons, δ {np.median(ratios):.3f} × the truth in the median")
    assert count > 100_000


def test_parts_that_join_trees_or_lie_in_a_factor_of_three_are_covered():
    rng, ratios = np.random.default_rng(103), []
    bits = ("0", "1")
    for _ in range(4):
        field = RandomField.of(
            {"a": 2, "b": 2, "c": 2, "d": 3},
            [Edge(("a", "b"), [[3, 1], [1, 2]]), Edge(("c", "d"), [[1, 2, 3], [4, 1, 1]])],
        )
        joint = np.multiply.outer(np.array([[3, 1], [1, 2]]) / 7, np.array([[1, 2, 3], [4, 1, 1]]) / 12)
        own = [((j,), channel(rng, (size,))) for j, size in enumerate(joint.shape)]
        held_against(rng, joint, field, own, [((3, 0), channel(rng, (3, 2)))], 10, ratios)
        table = rng.dirichlet([2.0, 2.0], size=4)
        net = BayesNet.of(
            [
                Variable("a", bits, (), [[0.5, 0.5]]),
                Variable("b", bits, (), [[0.3, 0.7]]),
                Variable("c", bits, ("a", "b"), table.tolist()),
            ]
        )
        own = [((j,), channel(rng, (2,))) for j in range(3)]
        parts = [((1, 2), channel(rng, (2, 2))), ((0, 1), channel(rng, (2, 2)))]
        joint = 0.5 * np.array([0.3, 0.7])[None, :, None] * table.reshape(2, 2, 2)
        curves, attach = [ChannelCurve.of(rows) for _, rows in own], [attached(*part) for part in parts]
        told = messages_with(curves, attach, *joined_by(*tilted_forest(net), attach, 3))(Grid.up_to(20, 512))
        epsilons = np.linspace(0, 4, 12)
        likelihood = released((2, 2, 2), [*own, *parts])
        for unit, truth in mechanism_sticks(joint, likelihood, np.exp(epsilons)):
            assert (told.profiles[unit].at(np.expm1(epsilons)) >= truth * (1 - 1e-11)).all()
    assert np.median(ratios) < 2


def release(units, rho, shared, **facts):
    """Gaussian noise of ρ for each unit alone, and beside it parts of several."""
    rhos = [Fraction(rho)] * units
    for part in shared:
        for unit, more in zip(part.units, part.each, strict=True):
            rhos[unit] += more
    return ConcentratedLoss(tuple(rhos), units, Fraction(DELTA), gaussian=True, shared=shared, **facts)


TABLE = SharedPart((3, 4), Fraction(1, 200))
THEOREMS = (shared_group_bound, shared_messages_bound, shared_transport_bound)


def test_a_table_of_two_neighbours_costs_more_than_none_and_less_than_the_group():
    chain, plain = (
        symmetric(0.25, 8),
        ConcentratedLoss.uniform("0.01", 8, DELTA, gaussian=True, separable=True),
    )
    loss = release(8, "0.01", (TABLE,))
    for shared, separable in (
        (shared_messages_bound, separable_messages_bound),
        (shared_transport_bound, separable_transport_bound),
    ):
        with_table, without = shared(loss, chain).per_unit, separable(plain, chain).per_unit
        assert (with_table > without).all()
        assert with_table[3] < 0.8 * shared_group_bound(loss, chain).worst
        alone = separable(ConcentratedLoss(loss.rhos, 8, loss.delta, gaussian=True, separable=True), chain)
        assert with_table[3] < 1.25 * alone.per_unit[3]  # as if each of the two had a part of that ρ
        tiny = release(8, "0.01", (SharedPart((3, 4), Fraction(1, 10**12)),))
        assert shared(tiny, chain).per_unit == pytest.approx(without, rel=1e-2)


def test_a_part_that_shows_less_of_one_unit_alone_costs_less():
    chain, full = symmetric(0.25, 8), release(8, "0.01", (TABLE,))
    less = release(8, "0.01", (SharedPart((3, 4), TABLE.rho, (TABLE.rho / 4, TABLE.rho / 2)),))
    assert less.own == full.own
    assert ConcentratedLoss.from_document((less * 3).document) == less * 3
    for theorem in THEOREMS[1:]:
        assert (theorem(less, chain).per_unit < theorem(full, chain).per_unit).all()
    assert shared_group_bound(less, chain).worst == shared_group_bound(full, chain).worst
    for alone in ((TABLE.rho,), (TABLE.rho * 2, TABLE.rho), (-TABLE.rho, TABLE.rho)):
        with pytest.raises(BadLoss, match="one such number a unit"):
            SharedPart((3, 4), TABLE.rho, alone)


def test_units_that_are_copies_show_all_of_a_table():
    copies = symmetric(0.0, 2)
    loss = release(2, "0.01", (SharedPart((0, 1), Fraction(1, 100)),))
    group = shared_group_bound(loss, copies).worst
    assert shared_messages_bound(loss, copies).worst == group
    whole = ConcentratedLoss.uniform("0.03", 1, DELTA, gaussian=True, separable=True)
    assert group == pytest.approx(separable_messages_bound(whole, symmetric(0.5, 1)).worst, rel=1e-3)


def test_a_table_of_strangers_is_refused_and_left_to_what_covers_it():
    chain, far = symmetric(0.25, 8), release(8, "0.01", (SharedPart((2, 5), Fraction(1, 200)),))
    for theorem in THEOREMS[1:]:
        with pytest.raises(DoesNotApply, match="only through others"):
            theorem(far, chain)
    assert bound(chain, far).theorem.name in {"gaussian messages", "shared group"}
    plain = ConcentratedLoss.uniform("0.01", 8, DELTA, gaussian=True, separable=True)
    for theorem in THEOREMS:
        with pytest.raises(DoesNotApply, match="which parts"):
            theorem(plain, chain)
    with pytest.raises(DoesNotApply, match="one unit alone"):
        separable_messages_bound(release(8, "0.01", (TABLE,)), chain)
    assert bound(Groups(3), release(8, "0.01", (TABLE,))).theorem.name == "shared group"


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_its_certificates_name_the_parts_and_are_derived_again(knowledge):
    proved = bound(symmetric(0.25, 8), release(8, "0.01", (TABLE,)), knowledge)
    assert proved.theorem.name == {"any": "shared messages", "model": "shared transport"}[knowledge]
    document = certify(proved).document
    assert document["inputs"]["loss"]["shared"] == [{"units": [3, 4], "rho": "1/200"}]
    assert verify(document).valid
    document["inputs"]["loss"] = {**document["inputs"]["loss"], "shared": []}
    assert not verify(document).valid


def test_losses_and_their_parts_belong_together():
    loss = release(8, "0.01", (TABLE,))
    assert loss.own == (Fraction(1, 100),) * 8
    assert (loss * 2).own == (Fraction(1, 50),) * 8
    assert ConcentratedLoss.from_document(loss.document) == loss
    with pytest.raises(BadLoss, match="more than its units"):
        ConcentratedLoss((Fraction(1, 1000),), 8, loss.delta, shared=(TABLE,))
    with pytest.raises(BadLoss, match="not there"):
        ConcentratedLoss((Fraction(1),), 4, loss.delta, shared=(TABLE,))
    with pytest.raises(BadLoss, match="one of the two"):
        release(8, "0.01", (TABLE,), separable=True)
    for units in ((1,), (1, 1), (-1, 2)):
        with pytest.raises(BadLoss, match="each once"):
            SharedPart(units, Fraction(1))
