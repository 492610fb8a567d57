"""Leakage grows with losses, whichever theorem bounds it."""

import numpy as np

from entwined.loss import Loss
from support import draw
from support.product import product_model


def leaks_more_as_losses_grow(theorem, model, seed):
    """From tiny to huge losses: finite, never below a unit's own loss, never above the sum, and rising."""
    weights, before = np.random.default_rng(seed).uniform(0, 1, model.units), np.zeros(model.units)
    weights[::5] = 0.0
    for size in (0.0, 1e-300, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0, 50.0, 1e4):
        leakage = theorem(Loss.of(size * weights), model).per_unit
        assert np.isfinite(leakage).all()
        assert (leakage >= before * (1 - 1e-14)).all()
        assert (leakage >= size * weights).all()
        assert (leakage <= (size * weights).sum() * (1 + 1e-12)).all()
        before = leakage


def no_unit_leaks_less_for_more_loss(theorem, seed, slack):
    """On drawn chains and trees, one loss made larger at a time."""
    rng = np.random.default_rng(seed)
    for place in range(60):
        drawn = (draw.chain if place % 2 else draw.tree)(rng)
        model, more = product_model(drawn), drawn.losses.copy()
        more[rng.integers(more.size)] *= rng.uniform(1, 3)
        less_leakage, more_leakage = (
            theorem(Loss.of(losses), model).per_unit for losses in (drawn.losses, more)
        )
        assert (more_leakage >= less_leakage * (1 - slack)).all()
