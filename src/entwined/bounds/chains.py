"""Leakage messages along a chain: one pass each way, and a ceiling where a long chain settles."""

import math

import numpy as np

from entwined.bounds.contraction import contract, contract_one
from entwined.loss import Loss
from entwined.numbers import ULP, FloatArray, round_up

PATIENCE = 32  # how many steps to go before asking again whether the messages have settled
HEADROOM = 1.0 + 2.0**-40
LONG = 8192  # after so many steps that did not settle, messages are proposed in closed form
LARGEST_ODDS = 600.0  # above it the closed form leaves the range of floats
SPARE = 1e-9  # the share by which proposed messages are raised, so that they follow from each other


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
        if step == LONG and epsilon > 0 and log_odds < LARGEST_ODDS:
            proposed = proposed_messages(epsilon, log_odds, length)
            held = (epsilon + proposed[:-1]) * (1 + ULP)
            follows = contract(held, np.full(held.shape, log_odds)) <= proposed[1:]
            if follows.all():  # it is not where one is no number
                return proposed
    return messages


def proposed_messages(epsilon: float, log_odds: float, length: int) -> FloatArray:
    """Give F_t in closed form, slightly raised; whoever uses it checks that each follows from the one before.

    In y = e^{F/2} a step is the fraction (s d y + 1) / (s y + d), d = e^{Δ/2} and s = e^{ε/2}, which has two fixed
    points. The ratio of the distances to them shrinks by the same factor at each step.
    """
    loss = epsilon * (1 + SPARE)
    d, s, grown = math.exp(log_odds / 2), math.exp(loss / 2), math.expm1(loss / 2)
    middle = d * grown / (2 * s)
    reach = math.hypot(middle, 1 / math.sqrt(s))
    high, low = middle + reach, -1 / (s * (middle + reach))
    with np.errstate(under="ignore", invalid="ignore", over="ignore"):
        shrinks = math.log(s) + math.log(d - 1) + math.log(d + 1) - 2 * math.log(s * high + d)
        ratio = (1 - high) / (1 - low) * np.exp(np.arange(length) * shrinks)
        grown_by = ((high - 1) - ratio * (low - 1)) / (1 - ratio)  # y − 1, without loss where it is small
        messages = np.asarray(2 * np.log1p(grown_by) * (1 + SPARE))
    messages[0] = 0.0
    return messages
