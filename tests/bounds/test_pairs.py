"""Pairs of values told apart: exact hockey sticks of small trees, also where single answers are partly known."""

from dataclasses import replace
from time import process_time

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, pairs
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.pair_messages import PairsTold, pair_messages_bound, tells_apart
from entwined.bounds.pairs import KNOWN, TILTED, few_digits, near, pair_odds, tables_of
from entwined.bounds.profiles.crossing import LawCrossing, PairProfiles, TiltCrossing, TiltLevels
from entwined.bounds.profiles.curves import GaussianCurve
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.separable import crossed, separable_messages_bound, separable_transport_bound
from entwined.dependence import BayesNet, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.hockey_sticks import ChannelCurve, separable_sticks
from support.oracle import GAP, worst_leakages

GAMMAS = 10


def tree(rng, zeros=0.0):
    """A tree of three or four units of two to five values, some of its chances nearly or wholly zero."""
    sizes = rng.integers(2, 6, rng.integers(3, 5))
    variables, joint = [], None
    for j, size in enumerate(sizes):
        above = int(rng.integers(j)) if j else None
        rows = sizes[above] if j else 1
        table = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 4.0])), size=rows) + 1e-9
        holes = rng.random(table.shape) < zeros
        holes[np.arange(rows), rng.integers(size, size=rows)] = False
        table = np.where(holes, 0.0, table)
        table /= table.sum(axis=1, keepdims=True)
        parents = (f"v{above}",) if j else ()
        variables.append(Variable(f"v{j}", tuple(map(str, range(size))), parents, table.tolist()))
        if joint is None:
            joint = table[0]
        else:
            lying = np.moveaxis(table.reshape(rows, *[1] * (joint.ndim - 1), size), 0, above)
            joint = joint[..., None] * lying
    return BayesNet.of(variables), joint


def partly_known(rng, joint):
    """What somebody may know of each unit by itself: a weight of its values, or that some are ruled out."""
    for axis, size in enumerate(joint.shape):
        weights = rng.choice([0.0, 0.01, 0.3, 1.0], size=size, p=[0.2, 0.2, 0.3, 0.3])
        weights[rng.integers(size)] = 1.0
        joint = joint * weights.reshape([-1 if at == axis else 1 for at in range(joint.ndim)])
    return joint


def channel(rng, size):
    """One that any two values show as well, or one of random rows."""
    if rng.random() < 0.6:
        kept = rng.uniform(0.05, 0.4)
        return kept * np.eye(size) + (1 - kept) / size
    return rng.dirichlet(np.full(3, rng.choice([1.0, 4.0, 16.0])), size=size)


def compared(rng, models, zeros=0.0, weighed=2, *, alone=True):
    """Hold profiles of pairs against random channels; give how many comparisons, and truth and bound of each worst."""
    count, found = 0, {"any": [], "model": []}
    for _ in range(models):
        model, joint = tree(rng, zeros)
        channels = [channel(rng, size) for size in joint.shape]
        curves = list(map(ChannelCurve.of, channels))
        span = min(sum(float(np.ptp(np.log(one), axis=0).max()) for one in channels), 20.0)
        grid, epsilons = Grid.up_to(1.02 * span, 512), np.append(0.0, rng.uniform(0, 0.5 * span, GAMMAS - 1))
        for knowledge, ways in (("any", TILTED), ("model", KNOWN)):
            told = crossed(curves, model, ways.apart)(grid)
            alike = crossed(curves, model, ways.alike)(grid)
            bounds = np.array([told.profiles[place].at(np.expm1(epsilons)) for place in told.place])
            worse = np.array([alike.profiles[place].at(np.expm1(epsilons)) for place in alike.place])
            assert not alone or (bounds <= worse * 1.002 + 1e-9).all()
            worst = np.zeros(bounds.shape)
            laws = [joint, *(partly_known(rng, joint) for _ in range(weighed if knowledge == "any" else 0))]
            for law in laws:
                for unit, truth in separable_sticks(law, channels, np.exp(epsilons), knowledge):
                    assert (bounds[unit] >= truth * (1 - 1e-11) - 1e-15).all(), (knowledge, model)
                    worst[unit] = np.maximum(worst[unit], truth)
                    count += GAMMAS
            seen = worst > 1e-4
            found[knowledge] += [bounds[seen] / worst[seen]]
    return count, {knowledge: np.concatenate(ratios) for knowledge, ratios in found.items()}


@pytest.mark.parametrize("zeros", [0.0, 0.25])
def test_no_channel_shows_more_than_pairs_say_whatever_is_partly_known(zeros):
    count, ratios = compared(np.random.default_rng([31, int(zeros * 4)]), 5, zeros)
    assert count > 20_000
    assert np.median(ratios["any"]) < 1.7
    assert np.median(ratios["model"]) < 1.3


