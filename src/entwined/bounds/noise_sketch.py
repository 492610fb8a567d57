"""What Gaussian noise shows, roughly and quickly, while a search looks for how much of it each statistic gets.

Profiles are passed on one coarse grid, at some losses and at slightly larger ones. Near those each message is about a
power of what it is made of (`power_law`), so that a search of many steps passes numbers in place of profiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from entwined.bounds.allocate import Pressure
from entwined.bounds.kernel import Forest, Link
from entwined.bounds.pairs import KNOWN, TILTED, Crossings, Ways
from entwined.bounds.power_law import Heard, LinkMoments, Power, PowerLaws
from entwined.bounds.profiles.composition import TILTS, Composition
from entwined.bounds.profiles.curves import GaussianCurve, largest_shift
from entwined.bounds.profiles.gaussian import shift_of
from entwined.bounds.profiles.passing import parts_of, read_rows
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sweeping import PassedOn, Sweep
from entwined.bounds.separable_forms import CellSecrets
from entwined.bounds.theorem import Knowledge
from entwined.dependence import Coupled
from entwined.loss import Leakage
from entwined.numbers import ULP, FloatArray, IntArray

POINTS: Final = 128
FINE: Final = 256  # where they are quick to pass
REACH: Final = 1.5  # where the grid ends, in targets
LARGEST_TILT: Final = 20.0  # e to it times what is lost to rounding is still nothing
KEPT: Final = 3
LARGER: Final = 0.05  # by which share losses are made larger to see what moves


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms with Gaussian noise, and what they are to keep.

    `charged` says what ρ each unit has of each histogram's; units are the answers and, if there are forms, the form.
    """

    answers: Coupled
    knowledge: Knowledge
    secrets: tuple[CellSecrets, ...]
    charged: FloatArray
    delta: Fraction
    ceiling: float
    secret_form: bool = False

    @cached_property
    def start(self) -> FloatArray:
        """The same for each, so much that about the target is leaked: ρ grows with its square."""
        columns = int(self.charged.shape[1])
        equal = np.full(columns, self.shift**2 / columns)
        rhos = self.charged @ equal
        told = [one for _, one in self._swept(rhos)]
        most = float(np.concatenate([*told, self.leaks(rhos[self.answers.units :])]).max())
        return np.asarray(equal * (self.ceiling / most) ** 2)

    def near(self, losses: FloatArray, leakage: Leakage | None = None) -> "NoiseSketch":
        """What is shown near some losses, held against what a theorem says of them."""
        rhos = self.charged @ losses
        befores, afters = (self._swept(rhos * by) for by in (1.0, 1 + LARGER))
        cases = []
        for case, (before, told), (after, then) in zip(self._asked, befores, afters, strict=True):
            laws = PowerLaws(
                self.forest[0], {link: Power.of(before[link], after[link]) for link in before}, self.unit
            )
            grown = np.log(np.maximum(self.alone(then), ULP) / np.maximum(self.alone(told), ULP))
            cases.append(CaseSketch.of(case, laws, rhos, self.alone(told), grown / np.log1p(LARGER)))
        seen = SeenNear(tuple(cases), np.ones(rhos.size), np.zeros(self.charged.shape), np.zeros(rhos.size))
        return NoiseSketch(self, (seen if leakage is None else self._fitted(seen, losses, leakage),))

    @property
    def _asked(self) -> list[CellSecrets]:
        return [case for case in self.secrets if case.questions.size]

    def _fitted(self, seen: "SeenNear", losses: FloatArray, leakage: Leakage) -> "SeenNear":
        """Take off what a fine grid tells less than this one does.

        What is told more is told by filled blanks: in proportion to the ρ of what not all forms ask, and to what others
        tell of that.
        """
        rhos = self.charged @ losses
        true, here = self.alone(leakage.per_unit), self.told(seen, losses)
        times = np.divide(true, here, out=np.ones(here.size), where=here > 0)
        gated = np.zeros(losses.size)
        gated[: self.answers.units] = ~np.all([case.read for case in self.secrets], axis=0)
        others = np.zeros(losses.size)
        for one in seen.cases:
            slopes, _ = one.slopes(rhos, self.charged)
            slopes[np.arange(len(slopes)), one.case.questions] = 0.0
            others += (gated * losses)[one.case.questions] @ slopes
        each = sum(one / max(float(one @ losses), ULP) for one in (gated, others))
        more = np.maximum(true - here, 0.0)
        return SeenNear(seen.cases, np.minimum(times, 1.0), more[:, None] * each, more)

    def told(self, seen: "SeenNear", losses: FloatArray) -> FloatArray:
        """The ρ that tells as much of every unit, by what was seen somewhere."""
        rhos = self.charged @ losses
        return seen.told(losses, rhos, rhos[-1] if self.secret_form else 0.0)

    def _swept(self, rhos: FloatArray) -> list[tuple[dict[Link, LinkMoments], FloatArray]]:
        """Pass profiles of the parts that each case reads: the moments of all links, and the ε of the questions."""
        forest, crossings = self.forest
        units, silent = self.answers.units, [0.0] * (len(forest.order) - self.answers.units)
        reads = [[*np.where(case.read, rhos[:units], 0.0).tolist(), *silent] for case in self._asked]
        parts, held = parts_of([[curve_of(rho) for rho in each] for each in reads], self.grid)
        found: list[dict[Link, LinkMoments]] = [{} for _ in reads]

        def watch(taken: Composition, given: Composition, passed: Sequence[PassedOn]) -> None:
            for one in passed:
                took, gave = taken.moments[one.took, self.order], given.moments[one.gave, self.order]
                for case in one.cases:
                    found[case][one.link] = LinkMoments(took, gave, one.origin)

        questions = [case.questions.tolist() for case in self._asked]
        stack, rows = Sweep(forest, crossings, parts, held, questions, watch).whole()
        moved = Composition.of(PrivacyProfile.of(curve_of(rhos[-1]), self.grid))
        told = [
            PrivacyProfile.stacked(read_rows(stack, mine, moved if case.blank else None)).epsilons(self.delta)
            for case, mine in zip(self._asked, rows, strict=True)
        ]
        return [(one, np.minimum(each, self.grid.reach)) for one, each in zip(found, told, strict=True)]

    def alone(self, epsilons: FloatArray) -> FloatArray:
        """Give about the ρ of Gaussian noise that has these ε at δ, from ε = μ²/2 + μz with z that of the target."""
        off = self.ceiling / self.shift - self.shift / 2
        return np.asarray((np.sqrt(off**2 + 2 * epsilons) - off) ** 2 / 2)

    def leaks(self, rhos: FloatArray) -> FloatArray:
        """Give about the ε at δ of Gaussian noise of this ρ: the same the other way round."""
        off = self.ceiling / self.shift - self.shift / 2
        return np.asarray(rhos + np.sqrt(2 * rhos) * off)

    @property
    def unit(self) -> float:
        """The moment of Gaussian noise of ρ = 1."""
        order = TILTS[self.order] / self.grid.reach
        return float(order + order**2)

    @cached_property
    def order(self) -> int:
        """Which order of the moments is nearest to the one that decides, of those that rounding leaves alone."""
        wanted = self.ceiling / self.shift**2 - 0.5
        sound = TILTS[TILTS <= LARGEST_TILT]
        return int(np.argmin(np.abs(np.log(sound / self.grid.reach / wanted))))

    @cached_property
    def forest(self) -> tuple[Forest, Crossings]:
        """The tree of the answers, and how much of each neighbour's law moves."""
        return self._ways.of(self.answers.units)(self.answers)

    @property
    def _ways(self) -> Ways:
        return KNOWN if self.knowledge == "model" else TILTED

    @cached_property
    def shift(self) -> float:
        """The shift of Gaussian noise that alone leaks the target."""
        return largest_shift(Fraction(self.ceiling), self.delta)

    @cached_property
    def grid(self) -> Grid:
        """One grid for all."""
        return Grid.up_to(REACH * self.ceiling, POINTS if self._ways.of_many else FINE)


