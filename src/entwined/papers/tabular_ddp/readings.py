"""The dependent sensitivity of Algorithm 1, lines 4 to 6, in every way the paper can be read.

What is printed and what is meant differ in four places.

The ratio. Line 5 prints a ratio of joint probabilities; the text below it a ratio of conditional ones, and section
3.2 defines the printed symbol as a conditional one. Joint ratios are large even for independent columns, so the
conditional ratio is meant. With several parents, section 3.2 speaks of pairs (`pair`: the other parents averaged
out) and section 4 of the conditional probability table (`family`: the other parents held fixed).

Zeros. An answer that never occurs together with another makes the ratio infinite, and so the noise. Nearly every
learned chunk has such a pair, and the paper reports finite noise, so zeros were left out or smoothed away.

The total. Line 6 prints the sum over all edges. Its proof only needs the largest sum over the edges of one answer
(Lemma 2). The paper reports that error falls as chunks grow, which a sum over ever more edges does not do.

The unit. A dependence coefficient of Liu et al. is a share of a loss and at most 1; line 5 is a log ratio that can be
any number, is divided by a loss all the same, and leaves out the answer itself (its coefficient with itself is 1).
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from entwined.numbers import FloatArray, IntArray
from entwined.papers.tabular_ddp.network import Counts, Network

Ratio = Literal["pair", "family"]
Zeros = Literal["kept", "skipped", "smoothed"]
Total = Literal["sum", "answer", "edge"]

TOTALS: Final[dict[Total, str]] = {
    "sum": "sum over edges (line 6)",
    "answer": "largest sum of one answer (Lemma 2)",
    "edge": "largest single coefficient",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read lines 4 to 6; the default is what is printed, with zeros left out to keep it finite."""

    ratio: Ratio = "pair"
    zeros: Zeros = "skipped"
    total: Total = "sum"

    def __str__(self) -> str:
        return f"{self.ratio} ratios, zeros {self.zeros}, {TOTALS[self.total]}"


PRINTED: Final = Reading()
BY_LEMMA: Final = Reading(total="answer")
BY_FIGURES: Final = Reading(total="edge")  # the one whose gains follow the paper's figures


def coefficient(counts: IntArray, axis: int, zeros: Zeros) -> float:
    """The largest log ratio of Pr[child | parents] along one parent's axis; the child's axis is the last."""
    weights: FloatArray = counts.astype(np.float64) + float(zeros == "smoothed")
    totals = weights.sum(axis=-1, keepdims=True)
    seen = np.broadcast_to(totals > 0, weights.shape) if zeros == "kept" else weights > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(weights / totals)
    highest = np.where(seen, logs, -np.inf).max(axis=axis)
    lowest = np.where(seen, logs, np.inf).min(axis=axis)
    apart = highest > lowest
    return float((highest[apart] - lowest[apart]).max(initial=0.0))


def coefficients(counts: Counts, network: Network, reading: Reading) -> dict[tuple[int, int], float]:
    """ρ for every learned edge (parent, child)."""
    found = {}
    for parent, child in network.edges:
        above = (parent,) if reading.ratio == "pair" else network.parents[child]
        table = counts.table((*above, child))
        found[parent, child] = coefficient(table, above.index(parent), reading.zeros)
    return found


def dependent_sensitivity(counts: Counts, network: Network, reading: Reading) -> float:
    """DS of one chunk: 0 where no edge was learned, and then Algorithm 1 adds no noise."""
    found = coefficients(counts, network, reading)
    if reading.total == "edge":
        return max(found.values(), default=0.0)
    if reading.total == "sum":
        return sum(found.values())
    return max(_of_answer(found, answer) for answer in range(len(network.sizes)))


def _of_answer(found: dict[tuple[int, int], float], answer: int) -> float:
    return sum((one for edge, one in found.items() if answer in edge), start=0.0)
