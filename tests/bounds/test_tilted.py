"""Tilted transport: the theorem against the oracle, its frontiers against tilts, long chains, large trees."""

import math
from decimal import Decimal, localcontext
from itertools import pairwise, permutations
from time import process_time

import numpy as np
import pytest

from entwined.bounds.contraction import contract_one
from entwined.bounds.kernel import Kernel
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.tilted import tilted_transport_bound
from entwined.bounds.tilted_frontier import Arcs, TiltedFrontier, tilts_through
from entwined.bounds.transport import transport_bound
from entwined.dependence import BayesNet, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support import draw
from support.chains import CHAINS, REFUSED, as_net, chain_of, forest_field, symmetric
from support.growth import leaks_more_as_losses_grow, no_unit_leaks_less_for_more_loss
from support.oracle import chain_joint, exact_leakage, worst_leakages
from support.product import product_model

ROUNDING = 1e-11  # the oracle's own
LEAKAGES = (0.0, 1e-300, 1e-9, 1e-4, 0.1, 0.7, 2.0, 6.0, 25.0, 50.0, 599.0, 601.0, 1e4)


# The theorem against the oracle


def ratios_to_the_truth(rng, count):
    """Check random chains and trees; give the bound and the messages over the truth, geometric means."""
    ratios = {}
    for place in range(count):
        drawn = (draw.chain if place % 2 else draw.tree)(rng)
        loss, model = Loss.of(drawn.losses), product_model(drawn)
        bound = tilted_transport_bound(loss, model).per_unit
        messages = message_passing_bound(loss, model).per_unit
        truth = worst_leakages(drawn.joint(), drawn.losses, "values")
        assert (bound >= truth * (1 - 1e-9) - ROUNDING).all(), drawn
        assert (bound <= messages * (1 + 1e-9)).all(), drawn
        assert (bound >= transport_bound(loss, model).per_unit * (1 - 1e-11)).all(), drawn
        ratios.setdefault("binary" if max(drawn.sizes) == 2 else "ternary", []).extend(
            zip(bound / truth, messages / truth, strict=True)
        )
    for kind, pairs in ratios.items():
        print(kind, "tilted, messages: mean", np.mean(pairs, axis=0), "median", np.median(pairs, axis=0))
    return {kind: np.exp(np.mean(np.log(pairs), axis=0)) for kind, pairs in ratios.items()}


def test_it_is_between_the_oracle_and_the_messages():
    ratios = ratios_to_the_truth(np.random.default_rng(51), 100)
    for tilted, messages in ratios.values():
        assert tilted < 1 + (messages - 1) / 2


@pytest.mark.slow
def test_it_is_between_the_oracle_and_the_messages_on_thousands():
    ratios = ratios_to_the_truth(np.random.default_rng(52), 3_000)
    assert ratios["binary"][0] < 1.03
    assert ratios["ternary"][0] < 1.08


def test_a_bound_that_forgets_what_is_told_is_caught(monkeypatch):
    """The mutant: tilts only by what is not next to the unit."""
    monkeypatch.setattr("entwined.bounds.tilted.Passage.__call__", lambda self, whole, _: self.quiet(whole))
    rng, caught = np.random.default_rng(56), 0
    for _ in range(40):
        drawn = draw.chain(rng)
        bound = tilted_transport_bound(Loss.of(drawn.losses), product_model(drawn)).per_unit
        caught += (bound < worst_leakages(drawn.joint(), drawn.losses, "values") * (1 - 1e-6)).any()
    assert caught > 2


