"""What Gaussian noise shows, roughly and quickly, while a search looks for how much of it each statistic gets.

Profiles are passed on one coarse grid. What a message tells is summed up by one number: the ρ of Gaussian noise with
the same moment, at the order that decides at the target. Such numbers add up where parts compose, and how each
neighbour's number moves with that of the parts behind it is seen by making all losses a little larger; so the
leakage about every unit follows from each loss by products along the tree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from entwined.bounds.allocate import Pressure
from entwined.bounds.kernel import Forest, Link
from entwined.bounds.profiles.composition import TILTS, Composition
from entwined.bounds.profiles.curves import GaussianCurve, largest_shift
from entwined.bounds.profiles.gaussian import shift_of
from entwined.bounds.profiles.passing import Sways, parts_of, read_rows
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sweeping import Sweep
from entwined.bounds.separable import known_forest, tilted_forest
from entwined.bounds.separable_forms import CellSecrets
from entwined.bounds.theorem import Knowledge
from entwined.dependence import Coupled
from entwined.loss import Leakage
from entwined.numbers import ULP, FloatArray, IntArray

POINTS: Final = 256
REACH: Final = 1.5  # where the grid ends, in targets
LARGEST_TILT: Final = 20.0  # e to it times what is lost to rounding is still nothing
LARGER: Final = 0.05  # by which share losses are made larger to see what moves
REMEMBERED: Final = (
    8  # sweeps: slopes begin where a leakage was read, and some secrets are told by the same parts
)


@dataclass(frozen=True, eq=False)
class Swept:
    """What each node of a forest holds, and what each link took and gave: a moment, at the order that decides."""

    held: Composition
    took: Mapping[Link, float]
    gave: Mapping[Link, float]


@dataclass(frozen=True, eq=False)
class Fit:
    """What a theorem says of each unit, `times` what a sketch says and `beside` it a share of each histogram's ρ."""

    times: FloatArray
    beside: FloatArray

    def corrected(self, units: IntArray, rhos: FloatArray, losses: FloatArray) -> FloatArray:
        """Give the ρ of some units in place of those of a sketch."""
        return self.times[units] * rhos + self.beside[units] @ losses

    def slopes(self, units: IntArray, slopes: FloatArray) -> FloatArray:
        """Give how these move with each histogram's ρ."""
        return self.times[units, None] * slopes + self.beside[units]


