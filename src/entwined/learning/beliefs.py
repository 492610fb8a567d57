"""What a tree says of rows: how likely each row is, and each answer given the others; what is hidden is summed out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from entwined.dependence import BayesNet
from entwined.errors import DoesNotApply
from entwined.learning.codes import NOT_ASKED, Codes
from entwined.learning.structure import parents_first
from entwined.numbers import FloatArray

Column: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Log chances: `rows` of each row, `answers` of each answer given the others, 0 where it was not asked."""

    rows: FloatArray
    answers: FloatArray

    @property
    def row_loss(self) -> float:
        """The mean log loss of a row, in nats."""
        return float(-self.rows.mean())

    def answer_losses(self, codes: Codes) -> FloatArray:
        """The mean log loss of each answer given the others, in nats, among those who were asked."""
        asked = (codes.values != NOT_ASKED).sum(axis=0)
        return np.asarray(-self.answers.sum(axis=0) / np.maximum(asked, 1))


def beliefs(model: BayesNet, codes: Codes) -> Beliefs:
    """Say what a law says of rows; the model's variables are the columns in their order, and then those hidden."""
    return (
        _of_network(model, codes) if any(len(each) > 1 for each in model.parents) else _of_tree(model, codes)
    )


def _of_network(model: BayesNet, codes: Codes) -> Beliefs:
    """Look up each answer given its parents, and with each value that it could have had its children's, too."""
    if model.hidden or (codes.values == NOT_ASKED).any():
        raise DoesNotApply("A variable has two parents, and something is hidden or blank. Give a tree.")
    values = codes.values.astype(np.int64)
    sizes = [len(each) for each in model.values]
    own, spoken = np.zeros(values.shape), [np.zeros((codes.rows, size)) for size in sizes]
    for child, (each, table) in enumerate(zip(model.parents, tables_of(model), strict=True)):
        scope = (*each, child)
        logs = np.log(table).reshape([sizes[one] for one in scope])
        shown = [values[:, one] for one in scope]
        own[:, child] = logs[tuple(shown)]
        for axis, one in enumerate(scope):
            others = [slice(None) if at == axis else place for at, place in enumerate(shown)]
            spoken[one] += np.moveaxis(logs, axis, -1)[tuple(others[:axis] + others[axis + 1 :])]
    given = [_chosen(held, codes.values[:, at]) for at, held in enumerate(spoken)]
    return Beliefs(own.sum(axis=1), np.stack(given, axis=1))


def _of_tree(model: BayesNet, codes: Codes) -> Beliefs:
    """Pass messages through a tree for all rows at once: up to the roots, and back."""
    tables, order = tables_of(model), parents_first(model.parents)
    shown = [_evidence(codes.values[:, at], len(model.values[at])) for at in range(len(codes.names))]
    shown += [np.zeros((codes.rows, len(values))) for values in model.values[len(codes.names) :]]
    held, up = list(shown), {}
    for node in reversed(order):
        for parent in model.parents[node]:
            up[node] = _through(held[node], tables[node].T)
            held[parent] = held[parent] + up[node]
    total, above = np.zeros(codes.rows), {}
    for node in order:
        if not model.parents[node]:
            above[node] = np.broadcast_to(np.log(tables[node][0]), held[node].shape)
            total += logsumexp(above[node] + held[node], axis=1)
        for parent in model.parents[node]:
            above[node] = _through(above[parent] + held[parent] - up[node], tables[node])
    columns = range(len(codes.names))
    given = [_chosen(above[at] + _from_below(at, model, up), codes.values[:, at]) for at in columns]
    return Beliefs(total, np.stack(given, axis=1))


def tables_of(model: BayesNet) -> Sequence[FloatArray]:
    """Give each variable's table, one row a joint value of its parents."""
    found: dict[int, FloatArray] = {}
    for block in model.blocks:
        tables = block.table.low.reshape(len(block.scope), -1, block.table.shape[-1])
        found |= dict(zip(block.scope[:, -1].tolist(), tables, strict=True))
    return [found[at] for at in range(model.units)]


def _evidence(column: Column, size: int) -> FloatArray:
    """0 for what was answered and −∞ for the rest; all 0 where nobody asked."""
    answered = np.where(np.arange(size) == column[:, None], 0.0, -np.inf)
    return np.where(column[:, None] == NOT_ASKED, 0.0, answered)


def _through(held: FloatArray, table: FloatArray) -> FloatArray:
    """Log (e^held @ table), row by row."""
    most = held.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(held - most) @ table) + most)


def _from_below(node: int, model: BayesNet, up: dict[int, FloatArray]) -> FloatArray | float:
    """What the children of a variable say of it."""
    return sum((up[child] for child, each in enumerate(model.parents) if node in each), 0.0)


def _chosen(held: FloatArray, column: Column) -> FloatArray:
    """The log chance of what was answered, 0 where nobody asked."""
    law = held - logsumexp(held, axis=1, keepdims=True)
    found = np.take_along_axis(law, np.maximum(column, 0)[:, None], axis=1)[:, 0]
    return np.where(column == NOT_ASKED, 0.0, found)