def test_answers_that_settle_others_tell_no_more():
    """Who skips a question has answered no before it: then nothing is left to learn there."""
    yes_no, count = ("no", "yes"), ("skipped", "few", "many")
    net = BayesNet.of(
        [
            Variable("smokes", yes_no, (), [[0.999, 0.001]]),
            Variable("how many", count, ("smokes",), [[1, 0, 0], [0, 0.5, 0.5]]),
            Variable("coughs", yes_no, ("smokes",), [[0.9, 0.1], [0.6, 0.4]]),
            Variable("doctor", yes_no, ("coughs",), [[0.9, 0.1], [0.7, 0.3]]),
        ]
    )
    smokes, many, coughs, doctor = (
        [0.999, 0.001],
        [[1, 0, 0], [0, 0.5, 0.5]],
        [[0.9, 0.1], [0.6, 0.4]],
        [[0.9, 0.1], [0.7, 0.3]],
    )
    joint = np.einsum("a,ab,ac,cd->abcd", smokes, many, coughs, doctor)
    losses = np.array([0.5, 0.0, 0.1, 0.1])
    bound, truth = (
        tilted_transport_bound(Loss.of(losses), net).per_unit,
        worst_leakages(joint, losses, "values"),
    )
    messages = message_passing_bound(Loss.of(losses), net).per_unit
    assert (bound >= truth).all()
    assert bound[2:] == pytest.approx(truth[2:], rel=0.01)
    assert messages[2] > 1.5 * truth[2]


def test_it_is_never_below_the_oracle_on_fields():
    rng = np.random.default_rng(53)
    for _ in range(100):
        drawn, field = forest_field(rng)
        bound = tilted_transport_bound(Loss.of(drawn.losses), field).per_unit
        assert (bound >= worst_leakages(drawn.joint(), drawn.losses, "values") * (1 - 1e-9) - ROUNDING).all()


def test_two_units_reach_it():
    rng = np.random.default_rng(54)
    for _ in range(100):
        values = int(rng.integers(2, 4))
        transition, initial = rng.dirichlet(np.full(values, 0.5), size=values), rng.dirichlet(np.ones(values))
        losses = draw.losses(rng, 2)
        bound = tilted_transport_bound(Loss.of(losses), chain_of(2, transition, initial)).per_unit
        truth = worst_leakages(chain_joint(initial, transition, 2), losses, "values")
        assert bound == pytest.approx(truth, rel=1e-9)


def test_the_centre_of_a_star_of_like_leaves_reaches_it():
    rng = np.random.default_rng(55)
    for _ in range(30):
        table, initial = rng.dirichlet(np.full(2, 0.5), size=2), rng.dirichlet(np.ones(2))
        leaves = [Variable(f"leaf{k}", ("a", "b"), ("centre",), table) for k in range(3)]
        net = BayesNet.of([Variable("centre", ("a", "b"), (), [initial]), *leaves])
        losses = np.array([rng.uniform(0, 1), *[rng.uniform(0, 2)] * 3])
        joint = np.einsum("a,ab,ac,ad->abcd", initial, table, table, table)
        bound = float(tilted_transport_bound(Loss.of(losses), net).per_unit[0])
        assert bound == pytest.approx(worst_leakages(joint, losses, "values")[0], rel=1e-9)


def test_a_known_value_that_tilts_reaches_it():
    """Three steps, the last known: where transport says 2.14, the truth and this bound say 3.28."""
    losses, chain = np.array([0.0, 5.0, 0.0]), symmetric(0.1, 3)
    joint = chain_joint(chain.initial, chain.transition.low, 3)
    bound = float(tilted_transport_bound(Loss.of(losses), chain).per_unit[0])
    truth = exact_leakage(joint, losses, unit=0, known={2: 1}, a=0, b=1)
    assert truth == pytest.approx(bound, rel=1e-9)
    assert truth > 1.5 * float(transport_bound(Loss.of(losses), chain).per_unit[0])


def test_rare_answers_cost_what_they_should():
    """Five answers, each given by one in a thousand: the messages, which see log odds alone, ask for double."""
    table, law, loss = np.array([[0.999, 0.001], [0.99, 0.01]]), [990 / 991, 1 / 991], Loss.uniform(0.5, 5)
    chain = chain_of(5, table, law)
    bound = tilted_transport_bound(loss, chain).worst
    assert bound == pytest.approx(
        worst_leakages(chain_joint(law, table, 5), loss.per_unit, "values").max(), rel=1e-9
    )
    assert bound == pytest.approx(0.6028, abs=5e-5)
    assert message_passing_bound(loss, chain).worst == pytest.approx(1.2848, abs=5e-5)
    assert transport_bound(loss, chain).worst == pytest.approx(0.5118, abs=5e-5)


