"""An attacker who draws worlds: for numbers that are no sums of what people add, such as what a k-means ends with.

What is unknown is drawn many times from the law, given the known values and each value of the target, and the
likelihood of a release is the mean over these worlds. So posteriors are near the truth and not exact: they show a leak,
and prove none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.audit.attacker import Looked, shifted
from entwined.audit.vectors import NoisyNumbers
from entwined.dependence import ProductLaw
from entwined.errors import BadInput
from entwined.noise import Additive
from entwined.numbers import FloatArray, IntArray

MOST_WORLDS: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class NoisyFunction:
    """Integers that a public function makes of whole populations, each published with a draw of one noise.

    The function is given populations, one a row and one column a unit, and gives `size` integers for each.
    """

    function: Callable[[IntArray], IntArray]
    size: int
    noise: Additive

    def exact(self, people: IntArray) -> IntArray:
        """Give what the function says."""
        found = np.asarray(self.function(people))
        if found.shape != (len(people), self.size) or found.dtype.kind not in "iu":
            raise BadInput(
                f"A function of people gave {found.shape} of {found.dtype}. Give {self.size} integers a row."
            )
        return found.astype(np.int64)

    def log_weights(self, outputs: IntArray, exact: IntArray) -> FloatArray:
        """Give the log of the chance of outputs where these are the exact numbers, up to a constant."""
        return np.asarray(self.noise.log_weights(outputs - exact).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class WorldDrawer:
    """Who knows the values of some units and draws so many worlds for every value of the target."""

    law: ProductLaw
    shown: tuple[NoisyNumbers, ...]
    target: int
    known: tuple[int, ...]
    worlds: int
    generator: np.random.Generator

    def __post_init__(self) -> None:
        if not 1 <= self.worlds <= MOST_WORLDS:
            raise BadInput(f"{self.worlds} worlds are drawn. Give 1 to {MOST_WORLDS:,}.")

    def learn(self, people: IntArray, outputs: IntArray) -> Looked:
        """Look at releases, each of the people in the same row, of whom only those that are known are looked at."""
        prior = np.empty((len(people), self.law.sizes[self.target]))
        seen = np.zeros(prior.shape)
        told, groups = np.unique(people[:, list(self.known)], axis=0, return_inverse=True)
        for number, values in enumerate(told.tolist()):
            rows = np.flatnonzero(groups.reshape(-1) == number)
            known = dict(zip(self.known, values, strict=True))
            prior[rows] = self.law.marginal(self.target, known)
            logs = [
                self._log_means(known | {self.target: value}, outputs[rows])
                if chance > 0
                else np.full(rows.size, -np.inf)
                for value, chance in enumerate(prior[rows[0]].tolist())
            ]
            likelihood = np.stack(logs, axis=1)
            seen[rows] = prior[rows] * np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        return shifted(prior, seen)

    def answers(self, person: IntArray) -> IntArray | None:  # noqa: ARG002  (what could be exact is not known)
        """Look at no more numbers than those that are published."""
        return None

    def _log_means(self, known: dict[int, int], outputs: IntArray) -> FloatArray:
        """Give the log of the mean likelihood of each output over worlds."""
        drawn = self.law.draw(self.worlds, self.generator, known)
        logs, first = np.zeros((len(outputs), self.worlds)), 0
        for one in self.shown:
            logs += one.log_weights(outputs[:, None, first : first + one.size], one.exact(drawn))
            first += one.size
        top = logs.max(axis=1)
        return np.asarray(top + np.log(np.exp(logs - top[:, None]).mean(axis=1)))