@dataclass(frozen=True, eq=False)
class CaseSketch:
    """What is told of the questions of a case: `scale` times a power of what they hold, as the ρ that tells as much."""

    case: CellSecrets
    laws: PowerLaws
    scale: FloatArray
    power: FloatArray

    @classmethod
    def of(
        cls, case: CellSecrets, laws: PowerLaws, rhos: FloatArray, told: FloatArray, grown: FloatArray
    ) -> "CaseSketch":
        """Right at these losses, and where all of them grow alike."""
        made = cls(case, laws, np.ones(told.size), np.ones(told.size))
        now, then = (made.held(rhos * by)[1] for by in (1.0, 1 + LARGER))
        more = np.log(then / now) / np.log1p(LARGER)
        power = np.clip(np.divide(grown, more, out=np.ones(told.size), where=more > 0), 0.25, 4.0)
        return cls(case, laws, told / now**power, power)

    def held(self, rhos: FloatArray) -> tuple[Heard, FloatArray]:
        """What the questions hold."""
        units = self.case.read.size
        heard = self.laws.heard(
            np.append(np.where(self.case.read, rhos[:units], 0.0), np.zeros(self._hidden))
        )
        form = self.laws.unit * rhos[-1] if self.case.blank else 0.0
        return heard, np.maximum(heard.worst[self.case.questions] + form, ULP)

    @property
    def _hidden(self) -> int:
        return len(self.laws.forest.order) - self.case.read.size

    def told(self, rhos: FloatArray) -> FloatArray:
        """The ρ that tells as much of each question."""
        return np.asarray(self.scale * self.held(rhos)[1] ** self.power)

    def slopes(self, rhos: FloatArray, charged: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How it moves with each histogram's ρ, and itself."""
        heard, held = self.held(rhos)
        units = self.case.read.size
        inside = heard.slopes(self.case.questions)[:, :units] * self.case.read
        moved = inside @ charged[:units] + self.case.blank * self.laws.unit * charged[-1]
        told = self.scale * held**self.power
        return (told * self.power / held)[:, None] * moved, told


@dataclass(frozen=True, eq=False)
class SeenNear:
    """What was seen of each unit at some losses: `times` what cases say, and `beside` of all ρ but for `less`."""

    cases: tuple[CaseSketch, ...]
    times: FloatArray
    beside: FloatArray
    less: FloatArray

    def told(self, losses: FloatArray, rhos: FloatArray, form: float) -> FloatArray:
        """The ρ that tells as much of every unit; of a form that is secret it is its own."""
        worst = np.zeros(rhos.size)
        for one in self.cases:
            np.maximum.at(worst, one.case.questions, one.told(rhos))
        worst[-1] = max(worst[-1], form)
        return np.asarray(self.times * worst + np.maximum(self.beside @ losses - self.less, 0.0))


@dataclass(frozen=True, eq=False)
class NoiseSketch:
    """About what histograms show: the most of what was seen near some losses."""

    about: Histograms
    seen: tuple[SeenNear, ...]
    power: int = 1
    close: float = 3e-4
    fits: int = 0

    @property
    def columns(self) -> int:
        """How many histograms there are."""
        return int(self.about.charged.shape[1])

    @property
    def start(self) -> FloatArray:
        """Equal shares."""
        return self.about.start

    def sketch(self, ceiling: float, losses: FloatArray | None = None) -> "NoiseSketch":  # noqa: ARG002  (it is one)
        """Itself."""
        return self

    def beside(self, other: "NoiseSketch") -> "NoiseSketch":
        """With what was seen elsewhere, the latest; what a theorem says of some losses holds near them alone."""
        return (
            other if other.seen[0].beside.any() else NoiseSketch(self.about, (self.seen + other.seen)[-KEPT:])
        )

    def leakage(self, losses: FloatArray) -> Leakage:
        """Give about the leakage of every unit."""
        return Leakage(self.about.leaks(np.max([self.about.told(one, losses) for one in self.seen], axis=0)))

    def pressure(self, losses: FloatArray, ceiling: float) -> Pressure:
        """Say how each unit's leakage, as the ρ that leaks as much alone, moves with each histogram's ρ."""
        charged = self.about.charged
        rhos, most = charged @ losses, self.about.alone(np.array([ceiling]))[0]
        form = np.arange(self.about.answers.units, len(charged))
        rows, room = [], []
        for seen in self.seen:
            about: list[tuple[IntArray, FloatArray, FloatArray]] = [(form, charged[form], rhos[form])]
            about += [(one.case.questions, *one.slopes(rhos, charged)) for one in seen.cases]
            for units, slopes, now in about:
                rows.append(seen.times[units, None] * slopes + seen.beside[units])
                told = seen.times[units] * now + seen.beside[units] @ losses - seen.less[units]
                room.append(most - told + rows[-1] @ losses)
        return Pressure(np.vstack(rows), np.concatenate(room))


def curve_of(rho: float) -> GaussianCurve:
    """What Gaussian noise of this ρ shows."""
    return GaussianCurve(shift_of(Fraction(rho)))