def test_other_marginals_break_it_but_not_the_messages():
    """The broken trust: the same transitions from elsewhere, so the same log odds, leak more."""
    transition, losses = [[0.999, 0.001], [0.5, 0.5]], Loss.of([1.0, 1.0])
    believed = chain_of(2, transition, [0.999, 0.001])
    truth = worst_leakages(chain_joint([0.5, 0.5], transition, 2), losses.per_unit, "values")
    assert truth.max() > tilted_transport_bound(losses, believed).worst + 0.1
    assert (message_passing_bound(losses, believed).per_unit >= truth).all()


# One kernel against tilts


def random_case(rng, zeros=True):
    """A kernel, and the tilts of its columns by one or two other kernels."""
    rows, values = int(rng.integers(2, 5)), int(rng.integers(2, 5))

    def law(height, width):
        table = rng.dirichlet(np.full(width, rng.choice([0.2, 1.0, 5.0])), size=height) + 1e-12
        if zeros and rng.random() < 0.3:
            table *= rng.random(table.shape) < 0.8
            table[table.sum(axis=1) == 0, 0] = 1.0
        return table / table.sum(axis=1, keepdims=True)

    others = [law(values, int(rng.integers(2, 4))) for _ in range(rng.integers(1, 3))]
    tilts = tilts_through([Kernel(other, 0.0) for other in others], [math.inf] * len(others))
    return law(rows, values), others, sum(tilts)


def largest_ratio(kernel, tilt, leakage):
    """Transport through the kernel under one tilt, over all pairs of rows that keep some mass."""
    tilted, growth, best = kernel * tilt, math.expm1(leakage), 0.0
    tilted = tilted[tilted.sum(axis=1) > 0]
    tilted = tilted / tilted.sum(axis=1, keepdims=True)
    for one, other in permutations(tilted, 2):
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-np.nan_to_num(one / other, nan=-1.0))
        p, q = np.cumsum(one[order]), np.cumsum(other[order])
        best = max(best, float(np.log((1 + growth * p) / (1 + growth * q)).max()))
    return best


def test_no_tilt_gets_more_through_than_the_frontier_says():
    rng = np.random.default_rng(61)
    for _ in range(100):
        kernel, others, bounds = random_case(rng)
        frontier = TiltedFrontier.of(kernel, bounds)
        for _ in range(20):
            tilt = np.prod([other @ rng.dirichlet(np.full(other.shape[1], 0.2)) for other in others], axis=0)
            if tilt.max() > 0:
                leakage = 10 ** rng.uniform(-3, 1)
                assert frontier(leakage) >= largest_ratio(kernel, tilt / tilt.max(), leakage) * (1 - 1e-12)


def test_with_two_values_some_tilt_gets_all_of_it_through():
    """And with bounds on tilts a tenth too small, some tilt gets more through than they say."""
    rng, caught = np.random.default_rng(62), 0
    for _ in range(45):
        kernel, up, down = rng.dirichlet(np.full(2, 0.7), size=2), rng.uniform(0, 3), rng.uniform(0, 3)
        bounds, leakage = np.array([[0, up], [down, 0]]), 10 ** rng.uniform(-3, 1)
        tilts = [np.array([math.exp(x), 1.0]) for x in np.linspace(-down, up, 301)]
        reached = max(largest_ratio(kernel, tilt, leakage) for tilt in tilts)
        assert TiltedFrontier.of(kernel, bounds)(leakage) == pytest.approx(reached, rel=1e-4, abs=1e-11)
        caught += TiltedFrontier.of(kernel, 0.9 * bounds)(leakage) < reached * (1 - 1e-4)
    assert caught > 10


def test_a_tilt_that_may_be_anything_is_message_passing_and_none_is_transport():
    rng = np.random.default_rng(63)
    for _ in range(50):
        kernel, _, _ = random_case(rng, zeros=False)
        logs = np.log(kernel)
        odds = max(np.ptp(one - other) for one, other in permutations(logs, 2))
        values = kernel.shape[1]
        free = TiltedFrontier.of(kernel, np.full((values, values), np.inf))
        none = TiltedFrontier.of(kernel, np.zeros((values, values)))
        for leakage in LEAKAGES[3:]:
            assert free(leakage) == pytest.approx(contract_one(leakage, odds), rel=1e-9)
            if leakage < 600:
                assert none(leakage) == pytest.approx(
                    largest_ratio(kernel, np.ones(values), leakage), rel=1e-6
                )


