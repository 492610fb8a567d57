"""Counters over steps: what they add up to, what they cost, and how far off they are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from entwined.mechanisms.streams.counter import Draw, StepCounter
from entwined.mechanisms.streams.each_step import EachStep
from entwined.mechanisms.streams.running_tree import RunningTree
from entwined.mechanisms.streams.square_roots import SquareRoots, grid_roots, roots
from entwined.noise import DiscreteGaussian, DiscreteLaplace
from entwined.promise.measure import measure_of

TREES = [
    RunningTree(3, 1, 12),
    RunningTree(3, 2, 20),
    RunningTree(3, 3, 30),
    RunningTree(5, 2, 30),
    RunningTree(5, 3, 20),
    RunningTree(3, None, None),
    RunningTree(5, None, None),
]
PLACE = 4  # bits a draw: coefficients are −1, 0 or 1


def coefficients(tree: RunningTree, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Feed a tree draws that are powers of 16, and read from the noise which draw is in which answer."""
    levels: list[int] = []

    def draw(level: int, count: int) -> list[int]:
        first = len(levels)
        levels.extend([level] * count)
        return [1 << (PLACE * at) for at in range(first, first + count)]

    noises = tree.advance(tree.begin(), [0] * steps, draw).answers
    found = np.zeros((steps, len(levels)))
    for step, noise in enumerate(noises):
        left = noise
        for at in range(len(levels)):
            digit = (left + 8) % 16 - 8
            found[step, at], left = digit, (left - digit) >> PLACE
        assert left == 0
    return found, np.array(levels)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_the_noise_of_a_tree_hides_every_step_within_its_loss(tree: RunningTree) -> None:
    """For every step, some move of the draws makes up for a change of 1 in it, and costs no more than the loss."""
    steps = tree.horizon or 25
    found, levels = coefficients(tree, steps)
    assert set(np.unique(found)) <= {-1, 0, 1}
    costs = np.array([float(tree.share(int(level))) for level in levels])
    for step in range(steps):
        moved = (np.arange(steps) >= step).astype(float)
        best = linprog(np.r_[costs, costs], A_eq=np.hstack([found, -found]), b_eq=moved, bounds=(0, None))
        assert best.status == 0
        assert best.fun is not None
        assert best.fun <= 1 + 1e-9


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_a_tree_has_the_draws_that_it_says(tree: RunningTree) -> None:
    """The digits of a step are the draws in its answer, and add up over a horizon."""
    steps = tree.horizon or 60
    found, levels = coefficients(tree, steps)
    for step in range(steps):
        said = {share.level: share.copies for share in tree.shares(step + 1)}
        seen = {int(level): int(np.abs(found[step, levels == level]).sum()) for level in np.unique(levels)}
        assert said == {level: copies for level, copies in seen.items() if copies}
    if tree.horizon:
        assert sum(tree.draws()) == int(np.abs(found).sum())


def test_the_shares_of_an_endless_tree_add_up_to_one() -> None:
    """After any number of levels less than the loss is spent, and in the end all of it."""
    tree = RunningTree.best(None)
    spent = sum(tree.share(level) for level in range(100))
    assert spent == 1 - Fraction(2, 102)


@pytest.mark.parametrize("tree", [RunningTree(5, 2, 200), RunningTree(5, None, None)], ids=str)
def test_a_tree_goes_on_where_it_was(tree: RunningTree) -> None:
    """In pieces, restored from what was remembered, it says what it says at once."""
    exact = [int(one) for one in np.random.default_rng(5).integers(0, 9, 200)]

    def drawn(seed: int) -> Draw:
        wells = [np.random.default_rng((seed, level)) for level in range(9)]
        return lambda level, count: [int(one) for one in wells[level].integers(-9, 9, count)]

    whole = tree.advance(tree.begin(), exact, drawn(1))
    draw = drawn(1)
    kept: list[object] = []
    answers: list[int] = []
    for start, end in ((0, 1), (1, 2), (2, 7), (7, 7), (7, 90), (90, 200)):
        piece = tree.advance(tree.restored(kept), exact[start:end], draw)
        kept += piece.kept
        answers += piece.answers
    assert tuple(answers) == whole.answers


