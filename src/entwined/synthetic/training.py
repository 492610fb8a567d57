"""Train on synthetic, test on real: how often a model that never saw a real row is right about real people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from entwined.errors import BadInput
from entwined.learning.codes import Codes
from entwined.numbers import IntArray
from entwined.synthetic.softmax import features, fitted
from entwined.synthetic.telling_apart import QUANTILE, evenly

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_ROWS: Final = 20_000


class Trained(NamedTuple):
    """How often each model says the target of a real person rightly."""

    target: str
    on_real: float
    on_synthetic: float
    constant: float
    """Who always says the commonest value."""
    half_width: float
    people: int


def trained(real: Codes, synthetic: Codes, target: str) -> Trained:
    """Train the same classifier on half of the real rows and on as many synthetic ones; test on the other half."""
    if target not in real.names:
        raise BadInput(f"There is no column {target!r} to be foretold. Name one of {', '.join(real.names)}.")
    place = real.place(target)
    columns = [at for at in range(len(real.names)) if at != place]
    if not columns:
        raise BadInput("A model needs a second column to learn from. Compare more columns.")
    chosen = evenly(real.rows, MOST_ROWS)
    learn, test = real.some(chosen[::2]), real.some(chosen[1::2])
    made = synthetic.some(evenly(synthetic.rows, learn.rows))
    if not test.rows:
        raise BadInput("One real row cannot both teach and test. Give a table of more rows.")
    seen, truth = features(test, columns, pairs=False), test.values[:, place].astype(np.int64)
    on_real, on_synthetic = (_right(part, seen, truth, columns, place) for part in (learn, made))
    commonest = np.bincount(learn.values[:, place]).argmax()
    spread = np.sqrt(on_synthetic * (1 - on_synthetic) / len(truth))
    return Trained(
        target,
        on_real,
        on_synthetic,
        float((truth == commonest).mean()),
        QUANTILE * float(spread),
        len(truth),
    )


def _right(learn: Codes, seen: "csr_array", truth: IntArray, columns: Sequence[int], place: int) -> float:
    """Train on some rows, and say how often the target of others is found."""
    labels = learn.values[:, place].astype(np.int64)
    model = fitted(features(learn, columns, pairs=False), labels, learn.sizes[place])
    return float((model.guesses(seen) == truth).mean())