def test_tilts_through_a_unit_are_as_large_as_they_say():
    rng = np.random.default_rng(64)
    for _ in range(60):
        kernel, _, _ = random_case(rng)
        spread = rng.choice([0.0, 0.3, 3.0, np.inf])
        (bounds,) = tilts_through([Kernel(kernel, 0.0)], [float(spread)])
        assert (np.diag(bounds) == 0).all()
        for _ in range(30):
            tilt = np.exp(-min(spread, 600.0) * (rng.random(kernel.shape[1]) < 0.5))
            means = kernel @ tilt  # no mean is zero: the least is about e^-600
            assert (means[:, None] <= means * np.exp(np.minimum(bounds, 700.0)) * (1 + 1e-9)).all()


def test_the_steepest_arc_is_found_at_every_leakage():
    rng = np.random.default_rng(65)
    for _ in range(40):
        size = int(rng.integers(0, 40))
        low, odds = rng.uniform(-6, 0, size), rng.choice([1.0, 2.0, rng.uniform(0, 5), np.inf], size)
        low[rng.random(size) < 0.1] = -np.inf
        with np.errstate(invalid="ignore"):
            high = np.where(
                np.isinf(odds), 0.0, np.nan_to_num(low, neginf=-9.0) + odds + rng.uniform(0, 3, size)
            )
        owner = np.sort(rng.integers(0, 3, size))
        arcs = Arcs(owner, low, high, odds)
        starts, heights, owners = arcs.steepest()
        for k in range(3):
            for leakage in rng.uniform(0, 15, 30):
                flat = (owner == k) & (odds < np.inf)
                inside = flat.copy()
                inside[flat] = -odds[flat] - 2 * arcs.last[flat] < leakage
                inside[flat] &= leakage < -odds[flat] - 2 * low[flat]
                before = np.flatnonzero((owners == k) & (starts <= leakage))
                found = heights[before[-1]] if before.size else 0.0
                assert found == odds[inside].max(initial=0.0)


def test_a_kernel_in_slices_is_the_kernel_in_one(monkeypatch):
    rng = np.random.default_rng(66)
    kernel, tilt = rng.dirichlet(np.ones(12), size=12), rng.uniform(0, 2, (12, 12))
    whole = TiltedFrontier.of(kernel, tilt)
    monkeypatch.setattr("entwined.bounds.tilted_frontier.MOST_CELLS", 300)
    sliced = TiltedFrontier.of(kernel, tilt)
    for leakage in LEAKAGES:
        assert sliced(leakage) == whole(leakage)


@pytest.mark.parametrize("error", [1e-9, 1e-3])
def test_a_kernel_known_up_to_an_error_covers_all_it_may_be(error):
    rng = np.random.default_rng(67)
    for _ in range(40):
        kernel, _, tilt = random_case(rng)
        other = kernel * np.exp(rng.uniform(-error, error, kernel.shape))
        for leakage in LEAKAGES:
            assert TiltedFrontier.of(kernel, tilt, error)(leakage) >= TiltedFrontier.of(other, tilt)(
                leakage
            ) * (1 - 1e-12)


def test_chances_at_the_edge_of_floats_give_numbers_that_grow():
    rng = np.random.default_rng(68)
    for _ in range(200):
        kernel = 10.0 ** rng.choice([0, -1, -20, -150, -300], size=(3, 3))
        kernel /= kernel.sum(axis=1, keepdims=True)
        kernel = np.where(rng.random((3, 3)) < 0.1, 0.0, kernel) + np.eye(3) * 1e-3
        tilt = rng.choice([0.0, 1e-12, 1.0, 300.0, 720.0, 5000.0, np.inf], size=(3, 3))
        np.fill_diagonal(tilt, 0.0)
        frontier = TiltedFrontier.of(kernel, tilt)
        through = [frontier(leakage) for leakage in LEAKAGES]
        assert np.isfinite(through).all()
        assert all(one <= other * (1 + 1e-12) for one, other in pairwise(through))
        assert all(0 <= one <= leakage for one, leakage in zip(through, LEAKAGES, strict=True))