@pytest.mark.slow
@pytest.mark.parametrize("zeros", [0.0, 0.25])
def test_no_channel_on_many_trees_shows_more_than_pairs_say(zeros):
    count, ratios = compared(np.random.default_rng([32, int(zeros * 4)]), 90, zeros)
    middle = {knowledge: round(float(np.median(each)), 3) for knowledge, each in ratios.items()}
    print(f"{count:,} comparisons, δ {middle} × the truth in the median")
    assert count > 400_000


@pytest.mark.parametrize("most", [1, 2, 3])
def test_pairs_that_share_a_row_show_no_less(most, monkeypatch):
    """Few rows for all pairs, and log odds of few digits, are valid too."""
    monkeypatch.setattr(pairs, "ROWS", most)
    monkeypatch.setattr(pairs, "BEHIND", most)
    monkeypatch.setattr(pairs, "FEW", 0)
    monkeypatch.setattr(pairs, "PARTS", 4)
    count, _ = compared(np.random.default_rng([33, most]), 2, alone=False)
    assert count > 3_000


def test_two_values_in_play_reach_what_pairs_say():
    """Of a unit with a neighbour of four values, by the worst two that may be left of them."""
    table = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]])
    channels = [
        np.full((3, 1), 1.0),
        np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.2, 0.3, 0.5], [0.3, 0.4, 0.3]]),
    ]
    values = tuple("012"), tuple("0123")
    model = BayesNet.of(
        [Variable("a", values[0], (), [[0.2, 0.3, 0.5]]), Variable("b", values[1], ("a",), table.tolist())]
    )
    curves = [GaussianCurve(0.0), ChannelCurve.of(channels[1])]
    told = crossed(curves, model, TILTED.apart)(Grid.up_to(2.0, 1024)).profiles[0].at(np.array([0.0, 0.1]))
    reached = np.zeros(2)
    for one in np.linspace(0.01, 0.99, 99):
        for left in np.eye(4)[:, None] * one + np.eye(4)[None] * (1 - one):
            for weights in left:
                law = np.array([0.2, 0.3, 0.5])[:, None] * table * weights
                for unit, truth in separable_sticks(law, channels, np.array([1.0, 1.1]), "model"):
                    if unit == 0:
                        reached = np.maximum(reached, truth)
    assert (told >= reached).all()
    assert told == pytest.approx(
        reached, rel=0.25
    )  # a channel is as bad between any two values as between its worst


def test_log_odds_of_pairs_are_those_of_their_four_cells_and_zeros_count():
    table = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.1, 0.0, 0.9]])
    odds = pair_odds(table)
    assert odds[0] == pytest.approx([np.log(4), 0, 0])  # nobody of the first two has the third value
    assert odds[1] == pytest.approx([np.inf, np.inf, np.inf])
    assert (few_digits(odds) >= odds).all()
    assert few_digits(odds)[0] == pytest.approx(odds[0], rel=0.02)
    assert near(np.linspace(1, 2, 50), 4).max() == 3


def test_the_law_of_a_neighbour_mixes_what_its_pairs_show():
    """Two rows that differ in two values of three show what those two show, and nothing of the third."""
    grid = Grid.up_to(4.0, 64)
    weak, strong = (PrivacyProfile.of(GaussianCurve(shift), grid).deltas for shift in (0.2, 2.0))
    shown = PairProfiles(np.array([weak, strong]), np.array([0, 1, 1]), np.zeros(3, np.int64))  # (0,1) weak
    law = np.array([[0.5, 0.2, 0.3], [0.2, 0.5, 0.3]])
    group = np.zeros(1, np.int64)
    found = LawCrossing(law, 0.0, group, np.array([0, 1, 1])).through(shown, grid).deltas[0]
    alone = LawCrossing(law, 0.0, group, np.zeros(3, np.int64)).through(
        PairProfiles(weak[None], np.zeros(1, np.int64), np.zeros(1, np.int64)), grid
    ).deltas[0]  # fmt: skip
    assert found[0] == pytest.approx(alone[0], rel=1e-9)
    assert (np.diff(found) <= 0).all()
    assert (found < LawCrossing(law, 0.0, group, np.array([1, 1, 1]) * 0).through(shown, grid).deltas[0] / 2)[
        0
    ]
    tilted = (
        TiltCrossing.of(TiltLevels(np.array([0.0, 1.0])), np.array([[1.0, 0.0, 0.0]]), group)
        .through(shown, grid)
        .deltas[0]
    )
    assert tilted[0] == pytest.approx(np.tanh(0.25) * weak[0], rel=1e-9)


