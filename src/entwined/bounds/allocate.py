"""How to share a leakage target among units whose statistics matter differently.

The squared error of all statistics is the sum of weight over loss², or over ρ where the noise is Gaussian. Near any
losses the leakages are about linear in them; the best losses of that linear problem come from its dual. Round after
round the slopes are taken anew and the result is brought to the target by the theorem itself, so that what is
returned is always within it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from entwined.bounds.calibrate import CLOSE, Calibration, calibrate, invert, largest_multiple
from entwined.bounds.contraction import tanh_quarter
from entwined.bounds.loopy import Messages, settled_messages
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.theorem import Knowledge
from entwined.dependence import Coupled, Couplings, Dependence
from entwined.errors import BadLoss, DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, float_below, positive_fraction
from entwined.progress import report

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROUNDS: Final = 16
DAMPED: Final = 3  # from this round on only half the way is taken, in logarithms
ENOUGH: Final = 1e-3
STILL: Final = 1e-3  # a round that moves no loss by more than this share is the last
PATIENCE: Final = 3  # rounds without a gain after which it ends
NEAR: Final = 0.6
MOST_UNITS: Final = 1_000
PRICE_ROUNDS: Final = 300
DUAL: Final = 3e-5  # how far above its floor the cost of a linear problem may be


@dataclass(frozen=True, eq=False)
class Pressure:
    """The leakages near some losses as sums over them, a row each: slopes · losses within the room."""

    slopes: FloatArray
    room: FloatArray

    def most(self, losses: FloatArray) -> "Pressure":
        """Keep the rows that are anywhere near the fullest, and those that alone limit some loss."""
        each = self.slopes / self.room[:, None]
        filled = each @ losses
        kept = filled >= NEAR * filled.max()
        kept[np.argmax(each, axis=0)] = True
        return Pressure(self.slopes[kept], self.room[kept])


class SharingTerms(Protocol):
    """What statistics leak, as a function of one loss each."""

    @property
    def columns(self) -> int:
        """How many losses there are."""

    @property
    def start(self) -> FloatArray:
        """Equal losses, from which the search starts."""

    @property
    def power(self) -> int:
        """The squared noise of a statistic falls with this power of its loss."""

    @property
    def close(self) -> float:
        """How near the target is near enough."""

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the leakage about every unit."""

    def pressure(self, losses: FloatArray, ceiling: float) -> Pressure:
        """Give the leakages near these losses as sums over them, and how large each may be."""


@dataclass(frozen=True, eq=False)
class Shared:
    """A loss for every statistic, what they leak together, and the weighted sum of their squared noise scales."""

    losses: FloatArray
    leakage: Leakage
    cost: float


def share(terms: SharingTerms, weights: FloatArray, leakage: float | str) -> Shared:
    """Minimise Σ weight_j / loss_j² (or / ρ_j) with the leakage about every unit within the target."""
    ceiling = ceiling_of(terms, weights, leakage)
    return searched(terms, terms.start, weights, ceiling)


def ceiling_of(terms: SharingTerms, weights: FloatArray, leakage: float | str) -> float:
    """The target, rounded down; refuse weights that are not one for each statistic."""
    if weights.shape != (terms.columns,) or not (weights > 0).all():
        raise BadLoss(f"There are {terms.columns} histograms. Give each a weight above zero.")
    return float_below(positive_fraction(leakage, "Leakage"))


def searched(terms: SharingTerms, start: FloatArray, weights: FloatArray, ceiling: float) -> Shared:
    """Start from some losses; give room to those that tell little about other units."""
    best = within(terms, start, weights, ceiling)
    now, idle = best, 0
    for turn in range(ROUNDS):
        report("sharing the leakage", turn, ROUNDS)
        pressed = terms.pressure(now.losses, ceiling).most(now.losses)
        aim = cheapest(weights, pressed.slopes, pressed.room, terms.power)
        towards = aim if turn < DAMPED else np.sqrt(aim * now.losses)
        before, now = now, within(terms, towards, weights, ceiling)
        idle = 0 if now.cost < best.cost * (1 - ENOUGH) else idle + 1
        best = min(best, now, key=lambda one: one.cost)
        if idle == PATIENCE or np.allclose(now.losses, before.losses, rtol=STILL, atol=0):
            break
    return best


def within(terms: SharingTerms, shape: FloatArray, weights: FloatArray, ceiling: float) -> Shared:
    """Scale losses until they leak as much as is allowed and no more."""
    seen: dict[float, Leakage] = {}

    def worst(multiple: float) -> float:
        seen[multiple] = terms.leakage(shape * multiple)
        return seen[multiple].worst

    multiple = invert(worst, ceiling, terms.close)
    losses = shape * multiple
    return Shared(losses, seen[multiple], float(np.sum(weights / losses**terms.power)))