# Fifty digits


def careful_best(laws, rising, falling, leakage):
    """Φ as the theorem states it, with as many digits as the context has (no zeros)."""
    growth, best = leakage.exp() - 1, Decimal(0)
    values, laws = range(len(laws[0])), [[chance / sum(law) for chance in law] for law in laws]

    def contracted(size, odds):
        a, b = (size / 2).exp(), (odds / 2).exp()
        return 2 * ((1 + a * b) / (a + b)).ln()

    for one, other in permutations(laws, 2):
        logs = [(one[v] / other[v]).ln() for v in values]
        order = sorted(values, key=lambda v: -logs[v])
        for size in range(1, len(one)):
            inside, outside = order[:size], order[size:]

            def most(law, here, there):
                grown = sum(law[u] * rising[u].exp() for u in here) / sum(law[v] for v in there)
                return min(
                    grown, sum(law[u] for u in here) / sum(law[v] * (-falling[v]).exp() for v in there)
                ).ln()

            high, low = most(one, inside, outside), -most(other, outside, inside)
            share = [[sum(law[v] for v in part) for part in (inside, outside)] for law in (one, other)]
            odds = (share[0][0] * share[1][1] / share[0][1] / share[1][0]).ln()
            for part in (inside, outside):
                spread = min(max(rising[v] for v in part), max(falling[v] for v in part))
                odds += contracted(spread, max(logs[v] for v in part) - min(logs[v] for v in part))
            odds = min(odds, max(logs) - min(logs), high - low)
            if odds > 0:
                q = max(low, min(high - odds, -(leakage + odds) / 2))
                p, q = 1 / (1 + (-q - odds).exp()), 1 / (1 + (-q).exp())
                best = max(best, ((1 + growth * p) / (1 + growth * q)).ln())
    return best


def careful_tilts(laws, spread=None):
    """How far a unit with these laws tilts, exactly: all sets, or single values where it is known."""
    states, found = range(len(laws)), [[Decimal(0)] * len(laws) for _ in laws]
    for u, v in permutations(states, 2):
        for chosen in range(1, 2 ** len(laws[0])):
            above, below = (sum(c for w, c in enumerate(laws[k]) if chosen >> w & 1) for k in (u, v))
            if spread is None:
                ratio = above / below
            else:
                growth = spread.exp() - 1
                ratio = (1 + growth * above) / (1 + growth * below)
            found[u][v] = max(found[u][v], ratio.ln())
    return found


def careful_messages(kernels, losses):
    """F_{j→i} along a line of units, as the theorem states it."""
    messages, message = [], Decimal(0)
    for place, (laws, loss) in enumerate(zip(kernels, losses, strict=False)):
        nothing = [Decimal(0)] * len(laws[0])
        rising = falling = nothing
        told = []
        if place > 0:
            spread = max(map(max, careful_tilts(kernels[place - 2]))) if place > 1 else Decimal(0)
            quiet = careful_tilts(kernels[place - 1], spread)
            rising, falling = ([max(line) for line in lines] for lines in (quiet, zip(*quiet, strict=True)))
            columns = zip(*kernels[place - 1], strict=True)
            told = [[[p * c for p, c in zip(law, column, strict=True)] for law in laws] for column in columns]
        best = careful_best(laws, rising, falling, Decimal(loss) + message)
        message = max([best, *(careful_best(case, nothing, nothing, Decimal(loss)) for case in told)])
        messages.append(message)
    return messages


