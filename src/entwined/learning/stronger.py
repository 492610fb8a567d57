"""The sensitivity curve: what the same losses leak if the true dependence is stronger than the model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from entwined.bounds import Knowledge, bound
from entwined.dependence import BayesNet, Box
from entwined.errors import BadInput
from entwined.loss import Loss

SHARES: Final = (0.0, 0.1, 0.25, 0.5)


def sensitivity_curve(
    model: BayesNet, loss: Loss, knowledge: Knowledge = "any", shares: Sequence[float] = SHARES
) -> dict[float, float]:
    """Bound what the same losses leak if every log odds ratio were larger by these shares.

    >>> from entwined.dependence import Variable
    >>> flip = [[0.9, 0.1], [0.1, 0.9]]
    >>> pair = [Variable("a", ("0", "1"), (), [[0.5, 0.5]]), Variable("b", ("0", "1"), ("a",), flip)]
    >>> curve = sensitivity_curve(BayesNet.of(pair), Loss.uniform(1, 2))
    >>> [round(leakage, 3) for leakage in curve.values()]
    [1.794, 1.831, 1.875, 1.926]
    """
    return {share: bound(stronger(model, share), loss, knowledge).leakage.worst for share in shares}


def stronger(model: BayesNet, share: float) -> BayesNet:
    """Make every log odds ratio larger by a share: each chance to the power 1 + share, rows summing to 1 again.

    The sums of rows cancel in the odds ratios between a column and one parent while other parents are held
    fixed, so these grow by exactly that power; on a tree these are all there are.
    """
    if not 0 <= share < np.inf:
        raise BadInput(f"Log odds larger by {share}. Give a share from 0, such as 0.25.")
    if not all(block.table.is_exact for block in model.blocks):
        raise BadInput(
            "The chances are known only as intervals, which already hold stronger laws. Bound those."
        )
    tables: list[Any] = [None] * model.units
    for block in model.blocks:
        binds = block.scope.shape[1] > 1
        raised = block.table.low ** (1 + share if binds else 1)
        laws = raised / raised.sum(axis=-1, keepdims=True)
        box = Box.exact(laws.reshape(len(block.scope), -1, laws.shape[-1]))
        for child, table in zip(block.scope[:, -1].tolist(), box.document, strict=True):
            tables[child] = table
    parents = [[model.names[cause] for cause in causes] for causes in model.parents]
    made = BayesNet.of_columns(model.names, model.values, parents, tables, model.source)
    return replace(made, learned_from=model.learned_from)
