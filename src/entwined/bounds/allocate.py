"""How to share a leakage target among units whose statistics matter differently."""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from entwined.bounds.calibrate import Calibration, calibrate, largest_multiple
from entwined.bounds.contraction import tanh_quarter
from entwined.bounds.loopy import Messages, settled_messages
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.theorem import Knowledge
from entwined.dependence import Coupled, Couplings, Dependence
from entwined.errors import BadLoss, DoesNotApply
from entwined.loss import Loss
from entwined.numbers import FloatArray, float_below, positive_fraction

ROUNDS = 30
ENOUGH = 1e-6
MOST_UNITS = 3_000


def allocate(
    model: Dependence, target: float | str, importance: Loss, knowledge: Knowledge = "any"
) -> Calibration:
    """Minimise Σ importance_j / ε_j², the weighted squared noise scales, with every unit's leakage within the target.

    The leakage of message passing is concave in the losses, so its tangent at any loss lies above it: solving the convex
    problem with the tangent in its place gives losses that are allowed, never worse than the last, and round after
    round nearer to the optimum. The result is checked with the theorem itself, like any other calibration.
    """
    if importance.units != model.units or importance.per_unit.min() <= 0:
        raise BadLoss("Importance needs one number above zero a unit. Leave out the units that are not released.")
    ceiling = float_below(positive_fraction(target, "Leakage"))
    start = calibrate(model, target, knowledge)
    if not isinstance(model, Coupled):
        raise DoesNotApply(f"Allocation works on the messages, and a {model.kind} model has none. Use weights instead.")
    if model.units > MOST_UNITS:
        raise DoesNotApply(f"Allocation takes at most {MOST_UNITS} units, this model has {model.units}. Use weights instead.")
    best = largest_multiple(message_passing_bound, model, Loss.uniform(1, model.units), ceiling, knowledge)
    for _ in range(ROUNDS):
        slopes, rest = tangent(best.loss.per_unit, model.couplings)
        shape = cheapest(importance.per_unit, slopes, ceiling - rest)
        found = largest_multiple(message_passing_bound, model, Loss(shape), ceiling, knowledge)
        gain = 1 - cost(found, importance) / cost(best, importance)
        best = found if gain > 0 else best
        if gain < ENOUGH:
            break
    return best if cost(best, importance) <= cost(start, importance) else start


def cost(calibration: Calibration, importance: Loss) -> float:
    """The weighted sum of squared noise scales."""
    return float(np.sum(importance.per_unit / calibration.loss.per_unit**2))


def tangent(losses: FloatArray, couplings: Couplings) -> tuple[FloatArray, FloatArray]:
    """The slopes ∂L_i/∂ε_j of message passing where its messages are settled, and what the tangent leaves at zero loss."""
    system, messages = settled_messages(losses, couplings)
    leakage = system.leakage(messages)
    if messages.size == 0:
        return np.eye(losses.size), np.zeros(losses.size)
    of_unit, mates, siblings = incidence(system)
    gathered = system.gathered(leakage, messages)
    through, gate = tanh_quarter(gathered), tanh_quarter(system.graph.log_odds)
    gain = gate * (1 - through**2) / np.maximum(1 - (gate * through) ** 2, 1e-300)
    feedback = eye_array(messages.size) - diags_array(gain) @ mates @ siblings
    into = (diags_array(gain) @ mates @ of_unit).toarray()
    slopes = np.eye(losses.size) + of_unit.T @ splu(feedback.tocsc()).solve(into)
    return slopes, np.maximum(leakage - slopes @ losses, 0.0)


def incidence(system: Messages) -> tuple[csr_array, csr_array, csr_array]:
    """Entry to unit, entry to the other entries of its factor, entry to the other entries of its unit."""
    graph = system.graph
    entries = graph.unit.size
    places = np.arange(entries)
    of_unit = csr_array((np.ones(entries), (places, graph.unit)), shape=(entries, graph.units))
    of_factor = csr_array((np.ones(entries), (places, graph.factor)), shape=(entries, graph.sizes.size))
    itself = eye_array(entries, format="csr")
    return of_unit, csr_array(of_factor @ of_factor.T - itself), csr_array(of_unit @ of_unit.T - itself)


def cheapest(importance: FloatArray, slopes: FloatArray, room: FloatArray) -> FloatArray:
    """Minimise Σ importance/ε² subject to slopes·ε ≤ room, through its dual, and scale the answer into the room."""
    unit = float(np.cbrt(np.mean(importance)))

    def losses_at(prices: FloatArray) -> FloatArray:
        return np.cbrt(2 * importance / np.maximum(slopes.T @ prices, 1e-300))

    def dual(prices: FloatArray) -> tuple[float, FloatArray]:
        losses = losses_at(prices)
        worth = np.sum(importance / losses**2) + prices @ (slopes @ losses - room)
        return -float(worth), room - slopes @ losses

    start = np.full(room.size, 2 * unit**3 / float(np.mean(room)) ** 3)
    found = minimize(dual, start, jac=True, bounds=[(1e-12 * start[0], None)] * room.size, method="L-BFGS-B",
                     options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-12, "gtol": 1e-10})
    losses = losses_at(found.x)
    return losses * float(np.min(room / (slopes @ losses)))