def rms(counter: RunningTree, horizon: int) -> float:
    """The root of the mean squared error over all steps, of totals of steps that change by 1, at ε = 1."""
    measure = measure_of(None)
    whole = measure.largest(Fraction(1))
    variances = [
        measure.added(whole * counter.share(at), Fraction(1)).variance for at in range(3) if counter.share(at)
    ]
    squares = [
        math.fsum(share.copies * variances[share.level] for share in counter.shares(step))
        for step in range(1, horizon + 1)
    ]
    return math.sqrt(math.fsum(squares) / horizon)


@pytest.mark.parametrize(("horizon", "told"), [(30, 5.53), (365, 10.4), (10_000, 19.1)])
def test_errors_of_the_tree(horizon: int, told: float) -> None:
    """Root mean squared: the best tree of equal blocks, or less; at 365 steps 10.4 where a binary tree has 25.7."""
    found = rms(RunningTree.best(horizon), horizon)
    assert 0.95 * told <= found <= 1.0 * told


@pytest.mark.parametrize(("horizon", "told"), [(30, 8.41), (365, 11.8), (10_000, 16.2)])
def test_errors_of_square_roots(horizon: int, told: float) -> None:
    """Root mean squared, at δ = 10⁻⁶."""
    squares = np.cumsum(roots(horizon) ** 2)
    counter = SquareRoots(horizon, 1)
    scale = measure_of("1e-6").added(measure_of("1e-6").largest(Fraction(1)), Fraction(counter.stretch)).scale
    found = float(scale) / 2**counter.bits * math.sqrt(squares.mean())
    assert found == pytest.approx(told, rel=0.01)
    assert counter.shares(horizon)[0].weight * 2**counter.bits == pytest.approx(math.sqrt(squares[-1]))


def test_square_roots_square_to_sums() -> None:
    """The root times itself adds up, and the grid keeps it to its last bit."""
    root = roots(50)
    assert np.allclose(np.convolve(root, root)[:50], 1)
    counter = SquareRoots(50, 9)
    coded = grid_roots(50, counter.bits)
    for step in range(50):  # every unit change: what moves before noise is added
        moved = np.zeros(50, np.int64)
        moved[step:] = coded[: 50 - step]
        assert sum(int(one) ** 2 for one in moved) <= counter.stretch
    exact = np.random.default_rng(3).integers(0, 10, 50)
    answers = counter.advance(counter.begin(), exact.tolist(), lambda _, count: [0] * count)
    assert answers.answers == tuple(np.cumsum(exact).tolist())
    roots_found = [root for _, root in answers.kept]
    assert roots_found == np.convolve(coded, exact)[:50].tolist()


def test_square_roots_go_on_where_they_were() -> None:
    """In pieces they say what they say at once."""
    counter, rng = SquareRoots(40, 5), np.random.default_rng(4)
    exact, noise = rng.integers(0, 6, 40).tolist(), rng.integers(-(2**34), 2**34, 40).tolist()
    whole = counter.advance(counter.begin(), exact, lambda _, count: noise[:count])
    first = counter.advance(counter.begin(), exact[:15], lambda _, count: noise[:count])
    rest = counter.advance(counter.restored(first.kept), exact[15:], lambda _, count: noise[15 : 15 + count])
    assert first.answers + rest.answers == whole.answers
    assert first.kept + rest.kept == whole.kept


@pytest.mark.parametrize(
    ("counter", "law"),
    [
        (RunningTree(5, 2, 40), DiscreteLaplace(Fraction(3))),
        (EachStep(40), DiscreteLaplace(Fraction(3))),
        (SquareRoots(40, 1), DiscreteGaussian(Fraction(5 * 2**32))),
    ],
    ids=lambda one: type(one).__name__,
)
def test_errors_are_as_wide_as_they_are_said_to_be(
    counter: StepCounter, law: DiscreteLaplace | DiscreteGaussian
) -> None:
    """Simulated with our own noise, 500 times over: variances of five steps within 5 deviations of the estimate."""
    times = 500
    drawn = law.add(np.zeros(times * 60, np.int64)).tolist()

    def draw(_: int, count: int) -> list[int]:
        return [drawn.pop() for _ in range(count)]

    runs = np.array(
        [counter.advance(counter.begin(), [0] * 40, draw).answers for _ in range(times)], dtype=float
    )
    for step in (1, 7, 13, 26, 40):
        said = sum(share.copies * share.weight**2 * law.variance for share in counter.shares(step))
        seen = runs[:, step - 1]
        spread = math.sqrt(float(np.var(seen**2)) / times)
        assert abs(float(np.mean(seen**2)) - said) < 5 * spread + 0.1