def test_a_larger_loss_never_shows_less():
    """Groups do not hang on losses, so a calibration may rely on it."""
    rng = np.random.default_rng(35)
    model, _ = tree(rng)
    loss = ConcentratedLoss((0.02,) * model.units, model.units, "1e-6", gaussian=True, separable=True)
    last = np.zeros(model.units)
    for times in (1, 1.1, 1.5, 3, 9):
        now = separable_messages_bound(replace(loss, rhos=(0.02 * times,) * model.units), model).per_unit
        assert (now > last).all()
        last = now


# Any mechanism with pure losses


def test_no_mechanism_leaks_more_than_pair_messages_say():
    """By the linear program over all mechanisms, any values known, and where answers are partly known."""
    rng, ratios, better = np.random.default_rng(36), [], 0
    for turn in range(60):
        model, joint = tree(rng, 0.25 * (turn % 2))
        if joint.size > 90:
            continue
        losses = rng.uniform(0.1, 1.5, joint.ndim)
        alike = message_passing_bound(Loss(losses), model).per_unit
        said = pair_messages_bound(Loss(losses), model).per_unit if tells_apart(model) else alike
        assert (said <= alike * (1 + 1e-9)).all()
        better += bool((said < alike * 0.98).any())
        for law in (joint, *(partly_known(rng, joint) for _ in range(2))):
            possible = [
                law.sum(axis=tuple(np.delete(np.arange(law.ndim), unit))) > 0 for unit in range(law.ndim)
            ]
            if min(one.sum() for one in possible) > 1:
                truth = worst_leakages(law / law.sum(), losses)
                assert (said >= truth - GAP).all()
                ratios += (said / truth).tolist()
    assert better > 2
    assert len(ratios) > 20
    assert np.median(ratios) < 1.6


def test_pair_messages_are_about_tables_of_two_units_of_more_than_two_values():
    bits = ("0", "1")
    pair = BayesNet.of(
        [Variable("a", bits, (), [[0.5, 0.5]]), Variable("b", bits, ("a",), [[0.9, 0.1], [0.2, 0.8]])]
    )
    with pytest.raises(DoesNotApply, match="Message passing says as much"):
        pair_messages_bound(Loss.uniform(0.1, units=2), pair)
    thirds = ("0", "1", "2")
    three = BayesNet.of(
        [
            Variable("a", thirds, (), [[0.2, 0.3, 0.5]]),
            Variable("b", bits, (), [[0.5, 0.5]]),
            Variable("c", thirds, ("a", "b"), np.random.default_rng(37).dirichlet([1] * 3, size=6).tolist()),
        ]
    )
    with pytest.raises(DoesNotApply):
        pair_messages_bound(Loss.uniform(0.1, units=3), three)


def test_slopes_of_pair_messages_add_up_to_what_is_leaked_and_tell_what_moves():
    rng = np.random.default_rng(38)
    model, _ = tree(rng)
    losses = rng.uniform(0.1, 0.5, model.units)
    told = PairsTold.of(losses, model)
    assert told.slopes @ losses == pytest.approx(told.worst, rel=1e-9)
    for unit in range(model.units):
        more = losses.copy()
        more[unit] *= 1.001
        moved = (PairsTold.of(more, model).worst - told.worst) / (0.001 * losses[unit])
        assert (moved <= told.slopes[:, unit] * 1.01 + 1e-9).all()  # messages are concave
        assert moved == pytest.approx(told.slopes[:, unit], rel=0.35, abs=0.05)


def test_of_very_many_pairs_the_worst_of_all_values_stands_for_the_largest_tables(monkeypatch):
    """So time and memory have a limit, and what is said stays valid."""
    rng = np.random.default_rng(39)
    model, _ = tree(rng)
    every = tables_of(model)
    monkeypatch.setattr(pairs, "MOST_PAIRS", max(pair_odds(table).size for table in every.values()))
    assert 0 < len(tables_of(model)) < len(every)
    count, _ = compared(np.random.default_rng(40), 2)
    assert count > 1_000


def test_a_tree_of_many_values_is_bounded_in_seconds():
    rng = np.random.default_rng(41)
    sizes = [30, *[12, 30] * 30]
    variables = [Variable("v0", tuple(map(str, range(30))), (), [rng.dirichlet(np.ones(30)).tolist()])]
    for j in range(1, 60):
        above = (j - 1) // 2
        table = rng.dirichlet(np.full(sizes[j], 0.5), size=sizes[above]).tolist()
        variables.append(Variable(f"v{j}", tuple(map(str, range(sizes[j]))), (f"v{above}",), table))
    model = BayesNet.of(variables)
    loss = ConcentratedLoss.uniform(1e-4, 60, "1e-6", gaussian=True, separable=True)
    began = process_time()
    assert separable_messages_bound(loss, model).worst < 1
    assert separable_transport_bound(loss, model).worst < 1
    assert process_time() - began < 20
