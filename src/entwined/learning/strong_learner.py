"""A strong learner that foretells an answer from the others: boosted trees, averaged with what the model says."""

import importlib.util
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from entwined.errors import BadInput
from entwined.learning.codes import NOT_ASKED, Codes
from entwined.numbers import FloatArray

NAME: Final = "boosted trees beside it"
LOOKED_AT: Final = 12  # columns that tell most about an answer
UNSEEN: Final = 0.02  # how much of a foretelling is how common each answer is
TREES: Final = 25
LEAVES: Final = 6
FEWEST_IN_LEAF: Final = 5
STEP: Final = 0.15


def require_learner() -> None:
    """Refuse a check without the library that it needs."""
    if importlib.util.find_spec("sklearn") is None:
        raise BadInput(
            "A check needs a strong learner, and scikit-learn cannot be found. Install it with: "
            "pip install 'entwined[survey]'."
        )


def foretold(
    seen: Codes, held_out: Codes, columns: Sequence[int], information: FloatArray, model: FloatArray
) -> FloatArray:
    """Give the log chance of some answers of rows held out, one column each, 0 where nobody asked.

    `information` says how much columns tell about each other, and `model` the log chance by the model itself: who
    knows both takes the mean of the two.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    boosting = HistGradientBoostingClassifier(
        max_iter=TREES,
        learning_rate=STEP,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=FEWEST_IN_LEAF,
        l2_regularization=1.0,
        early_stopping=False,
    )
    with threadpool_limits(1):  # threads that wait for each other take far longer than they save
        found = [_learned(boosting, seen, held_out, column, information[column]) for column in columns]
    both = np.logaddexp(np.stack(found, axis=1), model[:, list(columns)]) - np.log(2)
    return np.where(held_out.values[:, list(columns)] == NOT_ASKED, 0.0, both)


def _learned(boosting: Any, seen: Codes, held_out: Codes, column: int, told: FloatArray) -> FloatArray:
    """Boost trees on the columns that tell most."""
    by_information = np.argsort(-np.where(np.arange(len(told)) == column, -1.0, told), kind="stable")
    looked_at = np.sort(by_information[: min(LOOKED_AT, len(told) - 1)])
    there = seen.values[:, column] != NOT_ASKED
    answers, asked = seen.values[there, column], held_out.values[:, column]
    common = np.bincount(answers, minlength=seen.sizes[column]) + 1.0
    law = np.broadcast_to(common / common.sum(), (len(asked), len(common)))
    if len(np.unique(answers)) > 1 and looked_at.size:
        trees = boosting.fit(seen.values[there][:, looked_at], answers)
        boosted = np.zeros(law.shape)
        boosted[:, trees.classes_] = trees.predict_proba(held_out.values[:, looked_at])
        law = (1 - UNSEEN) * boosted + UNSEEN * law
    return np.log(_taken(law, asked))


def _taken(law: FloatArray, asked: NDArray[np.int32]) -> FloatArray:
    return np.take_along_axis(law, np.maximum(asked, 0)[:, None], axis=1)[:, 0]