@dataclass(frozen=True, eq=False)
class NoiseSketch:
    """Histograms with Gaussian noise, about as the theorems bound them.

    `charged` says what ρ each unit has of each histogram's; units are the answers and, if there are forms, the form.
    """

    answers: Coupled
    knowledge: Knowledge
    secrets: tuple[CellSecrets, ...]
    charged: FloatArray
    delta: Fraction
    ceiling: float
    secret_form: bool = False
    fit: Fit | None = None
    power: int = 1
    close: float = 3e-4
    fits: int = 0
    _passed: dict[bytes, Swept] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> int:
        """How many histograms there are."""
        return int(self.charged.shape[1])

    @property
    def start(self) -> FloatArray:
        """Equal shares of what one unit alone may have."""
        return np.full(self.columns, self.shift**2 / self.columns)

    def sketch(self, ceiling: float, losses: FloatArray | None = None) -> "NoiseSketch":  # noqa: ARG002  (it is one)
        """Itself."""
        return self

    def fitted(self, losses: FloatArray, leakage: Leakage) -> "NoiseSketch":
        """Take off what a fine grid tells less than this one does.

        What is told more is laid to the histograms that not all forms have, in proportion to their ρ.
        """
        true, here = self.alone(leakage.per_unit), self.alone(self.leakage(losses).per_unit)
        times = np.divide(true, here, out=np.ones(here.size), where=here > 0)
        asked = np.append(
            np.all([case.read for case in self.secrets], axis=0),
            np.ones(self.columns - self.answers.units, dtype=bool),
        )
        beside = np.maximum(true - here, 0.0)[:, None] * ~asked / max(~asked @ losses, ULP)
        return replace(self, fit=Fit(np.minimum(times, 1.0), beside))

    def leakage(self, losses: FloatArray) -> Leakage:
        """Give about the leakage of every unit."""
        rhos = self.charged @ losses
        worst = np.zeros(rhos.size)
        for case in self.secrets:
            found = self.shown(case, self.passed(case, rhos), rhos)
            worst[case.questions] = np.maximum(worst[case.questions], found)
        if self.secret_form:
            worst[-1] = PrivacyProfile.of(curve_of(rhos[-1]), self.grid).epsilon(self.delta)
        return Leakage(self.leaks(self.corrected(np.arange(rhos.size), self.alone(worst), losses)))

    def pressure(self, losses: FloatArray, ceiling: float) -> Pressure:
        """Say how each unit's leakage, as the ρ that leaks as much alone, moves with each histogram's ρ."""
        most = self.alone(np.array([ceiling]))[0]
        form = np.arange(self.answers.units, len(self.charged))
        about = [(form, self.charged[form], self.charged[form] @ losses)]
        about += [
            (case.questions, *self.slopes(case, losses)) for case in self.secrets if case.questions.size
        ]
        rows, room = [], []
        for units, slopes, now in about:
            fitted = slopes if self.fit is None else self.fit.slopes(units, slopes)
            rows.append(fitted)
            room.append(most - self.corrected(units, now, losses) + fitted @ losses)
        return Pressure(np.vstack(rows), np.concatenate(room))

    def corrected(self, units: IntArray, rhos: FloatArray, losses: FloatArray) -> FloatArray:
        """Give the ρ of units as a fit has them."""
        return rhos if self.fit is None else self.fit.corrected(units, rhos, losses)

    def slopes(self, case: CellSecrets, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give ∂ρ_i/∂ρ_j of the questions of a case, right for losses that all grow alike, and ρ_i itself."""
        rhos = self.charged @ losses
        before, after = (self.passed(case, rhos * factor) for factor in (1, 1 + LARGER))
        now, then = (
            self.alone(self.shown(case, one, rhos * factor))
            for one, factor in ((before, 1), (after, 1 + LARGER))
        )
        gain = {link: self.gain(before, after, link) for link in before.took}
        forest, _ = self.forest
        every = forest.sweep(list(np.eye(len(forest.order))), lambda j, i, held: gain[j, i] * held, np.add)
        units = self.answers.units
        inside = np.array(every)[case.questions, :units] * case.read
        slopes = inside @ self.charged[:units] + case.blank * self.charged[-1]
        about = slopes @ losses
        grown = (then - now) / LARGER
        seen = (about > 0) & (grown > 0) & np.isfinite(grown)  # not beyond the end of the grid
        right = np.divide(grown, about, out=np.ones(about.size), where=seen)
        return slopes * right[:, None], now

    def passed(self, case: CellSecrets, rhos: FloatArray) -> Swept:
        """Pass profiles of the parts that a case reads; what was passed lately is remembered."""
        each = np.zeros(len(self.forest[0].order))
        each[: self.answers.units] = np.where(case.read, rhos[: self.answers.units], 0.0)
        key = each.tobytes()
        if key not in self._passed:
            if len(self._passed) >= REMEMBERED:
                self._passed.clear()
            self._passed[key] = self._swept(each)
        return self._passed[key]

    def _swept(self, each: FloatArray) -> Swept:
        """Pass profiles of parts with these ρ."""
        forest, sways = self.forest
        parts, held = parts_of([[curve_of(rho) for rho in each]], self.grid)
        took: dict[Link, float] = {}
        gave: dict[Link, float] = {}

        def watch(links: Sequence[Link], taken: Composition, given: Composition) -> None:
            took.update(zip(links, taken.moments[:, self.order].tolist(), strict=True))
            gave.update(zip(links, given.moments[:, self.order].tolist(), strict=True))

        stack, (rows,) = Sweep(forest, sways, parts, held, [range(len(each))], watch).whole()
        return Swept(stack.rows(rows), took, gave)

    def shown(self, case: CellSecrets, passed: Swept, rhos: FloatArray) -> FloatArray:
        """Read the ε of the questions of a case at δ."""
        if not case.questions.size:
            return np.zeros(0)
        moved = Composition.of(PrivacyProfile.of(curve_of(rhos[-1]), self.grid)) if case.blank else None
        read = read_rows(passed.held, case.questions.tolist(), moved)
        return PrivacyProfile.stacked(read).epsilons(self.delta)

    def alone(self, epsilons: FloatArray) -> FloatArray:
        """Give about the ρ of Gaussian noise that has these ε at δ, from ε = μ²/2 + μz with z that of the target."""
        off = self.ceiling / self.shift - self.shift / 2
        return np.asarray((np.sqrt(off**2 + 2 * epsilons) - off) ** 2 / 2)

    def leaks(self, rhos: FloatArray) -> FloatArray:
        """Give about the ε at δ of Gaussian noise of this ρ: the same the other way round."""
        off = self.ceiling / self.shift - self.shift / 2
        return np.asarray(rhos + np.sqrt(2 * rhos) * off)

    def gain(self, before: Swept, after: Swept, link: Link) -> float:
        """How much of what a link takes more it gives more; in moments, which for Gaussian noise are ρ times s + s²."""
        more, given = after.took[link] - before.took[link], after.gave[link] - before.gave[link]
        return max(given / more, 0.0) if more > 0 else 0.0

    @cached_property
    def order(self) -> int:
        """Which order of the moments is nearest to the one that decides, of those that rounding leaves alone."""
        wanted = self.ceiling / self.shift**2 - 0.5
        sound = TILTS[TILTS <= LARGEST_TILT]
        return int(np.argmin(np.abs(np.log(sound / self.grid.reach / wanted))))

    @cached_property
    def forest(self) -> tuple[Forest, Sways]:
        """The tree of the answers, and how much of each neighbour's law moves."""
        return (known_forest if self.knowledge == "model" else tilted_forest)(self.answers)

    @cached_property
    def shift(self) -> float:
        """The shift of Gaussian noise that alone leaks the target."""
        return largest_shift(Fraction(self.ceiling), self.delta)

    @cached_property
    def grid(self) -> Grid:
        """One grid for all."""
        return Grid.up_to(REACH * self.ceiling, POINTS)


def curve_of(rho: float) -> GaussianCurve:
    """What Gaussian noise of this ρ shows."""
    return GaussianCurve(shift_of(Fraction(rho)))
