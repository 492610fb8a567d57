"""How to share a leakage target among units whose statistics matter differently."""

from typing import TYPE_CHECKING

import numpy as np

from entwined.bounds.calibrate import Calibration, calibrate, largest_multiple
from entwined.bounds.contraction import tanh_quarter
from entwined.bounds.loopy import Messages, settled_messages
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.theorem import Knowledge
from entwined.dependence import Coupled, Couplings, Dependence
from entwined.errors import BadLoss, DoesNotApply
from entwined.loss import Loss
from entwined.numbers import FloatArray, float_below, positive_fraction

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROUNDS = 30
ENOUGH = 1e-6
MOST_UNITS = 1_000
PRICE_ROUNDS = 1_000


def allocate(
    model: Dependence, leakage: float | str, importance: Loss, knowledge: Knowledge = "any"
) -> Calibration[Loss]:
    """Minimise Σ importance_j / ε_j², the weighted squared noise scales, with every unit's leakage within
    the target.

    The leakage of message passing is concave in the losses, so its tangent at any loss lies above it:
    solving the convex problem with the tangent in its place gives losses that are allowed, never worse
    than the last, and round after round nearer to the optimum. The result is checked with the theorem
    itself, like any other calibration.
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
    best = largest_multiple(message_passing_bound, model, Loss.uniform(1, model.units), ceiling, knowledge)
    for _ in range(ROUNDS):
        slopes, rest = tangent(best.exposure.per_unit, model.couplings)
        shape = cheapest(importance.per_unit, slopes, ceiling - rest)
        nearer = largest_multiple(message_passing_bound, model, Loss(shape), ceiling, knowledge)
        gain = 1 - cost(nearer, importance) / cost(best, importance)
        best = nearer if gain > 0 else best
        if gain < ENOUGH:
            break
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


def cheapest(importance: FloatArray, slopes: FloatArray, room: FloatArray) -> FloatArray:
    """Minimise Σ importance/ε² subject to slopes·ε ≤ room: raise the price of what is crowded, lower that of
    what is not.

    For prices λ the best losses are ε = (2 importance / slopesᵀλ)^⅓. Scaling them into the room gives an
    allowed answer, and the prices give a floor under every answer (weak duality), so it is known when to
    stop.
    """
    prices = np.ones(room.size)
    best, least, floor = np.zeros(0), np.inf, 0.0
    for _ in range(PRICE_ROUNDS):
        losses = np.cbrt(2 * importance / (slopes.T @ prices))
        level = float(prices @ (slopes @ losses) / (prices @ room))  # prices that are right on the whole
        prices, losses = prices * level**3, losses / level
        crowding = slopes @ losses / room
        worth = float(np.sum(importance / losses**2))
        allowed = losses / crowding.max()
        spent = float(np.sum(importance / allowed**2))
        floor = max(floor, worth)
        if spent < least:
            best, least = allowed, spent
        if least - floor <= ENOUGH * least:
            break
        prices = np.maximum(prices * crowding, prices.max() * 1e-30)
    return best
