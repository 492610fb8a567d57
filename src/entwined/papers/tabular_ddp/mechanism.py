"""Algorithm 1 as published, up to the noise: split, learn, find DS, draw Lap(n·DS / (k·ε)).

The answers themselves are never computed: the error of Q(X) + noise is the noise, and it is all that the paper's
figures show. Two more slips of the printed text concern the budget. Line 1 makes ⌊n/k⌋ chunks of at most k columns,
which leaves columns over unless k divides n; here there are ⌈n/k⌉ chunks, and by the paper's own count their
budgets then add up to ⌈n/k⌉·k/n times ε. And learning the network from the rows is not charged at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Final

import numpy as np

from entwined.errors import BadInput
from entwined.numbers import FloatArray
from entwined.papers.tabular_ddp.network import Counts, Network, learn_network
from entwined.papers.tabular_ddp.readings import Reading, dependent_sensitivity
from entwined.papers.tabular_ddp.surveys import PaperSurvey
from entwined.progress import report

AT_ONCE: Final = 4_000_000  # noises drawn at a time, 32 MB


@dataclass(frozen=True, slots=True)
class Chunk:
    """At most k neighbouring columns and the network learned over them."""

    counts: Counts
    network: Network

    @property
    def cells(self) -> int:
        """How many counts the histograms of its columns have."""
        return sum(self.counts.sizes)


@dataclass(frozen=True, slots=True)
class LearnedNetwork:
    """A survey after lines 1 to 3."""

    survey: PaperSurvey
    width: int
    chunks: tuple[Chunk, ...]

    @property
    def share(self) -> float:
        """k/n, the share of ε that a chunk may spend; all of it where one chunk holds every column."""
        return min(self.width / self.survey.questions, 1.0)

    @property
    def spent(self) -> float:
        """What the chunks' budgets add up to, as a multiple of ε, by the paper's own sequential composition."""
        return len(self.chunks) * self.share

    def noise_against_plain(self, sensitivities: Sequence[float]) -> float:
        """The root mean square noise over that of the plain Laplace mechanism."""
        ratio = self.scales(sensitivities, 1.0) / plain_scales(self.survey, 1.0)
        return float(np.sqrt(np.mean(ratio**2)))

    def sensitivities(self, reading: Reading) -> list[float]:
        """DS of every chunk (lines 4 to 6)."""
        return [dependent_sensitivity(chunk.counts, chunk.network, reading) for chunk in self.chunks]

    def scales(self, sensitivities: Sequence[float], epsilon: float) -> FloatArray:
        """The Laplace scale n·DS / (k·ε) of every published count (line 8)."""
        each = np.repeat(np.asarray(sensitivities, np.float64), [chunk.cells for chunk in self.chunks])
        return each / (self.share * epsilon)

    def bare_questions(self, sensitivities: Sequence[float]) -> int:
        """How many questions get no noise: their chunk has DS = 0."""
        chunks = zip(self.chunks, sensitivities, strict=True)
        return sum(len(chunk.counts.sizes) for chunk, one in chunks if one == 0)


def split_columns(columns: int, width: int) -> list[slice]:
    """SplitColumns: neighbours stay together, every chunk but the last has `width` columns."""
    if width < 1:
        raise BadInput(f"Chunks of {width} columns cannot be. Give a chunk size of 1 or more.")
    return [slice(first, min(first + width, columns)) for first in range(0, columns, width)]


def learn(survey: PaperSurvey, width: int) -> LearnedNetwork:
    """Lines 1 to 3: split the columns and learn a network over each chunk."""
    chunks = []
    places = split_columns(survey.questions, width)
    for done, place in enumerate(places):
        counts = Counts.of(survey.codes[:, place], survey.sizes[place])
        chunks.append(Chunk(counts, learn_network(counts)))
        report(f"{survey.name}, chunks of {width}", done + 1, len(places))
    return LearnedNetwork(survey, width, tuple(chunks))


def plain_scales(survey: PaperSurvey, epsilon: float) -> FloatArray:
    """The Laplace mechanism that the paper compares with: n histograms, sequential composition, scale n/ε."""
    return np.full(survey.cells, survey.questions / epsilon)


def draw(scales: FloatArray, trials: int, generator: np.random.Generator) -> FloatArray:
    """Noise for every count, one row a trial; seeded and of floating point, fit for figures only."""
    drawn: FloatArray = generator.laplace(size=(trials, len(scales)))
    drawn *= scales
    return drawn


def l2_errors(scales: FloatArray, trials: int, generator: np.random.Generator) -> FloatArray:
    """The L2 norm of a survey's noise, one figure a trial."""
    if not np.isfinite(scales).all():
        return np.full(trials, np.inf)
    block = max(1, AT_ONCE // len(scales))
    sizes = [min(block, trials - done) for done in range(0, trials, block)]
    return np.concatenate([np.linalg.norm(draw(scales, size, generator), axis=1) for size in sizes])


@dataclass(frozen=True, slots=True)
class Times:
    """CPU seconds of the three components that figure 8 shows."""

    learning: float
    sensitivity: float
    noise: float


def timed(
    survey: PaperSurvey, width: int, reading: Reading, generator: np.random.Generator
) -> tuple[LearnedNetwork, Times]:
    """Run Algorithm 1 once and time its components."""
    begun = process_time()
    learned = learn(survey, width)
    known = process_time()
    sensitivities = learned.sensitivities(reading)
    weighed = process_time()
    draw(learned.scales(sensitivities, 1.0), 1, generator)
    return learned, Times(known - begun, weighed - known, process_time() - weighed)