def test_rounding_never_goes_below_fifty_digits():
    rng = np.random.default_rng(71)
    with localcontext() as context:
        context.prec = 50
        for _ in range(8):
            states, length = int(rng.integers(2, 4)), int(rng.integers(2, 7))
            transition = rng.dirichlet(np.full(states, rng.choice([0.5, 2.0, 20.0])), size=states)
            chain = chain_of(length, transition, rng.dirichlet(np.ones(states)))
            losses = (
                [10 ** rng.uniform(-9, 1)] * length
                if rng.random() < 0.5
                else 10 ** rng.uniform(-9, 1, length)
            )
            step = [[Decimal(float(chance)) for chance in row] for row in chain.transition.low]
            step = [[chance / sum(row) for chance in row] for row in step]
            law, back = [Decimal(float(chance)) for chance in chain.initial], []
            for _ in range(length - 1):
                onward = [sum(law[v] * step[v][w] for v in range(states)) for w in range(states)]
                back.append([[law[v] * step[v][w] / onward[w] for v in range(states)] for w in range(states)])
                law = onward
            past = [Decimal(0), *careful_messages(back, losses)]
            future = [Decimal(0), *careful_messages([step] * (length - 1), losses[::-1])][::-1]
            truth = [Decimal(float(e)) + p + f for e, p, f in zip(losses, past, future, strict=True)]
            for model in (chain, as_net(chain)):
                bound = tilted_transport_bound(Loss.of(losses), model).per_unit
                excess = [float(Decimal(float(b)) / t - 1) for b, t in zip(bound, truth, strict=True)]
                assert min(excess) >= 0
                assert max(excess) < 1e-7


# Long chains and large trees


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("even", [True, False])
def test_a_long_chain_gets_what_it_gets_step_by_step(name, even):
    chain = CHAINS[name]
    losses = np.full(400, 0.3) if even else np.random.default_rng(21).uniform(0, 0.6, 400)
    quick = tilted_transport_bound(Loss.of(losses), chain).per_unit
    plain = tilted_transport_bound(Loss.of(losses), as_net(chain)).per_unit
    assert quick == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize(
    ("states", "seconds"), [(12, 5), pytest.param(51, 25, marks=pytest.mark.slow)], ids=["12", "51"]
)
def test_a_million_steps_take_seconds(states, seconds):
    rng = np.random.default_rng(72)
    transition = 0.5 * rng.dirichlet(np.ones(states), size=states) + 0.5
    transition /= transition.sum(axis=1, keepdims=True)
    chain = chain_of(1_000_000, transition, rng.dirichlet(np.ones(states)))
    loss, begun = Loss.uniform(0.1, 1_000_000), process_time()
    leakage = tilted_transport_bound(loss, chain)
    assert process_time() - begun < seconds
    short = tilted_transport_bound(Loss.uniform(0.1, 300), chain_of(300, transition, chain.initial))
    assert short.worst * (1 - 1e-8) <= leakage.worst <= short.worst * (1 + 1e-6)
    assert transport_bound(loss, chain).worst <= leakage.worst < message_passing_bound(loss, chain).worst


@pytest.mark.slow
def test_a_million_uneven_steps_take_seconds():
    losses = Loss(np.random.default_rng(73).uniform(0, 0.2, 1_000_000))
    chain = chain_of(1_000_000, [[0.99, 0.01], [0.3, 0.7]], [0.9, 0.1])
    begun = process_time()
    leakage = tilted_transport_bound(losses, chain)
    assert process_time() - begun < 15
    assert (leakage.per_unit <= message_passing_bound(losses, chain).per_unit * (1 + 1e-6)).all()


def survey(rng, variables, fewest, most):
    """A tree of answers, most of them rare."""
    sizes = [int(size) for size in rng.integers(fewest, most + 1, variables)]
    names = [tuple(map(str, range(size))) for size in sizes]
    rows = [Variable("v0", names[0], (), [rng.dirichlet(np.ones(sizes[0]))])]
    for j in range(1, variables):
        parent = int(rng.integers(j))
        share = 0.98 * rng.dirichlet(np.full(sizes[j], 0.5)) + 0.02 / sizes[j]
        table = share * np.exp(rng.normal(0, rng.choice([0.2, 0.5, 1.0]), (sizes[parent], sizes[j])))
        rows.append(Variable(f"v{j}", names[j], (f"v{parent}",), table / table.sum(axis=1, keepdims=True)))
    return BayesNet.of(rows)


