"""Leakage messages along a chain: one pass each way, and a ceiling where a long chain settles."""

import numpy as np

from entwined.bounds.contraction import contract_one
from entwined.loss import Loss
from entwined.numbers import ULP, FloatArray, round_up

PATIENCE = 32  # how many steps to go before asking again whether the messages have settled
HEADROOM = 1.0 + 2.0**-40


def chain_leakage(loss: Loss, log_odds: float) -> FloatArray:
    """ε_i plus what comes in from the past and from the future."""
    if loss.common is not None:
        past = settling_messages(loss.common, log_odds, loss.units)
        return round_up(loss.common + past + past[::-1])
    losses = loss.per_unit.tolist()
    past = passing_messages(losses, log_odds)
    future = passing_messages(losses[::-1], log_odds)[::-1]
    return round_up(loss.per_unit + past + future)


def passing_messages(losses: list[float], log_odds: float) -> FloatArray:
    """F_t = T(ε_{t−1} + F_{t−1}; Δ), the message that reaches each step from those before it."""
    messages = np.empty(len(losses))
    message = 0.0
    for step, epsilon in enumerate(losses):
        messages[step] = message
        message = contract_one((epsilon + message) * (1 + ULP), log_odds)
    return messages


def settling_messages(epsilon: float, log_odds: float, length: int) -> FloatArray:
    """The same for equal losses: they climb to the solution of F = T(ε + F; Δ), and stay below any F ≥ T(ε +
    F; Δ).
    """
    messages = np.empty(length)
    message = 0.0
    for step in range(length):
        messages[step] = message
        message = contract_one((epsilon + message) * (1 + ULP), log_odds)
        if step % PATIENCE == 0:
            ceiling = message * HEADROOM
            if contract_one((epsilon + ceiling) * (1 + ULP), log_odds) <= ceiling:
                messages[step + 1 :] = ceiling
                break
    return messages