def cheapest(importance: FloatArray, slopes: FloatArray, room: FloatArray, power: int = 2) -> FloatArray:
    """Minimise Σ importance/ε^power subject to slopes·ε ≤ room: raise the price of what is crowded, lower that of
    what is not.

    For prices λ the best losses are ε^(power + 1) = power · importance / slopesᵀλ. Scaling them into the room gives
    an allowed answer, and the prices give a floor under every answer (weak duality), so it is known when to stop.
    """
    prices = np.ones(room.size)
    best, least, floor = np.zeros(0), np.inf, 0.0
    for _ in range(PRICE_ROUNDS):
        losses = (power * importance / (slopes.T @ prices)) ** (1 / (power + 1))
        level = float(prices @ (slopes @ losses) / (prices @ room))  # prices that are right on the whole
        prices, losses = prices * level ** (power + 1), losses / level
        crowding = slopes @ losses / room
        worth = float(np.sum(importance / losses**power))
        allowed = losses / crowding.max()
        spent = float(np.sum(importance / allowed**power))
        floor = max(floor, worth)
        if spent < least:
            best, least = allowed, spent
        if least - floor <= DUAL * least:
            break
        prices = np.maximum(prices * crowding, prices.max() * 1e-30)
    return best


@dataclass(frozen=True, eq=False)
class OnMessages:
    """Any statistics of the units of a model, by message passing.

    It is concave in the losses, so its tangent lies above it and what the tangent allows is allowed.
    """

    model: Coupled
    power: int = 2
    close: float = CLOSE

    @property
    def columns(self) -> int:
        """One loss a unit."""
        return self.model.units

    @property
    def start(self) -> FloatArray:
        """The same loss for every unit."""
        return np.ones(self.columns)

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the leakage about every unit."""
        return message_passing_bound(Loss(losses), self.model)

    def pressure(self, losses: FloatArray, ceiling: float) -> Pressure:
        """The tangent."""
        slopes, rest = tangent(losses, self.model.couplings)
        return Pressure(slopes, ceiling - rest)


def allocate(
    model: Dependence, leakage: float | str, importance: Loss, knowledge: Knowledge = "any"
) -> Calibration[Loss]:
    """Minimise Σ importance_j / ε_j², the weighted squared noise scales, with every unit's leakage within
    the target.

    The losses are shared by message passing, and then enlarged if another theorem allows more of the same shape.
    """
    if importance.units != model.units or importance.per_unit.min() <= 0:
        raise BadLoss(
            "Importance needs one number above zero a unit. Leave out the units that are not released."
        )
    ceiling = float_below(positive_fraction(leakage, "Leakage"))
    start = calibrate(model, leakage, knowledge)
    if not isinstance(model, Coupled):
        raise DoesNotApply(
            f"Allocation works on the messages, and a {model.kind} model has none. Use weights instead."
        )
    if model.units > MOST_UNITS:
        raise DoesNotApply(
            f"Allocation takes at most {MOST_UNITS} units, this model has {model.units}. Use weights instead."
        )
    shape = Loss(share(OnMessages(model), importance.per_unit, leakage).losses)
    best = largest_multiple(message_passing_bound, model, shape, ceiling, knowledge)
    sharpest = calibrate(model, leakage, knowledge, best.exposure)
    return min(start, best, sharpest, key=lambda choice: cost(choice, importance))


def cost(calibration: Calibration[Loss], importance: Loss) -> float:
    """The weighted sum of squared noise scales."""
    return float(np.sum(importance.per_unit / calibration.exposure.per_unit**2))


def tangent(losses: FloatArray, couplings: Couplings) -> tuple[FloatArray, FloatArray]:
    """The slopes ∂L_i/∂ε_j of message passing where its messages are settled, and what the tangent leaves at
    zero loss.
    """
    from scipy.sparse import diags_array, eye_array
    from scipy.sparse.linalg import splu

    system, messages = settled_messages(losses, couplings)
    graph, own = system.graph, np.eye(losses.size)
    groups = (couplings.components[:, None] == couplings.components[None, :]).astype(np.float64)
    leakage = system.leakage(messages)
    of_unit, mates, siblings = incidence(system)
    gathered = system.gathered(leakage, messages)
    through, gate = tanh_quarter(gathered), tanh_quarter(graph.log_odds)
    gain = diags_array(gate * (1 - through**2) / np.maximum(1 - (gate * through) ** 2, 1e-300))
    free = leakage[graph.unit] - messages < system.most
    grouped = np.where(free[:, None], 0.0, groups[graph.unit] - mates @ of_unit.toarray())
    feedback = eye_array(messages.size) - gain @ mates @ diags_array(free.astype(np.float64)) @ siblings
    into = gain @ mates @ (np.where(free[:, None], of_unit.toarray(), 0.0) + grouped)
    slopes = own + of_unit.T @ splu(feedback.tocsc()).solve(into) if messages.size else own
    totals = couplings.component_totals(losses)
    slopes = np.where((leakage < totals)[:, None], slopes, groups)
    return slopes, np.maximum(np.minimum(leakage, totals) - slopes @ losses, 0.0)


def incidence(system: Messages) -> "tuple[csr_array, csr_array, csr_array]":
    """Entry to unit, entry to the other entries of its factor, entry to the other entries of its unit."""
    from scipy.sparse import csr_array, eye_array

    graph = system.graph
    entries = graph.unit.size
    places = np.arange(entries)
    of_unit = csr_array((np.ones(entries), (places, graph.unit)), shape=(entries, graph.units))
    of_factor = csr_array((np.ones(entries), (places, graph.factor)), shape=(entries, graph.sizes.size))
    itself = eye_array(entries, format="csr")
    return of_unit, csr_array(of_factor @ of_factor.T - itself), csr_array(of_unit @ of_unit.T - itself)