@pytest.mark.parametrize(
    ("variables", "most", "seconds"), [(400, 12, 4), pytest.param(10_000, 3, 12, marks=pytest.mark.slow)]
)
def test_a_large_survey_takes_seconds_and_leaks_less_than_the_messages_say(variables, most, seconds):
    net, loss = survey(np.random.default_rng(74), variables, 2, most), Loss.uniform(0.1, variables)
    begun = process_time()
    leakage = tilted_transport_bound(loss, net).per_unit
    assert process_time() - begun < seconds
    messages = message_passing_bound(loss, net).per_unit
    assert (leakage <= messages * (1 + 1e-9)).all()
    assert leakage.mean() < 0.9 * messages.mean()
    assert (leakage >= transport_bound(loss, net).per_unit * (1 - 1e-9)).all()


def test_a_hub_of_many_is_fine():
    values, table = ("a", "b", "c"), np.random.default_rng(75).dirichlet(np.ones(3), size=3)
    leaves = [Variable(f"v{j}", values, ("v0",), table) for j in range(1, 1_000)]
    net, loss = (
        BayesNet.of([Variable("v0", values, (), [[0.2, 0.3, 0.5]]), *leaves]),
        Loss.uniform(0.1, 1_000),
    )
    leakage, messages = (
        theorem(loss, net).per_unit for theorem in (tilted_transport_bound, message_passing_bound)
    )
    assert (leakage <= messages * (1 + 1e-9)).all()
    assert leakage[0] < 0.99 * messages[0]  # each leaf tells the hub by its exact law


# All losses


@pytest.mark.parametrize(
    "model",
    [symmetric(0.2, 30), as_net(symmetric(0.2, 30)), CHAINS["absorbed"], CHAINS["from one state"]],
    ids=["chain", "net", "absorbed", "zeros"],
)
def test_losses_from_tiny_to_huge_give_numbers_that_grow_with_them(model):
    leaks_more_as_losses_grow(tilted_transport_bound, model, 81)


def test_more_loss_anywhere_never_means_less_leakage():
    no_unit_leaks_less_for_more_loss(tilted_transport_bound, 82, 1e-12)


def test_independent_steps_leak_their_own_loss():
    losses = [0.0, 0.5, 3.0]
    chain = chain_of(3, [[0.2, 0.8], [0.2, 0.8]], [0.5, 0.5])
    assert tilted_transport_bound(Loss.of(losses), chain).per_unit.tolist() == pytest.approx(
        losses, rel=1e-14
    )
    single = chain_of(1, [[0.2, 0.8], [0.3, 0.7]], [0.5, 0.5])
    assert tilted_transport_bound(Loss.of([2.0]), single).worst == pytest.approx(2.0)


def test_values_that_cannot_occur_are_no_secrets():
    transition = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    never = chain_of(5, transition, [0.4, 0.6, 0.0])
    for model in (never, as_net(never)):
        assert tilted_transport_bound(Loss.uniform(1, 5), model).worst == pytest.approx(1.0, abs=1e-10)
    sometimes = chain_of(5, transition, [0.4, 0.5, 0.1])
    assert tilted_transport_bound(Loss.uniform(1, 5), sometimes).worst == pytest.approx(5.0)


# Refusals


@pytest.mark.parametrize("why", REFUSED)
def test_where_it_does_not_apply_it_says_why(why):
    with pytest.raises(DoesNotApply):
        tilted_transport_bound(Loss.uniform(1, REFUSED[why].units), REFUSED[why])


def test_chances_lost_to_underflow_are_refused():
    chain = chain_of(3, [[1.0, 1e-200], [1e-200, 1.0]], [0.5, 0.5])
    with pytest.raises(DoesNotApply, match="too small for a float"):
        tilted_transport_bound(Loss.uniform(1, 3), chain)


def test_what_would_take_minutes_is_refused():
    states = 160
    transition = 0.5 * np.full((states, states), 1 / states) + 0.5 * np.eye(states)
    chain = chain_of(3, transition, np.full(states, 1 / states))
    with pytest.raises(DoesNotApply, match="takes long"):
        tilted_transport_bound(Loss.uniform(1, 3), chain)
