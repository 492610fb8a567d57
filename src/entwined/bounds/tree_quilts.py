"""The search for Markov quilts on a forest: behind each neighbour of a unit, cut at one distance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from entwined.bounds.chain_quilts import widest
from entwined.bounds.kernel import Link, all_but_one, laws_of
from entwined.dependence import Coupled
from entwined.loss import Loss
from entwined.numbers import ULP, FloatArray, round_up

MOST_ROWS: Final = 1_024  # joint values of a cut; more are not searched
MOST_STEPS: Final = 60_000  # links × distances: some seconds


@dataclass(frozen=True, eq=False, slots=True)
class Cut:
    """Units at one distance behind a link: log likelihoods of their joint values (rows), a column a value.

    Each row is known up to a constant, and right up to ±error. `inside` adds the losses of the units
    before the cut. Where all units behind the link are before it, the cut has `ended`: there is nothing to see.
    Without rows there are too many of them.
    """

    rows: FloatArray | None
    error: float
    inside: float
    ended: bool = False

    @classmethod
    def beyond(cls, values: int, inside: float) -> "Cut":
        """None of the units behind a link."""
        return cls(np.zeros((1, values)), 0.0, inside, ended=True)


def tree_quilt_leakage(loss: Loss, model: Coupled) -> FloatArray:
    """For each unit the worst pair of values, each pair with the best distance behind each neighbour."""
    forest, laws = laws_of(model)
    kernels = {(near, far): log_kernel(law) for (far, near), law in laws.items()}
    losses = loss.per_unit.tolist()
    whole: dict[Link, float] = {}

    def send(source: int, target: int, held: float) -> float:
        whole[target, source] = held
        return held

    forest.sweep(losses, send, lambda one, other: (one + other) * (1 + ULP))
    best = {link: np.full((kernel.shape[0],) * 2, whole[link]) for link, kernel in kernels.items()}
    cuts: Mapping[Link, Cut] = {
        link: Cut(kernel.T, forest.error + 4 * ULP, 0.0) for link, kernel in kernels.items()
    }
    for _ in range(min(loss.units, MOST_STEPS // max(1, len(kernels)))):
        open_cuts = [
            (link, cut)
            for link, cut in cuts.items()
            if not cut.ended and cut.inside < best[link].max(initial=0.0)
        ]
        if not open_cuts:
            break
        for link, cut in open_cuts:
            if cut.rows is not None:
                best[link] = np.minimum(best[link], cost(cut, cut.rows))
        cuts = farther(cuts, kernels, losses)
    leakage = [0.0] * loss.units
    sides: dict[int, FloatArray] = {}
    for (near, _), side in best.items():
        sides[near] = sides[near] + side if near in sides else side
    for unit, side in sides.items():
        leakage[unit] = float(side.max(initial=0.0, where=~np.eye(len(side), dtype=bool)))
    return round_up(loss.per_unit + np.array(leakage), max(8, loss.units))


def log_kernel(law: FloatArray) -> FloatArray:
    """Logarithms of a kernel, values that cannot occur left out."""
    with np.errstate(divide="ignore"):
        return np.log(law[:, law.max(axis=0) > 0])


def cost(cut: Cut, rows: FloatArray) -> FloatArray:
    """Add the losses inside to what the cut shows, for each pair of values."""
    shown = widest(rows, np.zeros(rows.shape, dtype=bool))
    return (cut.inside + np.maximum(shown, 0.0) + 2 * cut.error) * (1 + 4 * ULP)


def farther(
    cuts: Mapping[Link, Cut], kernels: Mapping[Link, FloatArray], losses: list[float]
) -> dict[Link, Cut]:
    """Move every cut one step away: behind i → j it is all cuts behind j but the one to i, seen through j."""
    behind: dict[int, list[int]] = {}
    for near, far in cuts:
        behind.setdefault(near, []).append(far)
    moved: dict[Link, Cut] = {}
    for middle, others in behind.items():
        held = [cuts[middle, other] for other in others]
        for near, rest in zip(others, all_but_one(held, join), strict=True):
            kernel, own = kernels[near, middle], losses[middle]
            alone = len(others) == 1
            moved[near, middle] = Cut.beyond(kernel.shape[0], own) if alone else through(rest, kernel, own)
    return moved


def join(one: Cut, other: Cut) -> Cut:
    """Join cuts in different branches: independent given the unit between, their likelihoods multiply."""
    inside = (one.inside + other.inside) * (1 + ULP)
    if one.ended or other.ended:
        return replace(other if one.ended else one, inside=inside)
    if one.rows is None or other.rows is None or len(one.rows) * len(other.rows) > MOST_ROWS:
        return Cut(None, 0.0, inside)
    rows = (one.rows[:, None, :] + other.rows[None, :, :]).reshape(-1, one.rows.shape[1])
    rows, error = levelled(rows)
    return Cut(rows, one.error + other.error + error, inside)


def through(cut: Cut, kernel: FloatArray, loss: float) -> Cut:
    """See a cut from one step farther away."""
    inside = (cut.inside + loss) * (1 + ULP)
    if cut.ended:
        return Cut.beyond(kernel.shape[0], inside)
    if cut.rows is None:
        return Cut(None, 0.0, inside)
    rows, error = levelled(np.logaddexp.reduce(kernel[None, :, :] + cut.rows[:, None, :], axis=2))
    own = (kernel.shape[1] + 4) * error
    return Cut(rows, cut.error + own, inside)


def levelled(rows: FloatArray) -> tuple[FloatArray, float]:
    """Drop rows that cannot occur, make 0 the largest entry of each, and say how much rounding that adds.

    A unit with two values sees a row as one ratio, and all rows between the smallest and the largest as
    mixtures of those two, which show no more than they do: those two are enough.
    """
    rows = rows[np.isfinite(rows.max(axis=1))]
    rows = rows - rows.max(axis=1, keepdims=True)
    if rows.shape[1] == 1:
        rows = rows[:1]
    if rows.shape[1] == 2:  # noqa: PLR2004
        ratio = rows[:, 0] - rows[:, 1]
        rows = rows[[int(ratio.argmin()), int(ratio.argmax())]]
    largest = float(np.max(-rows, where=np.isfinite(rows), initial=0.0))
    return rows, 8 * ULP * (1.0 + largest)
