"""The plain classifier ends where a library's minimiser ends."""

import numpy as np
import pytest
from scipy.optimize import minimize

from entwined.learning.codes import Codes
from entwined.synthetic.softmax import FLAT, RIDGE, ROUNDS, features, fitted


@pytest.mark.parametrize("classes", [2, 4])
def test_the_classifier_is_the_one_of_least_loss(classes):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, classes, 1500)
    other = np.where(rng.random(1500) < 0.6, labels, rng.integers(0, 6, 1500))
    codes = Codes.of(
        {"a": 6, "b": 5, "c": 4}, np.stack([other, labels % 2, rng.integers(0, 4, 1500)], axis=1)
    )
    given = features(codes, range(3), pairs=True)

    def loss(flat):
        weights = flat.reshape(-1, classes)
        scores = given @ weights
        told = scores[np.arange(1500), labels] - np.log(np.exp(scores).sum(axis=1))
        return float(-told.mean() + RIDGE / 2 * (flat**2).sum())

    found = fitted(given, labels, classes).weights.ravel()
    best = minimize(loss, np.zeros(given.shape[1] * classes), method="L-BFGS-B", options={"maxiter": ROUNDS})
    assert loss(found) <= best.fun + 1e-4
    assert loss(found) < loss(np.zeros_like(found)) - 0.1
    assert 0 < FLAT < RIDGE
