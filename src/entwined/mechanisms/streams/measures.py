"""Whether a stream uses the δ that a release allows: whichever noise has the smaller error at the same price.

A promise without a δ is the stronger one, so a stream that was allowed a δ may go without. Which of the two is settled
by public facts alone: the horizon, the price, δ, the models. Laplace noise on a tree is the better below some thousand
steps at ε = 1, Gaussian noise through the square root of summing above.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from entwined.canonical import Document
from entwined.errors import EntwinedError
from entwined.mechanisms.streams.stream import Stream
from entwined.promise.promise import Promise

USE_DELTA: Final = "use_delta"


@dataclass(frozen=True, slots=True)
class NoiseOption:
    """One kind of noise for a stream: its promise, and its root mean squared error or why it cannot be had."""

    promise: Promise
    stream: Stream | None = None
    error: float = math.inf
    why_not: str = ""

    @property
    def delta(self) -> Fraction | None:
        """The δ that it uses."""
        return self.promise.measure.delta

    def document(self, unit: Fraction) -> Document:
        """The option as JSON, its error in the unit of the answers."""
        used = None if self.delta is None else float(self.delta)
        if self.stream is None:
            return {"delta": used, "why_not": self.why_not}
        return {"delta": used, "strategy": self.stream.strategy, "rms_error": self.error * float(unit)}


def noise_options(
    promises: Sequence[Promise], settle: Callable[[Promise], Stream]
) -> tuple[NoiseOption, ...]:
    """Settle a stream under each promise, the smallest error first; of equal ones the first given."""
    options = []
    for promise in promises:
        try:
            stream = settle(promise)
        except EntwinedError as reason:
            options.append(NoiseOption(promise, why_not=str(reason)))
        else:
            options.append(NoiseOption(promise, stream, math.sqrt(stream.mean_variance(promise))))
    return tuple(sorted(options, key=lambda option: option.error))
