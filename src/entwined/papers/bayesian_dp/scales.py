"""The Laplace scale that each bound asks for on a chain, for a sum that every step changes by at most 1."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from entwined.bounds.calibrate import calibrate, largest_multiple
from entwined.bounds.group import group_bound
from entwined.bounds.markov import markov_closed_form_bound
from entwined.bounds.quilt import markov_quilt_bound
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.dependence import MarkovChain
from entwined.errors import DoesNotApply, Unreachable
from entwined.loss import Loss
from entwined.papers.bayesian_dp.count_attack import CountAttack, scale_if_states_are_known_by_twos
from entwined.papers.bayesian_dp.series import Series

TARGETS: Final = (0.2, 1.0, 5.0)
ADVERSARIES: Final[tuple[Knowledge, ...]] = ("model", "values", "any")
KNOWS: Final = {"model": "the chain", "values": "any values too", "any": "anything of single steps"}
SPARE: Final = 1e-6


class ScaleRow(NamedTuple):
    """What one leakage of one chain costs; None where a bound does not speak of that adversary or reach it."""

    series: str
    counts: str
    states: int
    steps: int
    knowledge: str
    target: float
    group: float
    closed_form: float | None
    quilt: float | None
    ours: float
    theorem: str
    attack: float

    @property
    def is_least(self) -> bool:
        """Whether no other bound asks for less noise, and no attack for more."""
        others = [one for one in (self.group, self.closed_form, self.quilt) if one is not None]
        return self.attack <= self.ours * (1 + SPARE) and self.ours <= min(others) * (1 + SPARE)

    @property
    def ratio(self) -> float:
        """How many times the noise that an attack shows to be needed."""
        return self.ours / self.attack


def scale_of(theorem: Theorem, chain: MarkovChain, target: float) -> float | None:
    """Give what one theorem asks for, if it speaks of the chain and reaches the target."""
    try:
        shape = Loss.uniform(1, chain.length)
        return 1 / largest_multiple(theorem, chain, shape, target, theorem.knowledge).multiple
    except (DoesNotApply, Unreachable):
        return None


def our_scale(chain: MarkovChain, target: float, knowledge: Knowledge) -> tuple[float, str]:
    """Give what the best theorem asks for, and its name."""
    found = calibrate(chain, target, knowledge)
    return 1 / found.multiple, found.theorem.name


def scale_rows(
    series: Sequence[Series],
    targets: Sequence[float] = TARGETS,
    adversaries: Sequence[Knowledge] = ADVERSARIES,
) -> Iterator[ScaleRow]:
    """Compute the table: raw and smoothed counts, every target, every adversary."""
    for one in series:
        for smoothed in (False, True):
            chain = one.chain(smoothed=smoothed)
            attack = CountAttack.on(chain)
            told = one.name, "smoothed" if smoothed else "raw", chain.states, chain.length
            for target in targets:
                count = attack.least_scale(target)
                by_twos = max(count, scale_if_states_are_known_by_twos(chain, target))
                group, closed, quilt = (
                    scale_of(theorem, chain, target)
                    for theorem in (group_bound, markov_closed_form_bound, markov_quilt_bound)
                )
                for knowledge in adversaries:
                    ours, name = our_scale(chain, target, knowledge)
                    yield ScaleRow(
                        *told,
                        knowledge,
                        target,
                        float(group or 0.0),
                        closed,
                        quilt if knowledge == "model" else None,
                        ours,
                        name,
                        by_twos if knowledge == "any" else count,
                    )
