"""People and those tied to them, one by one: what someone's ties say about that one alone.

For each unit i the model holds the laws under which, given x_i, the units tied to i are independent of each other, and
all others say nothing about x_i nor about those tied to it. It says nothing of friends of friends: where a tie leads on
to the next, no single law is like that for everybody, and the laws of one unit are not those of its neighbour. So it
describes whoever goes after one person by that person's own ties; a graph describes whoever uses all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.couplings import Couplings
from entwined.dependence.edged import Edged, refuse_repeats, refuse_strangers
from entwined.dependence.markov_chain import stationary
from entwined.dependence.model import Source, checked_source, checked_units
from entwined.dependence.narrower import Narrower
from entwined.dependence.odds import exact_axis
from entwined.dependence.product_law import ProductLaw, UnitTable
from entwined.dependence.two_ways import refuse_two_laws
from entwined.errors import BadModel, DoesNotApply
from entwined.numbers import FloatArray, IntArray, round_up

WAYS: Final = 2
GIVEN: Final = 'Give "kernel", the law of one given the other, or a "coefficient" of ties, and not both.'


@dataclass(frozen=True, eq=False, repr=False)
class Ties(Edged):
    """For each unit every law in which those tied to it are independent given it, and nobody else tells of it.

    A tie (i, j) has either a `kernel`, the law of x_j given x_i (a row a value of x_i) with `kernel_back` for the
    other way, or `coefficients` (ρ_ij, ρ_ji): ρ_ij is the share of a loss about x_j that becomes leakage about x_i.
    `distances` between values are needed for Equation 18 alone. Of the ties of a unit no more than `most_ties` say
    anything, if that is given; which ones is left open.
    """

    size: int
    ends: IntArray
    kernel: FloatArray | None = None
    kernel_back: FloatArray | None = None
    coefficients: FloatArray | None = None
    distances: FloatArray | None = None
    most_ties: int | None = None
    source: Source = "declared"
    fields: tuple[tuple[str, Any], ...] = ()
    edges_digest: str = ""
    edges_file: Path | None = None
    label: Callable[[int], str] | None = None
    kind: ClassVar[str] = "ties"
    plural: ClassVar[str] = "ties"
    strength: ClassVar[str] = "every log odds ratio or coefficient"
    assuming: ClassVar[str] = " and uses no ties but those of the unit that it is after"

    def __post_init__(self) -> None:
        checked_units(self.size)
        checked_source(self.source)
        refuse_strangers(self.ends, self.size)
        refuse_repeats(self.ends, self.size)
        if (self.kernel is None) == (self.coefficients is None):
            raise BadModel(
                f"Ties have {'both' if self.kernel is not None else 'no'} kernel or coefficient. {GIVEN}"
            )
        if self.kernel is None:
            object.__setattr__(self, "coefficients", self._checked_coefficients())
        else:
            self._check_kernel(self.kernel)
        if self.most_ties is not None and self.most_ties < 1:
            raise BadModel(
                f'"most_ties" is {self.most_ties}. Give a whole number from 1 on, or leave it out.'
            )

    def _checked_coefficients(self) -> FloatArray:
        """Give every tie its two coefficients, from 0 to 1; one that is 0 one way alone is refused."""
        if self.kernel_back is not None or self.distances is not None:
            raise BadModel(
                '"kernel_back" and "distances" belong to a "kernel", and there is none. Leave them out.'
            )
        given = np.asarray(self.coefficients, dtype=np.float64)
        if given.ndim == 1 and given.size != 1:
            given = given[:, None]
        try:
            each = np.ascontiguousarray(np.broadcast_to(given, (len(self.ends), WAYS)))
        except ValueError:
            raise BadModel(
                f"There are {len(self.ends)} ties. Give one coefficient for all, or one or two a tie."
            ) from None
        wrong = ~((each >= 0) & (each <= 1)).all(axis=1)
        if wrong.any():
            place = int(np.argmax(wrong))
            worst = float(each[place][~((each[place] >= 0) & (each[place] <= 1))][0])
            raise BadModel(
                f"Tie {place + 1} has the coefficient {worst:g}. A share of a loss is from 0 to 1."
            )
        one_way = (each == 0).sum(axis=1) == 1
        if one_way.any():
            raise BadModel(
                f"Tie {int(np.argmax(one_way)) + 1} has a coefficient of 0 one way and more the other. If one says "
                "nothing about the other, neither does the other: give both above 0, or leave the tie out."
            )
        return each

    def _check_kernel(self, kernel: FloatArray) -> None:
        back = self.kernel if self.kernel_back is None else self.kernel_back
        for name, given in (("kernel", kernel), ("kernel_back", back)):
            checked = Box.exact(given).as_probabilities(f'"{name}"').low
            if checked.ndim != WAYS or checked.size == 0:
                raise BadModel(
                    f'"{name}" is no table. Give one row a value, and in it a probability a value.'
                )
            if name == "kernel" or self.kernel_back is not None:
                object.__setattr__(self, name, checked)
        refuse_two_laws(kernel, np.asarray(back), given_twice=self.kernel_back is not None)
        if self.distances is not None:
            apart = Box.exact(self.distances).low
            if apart.shape != (kernel.shape[1],) * WAYS or (apart < 0).any() or apart.max(initial=0.0) == 0:
                raise BadModel(
                    f'"distances" has the shape {apart.shape}, or nothing above zero in it. Give how far any two of '
                    f"the {kernel.shape[1]} values are apart."
                )

    @property
    def has_values(self) -> bool:
        """Whether ties have a kernel, which says which values there are."""
        return self.kernel is not None

    @property
    def kernels(self) -> tuple[FloatArray, FloatArray] | None:
        """The law of the second end given the first, and of the first given the second, if ties have kernels."""
        if self.kernel is None:
            return None
        return self.kernel, self.kernel if self.kernel_back is None else self.kernel_back

    @cached_property
    def log_odds(self) -> float:
        """The largest log odds ratio of the kernel, the same either way; without end where there is none."""
        return float("inf") if self.kernel is None else float(exact_axis(self.kernel[None], 1)[0])

    @cached_property
    def couplings(self) -> Couplings:
        """The same ties as edges of a graph, for bounds that also count friends of friends."""
        odds = np.full(len(self.ends), self.log_odds)
        if self.coefficients is not None:
            odds[self.coefficients[:, 0] == 0] = 0.0
        return Couplings.pairs(self.size, self.ends, odds)

    @cached_property
    def correlations(self) -> FloatArray:
        """The linear correlation of each tie, as a kernel with distances has it, or the coefficients as declared.

        With equal laws of both, 1 − E d²(X, Y) / E d²(X, Y') is their correlation on a line, Y' being independent of X.
        """
        if self.kernel is None:
            return np.asarray(self.coefficients)
        values = self.kernel.shape[1]
        places = np.arange(values)
        apart = np.abs(places[:, None] - places) if self.distances is None else self.distances
        back = self.kernel if self.kernel_back is None else self.kernel_back
        if len(self.kernel) != values:
            return np.ones((len(self.ends), WAYS))  # values without a distance between them
        law = stationary(self.kernel @ back)
        first = np.full(values, 1 / values) if law is None else law
        second = first @ self.kernel
        alone = float(first @ apart**2 @ second)
        tied = float(first @ (self.kernel * apart**2).sum(axis=1))
        return np.full((len(self.ends), WAYS), abs(1 - tied / alone) if alone > 0 else 1.0)

    def gathered(self, from_second: FloatArray, from_first: FloatArray) -> FloatArray:
        """For each unit, the sum of what comes over its ties, or over the `most_ties` that bring most.

        `from_second` has for each tie what its second end says about its first, `from_first` the other way.
        """
        to = np.concatenate([self.ends[:, 0], self.ends[:, 1]])
        amounts = np.concatenate([from_second, from_first])
        if self.most_ties is not None and (self.degrees > self.most_ties).any():
            order = np.lexsort((-amounts, to))
            to, amounts = to[order], amounts[order]
            first = np.searchsorted(to, np.arange(self.size))
            kept = np.arange(len(to)) - first[to] < self.most_ties
            to, amounts = to[kept], amounts[kept]
        total = np.bincount(to, weights=amounts, minlength=self.size).astype(np.float64)
        return round_up(total, float(self.degrees.max(initial=0)) + 4)

    def correlated_sensitivity(self, losses: FloatArray) -> float:
        """What the linear correlated sensitivity of Zhu, Xiong, Li and Zhou (2015) takes for the leakage.

        max_i Σ_j |δ_ij| ε_j with linear correlations δ. It is no theorem: units without a linear correlation can tell
        all of each other. It stands beside others to be compared, and nothing is ever released by it.
        """
        there, back = self.correlations.T
        first, second = losses[self.ends[:, 0]], losses[self.ends[:, 1]]
        return float((losses + self.gathered(there * second, back * first)).max())

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (there is none)
        """Refuse: no single law is like that for everybody."""
        raise DoesNotApply("Ties have no law of all units at once. Ask for the law `around` one unit.")

    def around(self, place: int, values: int = 2) -> ProductLaw:  # noqa: ARG002  (the kernel says how many there are)
        """The law in which a unit's ties hold what the kernel says of them, and all others are on their own."""
        if self.kernels is None:
            raise DoesNotApply("Coefficients of ties are no law to draw people from. Give a kernel.")
        there, back = self.kernels
        if there.shape[0] != there.shape[1]:
            raise DoesNotApply("The two ends of a tie have unlike values, so units have no one set of them.")
        law = stationary(there @ back)
        own = np.full(len(there), 1 / len(there)) if law is None else law
        tied = [
            UnitTable((place, second), there) if first == place else UnitTable((place, first), back)
            for first, second in self.ends[(self.ends == place).any(axis=1)][: self.most_ties].tolist()
        ]
        reached = {unit for scope, _ in tied for unit in scope}
        alone = (UnitTable((unit,), own) for unit in range(self.size) if unit not in reached - {place})
        return ProductLaw((len(there),) * self.size, (*tied, *alone))

    def times_as_strong(self, factor: float) -> "Ties":
        """Multiply the log odds of the kernel, or the coefficients up to 1; it is no longer the model of a file."""
        if self.coefficients is not None:
            return replace(self, coefficients=np.minimum(self.coefficients * factor, 1.0), **self.unfiled)
        there, back = (
            None if given is None else Box.exact(given).laws_raised(factor).low
            for given in (self.kernel, self.kernel_back)
        )
        return replace(self, kernel=there, kernel_back=back, **self.unfiled)

    def narrower(self) -> Iterator[Narrower]:
        """Suppose that half of the ties of whoever has most say nothing."""
        most = int(self.degrees.max(initial=0))
        half = (min(most, self.most_ties or most) + 1) // 2
        if half < most:
            yield Narrower(
                "ties",
                f"that no more than {half} of anyone's ties say anything (most_ties = {half}), of up to {most}",
                replace(self, most_ties=half, **self.unfiled),
            )

    @property
    def written_out(self) -> Document:
        """The model with its ties as [node, node], or [node, node, ρ there, ρ back] where they differ."""
        edges = self.ends.tolist()
        if self.coefficients is not None:
            alike = bool((self.coefficients[:, 0] == self.coefficients[:, 1]).all())
            shares = self.coefficients[:, :1] if alike else self.coefficients
            edges = [[*pair, *each] for pair, each in zip(edges, shares.tolist(), strict=True)]
        tables = {name: getattr(self, name) for name in ("kernel", "kernel_back", "distances")}
        return {
            "kind": self.kind,
            "units": self.size,
            "edges": edges,
            **{name: table.tolist() for name, table in tables.items() if table is not None},
            **({} if self.most_ties is None else {"most_ties": self.most_ties}),
            **({"coefficient": 0} if self.coefficients is not None and not edges else {}),
            "source": self.source,
        }
