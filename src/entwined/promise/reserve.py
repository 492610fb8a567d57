"""A reserve: how much may ever be shown of each column, fixed before the first answer and priced once.

Under a δ a model over columns, or over the steps of a panel, weighs losses against each other, and which of them were
asked about may depend on what was seen: so without more, its promise is for one batch. With a reserve it is for as
many batches as fit inside. The price is that of the whole reserve, from the first answer on, and no answer changes it;
`reserved_batch` says why that is enough, and which answers count how much.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.dependence import Forms
from entwined.errors import BadInput, LedgerDamaged, Refused
from entwined.noise.dominated import slip
from entwined.numbers import Amount, positive_fraction
from entwined.promise.declared import Declared
from entwined.promise.measure import Measure, measure_of
from entwined.promise.part import Part, add_up
from entwined.promise.places import key_of, place_of
from entwined.promise.reserved_answers import reserved_count, weight_of
from entwined.queries import Layers, Predicate, Reach, Statistic, everything, parse
from entwined.queries.predicate import codes_in
from entwined.schema import Coded, Schema
from entwined.schema.columns import column_from

MOST_NUMBERS: Final = 10**12
"""So many numbers may leave within a reserve; the chance δ is smaller by what their being whole numbers can cost."""
HALF: Final = Fraction(1, 2)
TRUSTED: Final = (
    f"What is asked one after another within the reserve is at most {MOST_NUMBERS:,} numbers in all."
)
WITHIN: Final = (
    "Within a reserve only counts and histograms of one of its columns can be asked for: of other computations nothing "
    "is proved there. Ask for these, or put everything into one batch without a reserve."
)


@dataclass(frozen=True, slots=True)
class Reserve:
    """ρ for each column that may be asked about, or for counts of one condition on a column; in a panel, at every step.

    >>> Reserve.of({"ill": "0.02"}).document
    {'ill': '1/50'}
    """

    each: tuple[tuple[str, Fraction], ...]

    @classmethod
    def of(cls, given: "Mapping[str, Amount] | Reserve") -> Self:
        """Read a reserve by column."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping) or not given:
            raise BadInput(
                f'reserve = {given!r:.60}. Give ρ for each column that will be asked about, such as {{ill = "0.01"}}; '
                "`entwined budget reserve` works out what a leakage allows."
            )
        exact = {name: positive_fraction(given[name], f"The reserve of {name!r:.60}") for name in given}
        return cls(tuple(sorted(exact.items())))

    @property
    def document(self) -> Document:
        """The reserve as JSON, exactly."""
        return {name: fraction_text(rho) for name, rho in self.each}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a reserve as it was written."""
        return cls(tuple(sorted((name, fraction_from(rho)) for name, rho in given.items())))

    def check(self, schema: Schema, declared: Iterable[Declared], *, for_one_batch: bool) -> None:
        """Refuse a promise that needs no reserve, or that none is proved for, and columns that are not there."""
        if not for_one_batch:
            raise BadInput(
                "A reserve is for models over columns, or over the steps of a panel, under a δ: they are for one batch "
                "without it. This promise takes as many batches as its cap allows. Leave reserve out."
            )
        if any(isinstance(one.model, Forms) for one in declared):
            raise Refused(
                "Within a questionnaire in forms an answer reads the form too, and a reserve is proved for answers "
                "that read one column. Ask for everything in one batch, and leave reserve out."
            )
        conditions = self.conditions(schema)
        for name, _ in self.each:
            read = conditions[name].columns if name in conditions else (name,)
            steps = [one.order for one in declared if one.panel]
            if len(read) != 1 or read[0] in steps or schema.coded(read[0]).public:
                raise BadInput(
                    f"reserve: {name!r:.60} is neither a column that is protected nor a condition on one such column. "
                    "Name what will be asked about; what is public costs nothing."
                )

    def conditions(self, schema: Schema) -> dict[str, Predicate]:
        """The conditions whose counts are reserved for, by their texts."""
        return {name: parse(name, schema) for name, _ in self.each if name not in schema.names}

    def moves(self, statistic: Statistic, schema: Schema, order: Coded | None) -> tuple[Reach, ...]:
        """Say how much of a reserve a statistic takes, so that its noise has that ρ."""
        conditions = self.conditions(schema)
        named = reserved_count(statistic, conditions, order)
        columns = [name for name, _ in self.each if name not in conditions]
        return named or weight_of(statistic, schema, columns, order)

    def batch(
        self, schema: Schema, order: Coded | None, parts: Iterable[Part] | None = None
    ) -> tuple[Part, ...]:
        """Give the one batch that all that may be asked can be made of, or all that was asked."""
        times = 1 if order is None else order.levels
        every = {name: (rho,) * times for name, rho in self.each}
        return reserved_batch(
            every if parts is None else self.used(parts, order), order, self.conditions(schema)
        )

    def used(self, parts: Iterable[Part], order: Coded | None) -> dict[str, tuple[Fraction, ...]]:
        """What was taken of each column's reserve: one number, or in a panel one a step."""
        charged: dict[str, list[Part]] = {name: [] for name, _ in self.each}
        for part in parts:
            place = place_of(part.key)
            if not place.reserved or place.column not in charged:
                raise Refused(WITHIN)
            charged[place.column].append(part)
        return {name: _taken(some, order) for name, some in charged.items()}

    def outside(self, parts: Iterable[Part], order: Coded | None) -> str | None:
        """Say which column's reserve would not be enough, if one is not."""
        used = self.used(parts, order)
        for name, most in self.each:
            step = max(range(len(used[name])), key=used[name].__getitem__)
            if used[name][step] > most:
                where = "" if order is None else f" at step {order.value(step)}"
                return (
                    f"of {name!r}{where} more would be shown than is reserved for it (ρ = "
                    f"{float(used[name][step]):.6g} in all, {float(most):.6g} reserved). Ask with more noise, or about "
                    "something else: what is reserved was fixed before the first answer, and cannot be enlarged."
                )
        return None


def reserved_batch(
    used: Mapping[str, tuple[Fraction, ...]], order: Coded | None, conditions: Mapping[str, Predicate]
) -> tuple[Part, ...]:
    """Give the one batch that everything asked within a reserve can be made of.

    Theorem. Let ρ_j be fixed for each column j before anything is seen. Let answers be chosen one after another, each
    in whatever way by the answers before it, and let each read one column j of a row alone: the sum over rows of A e_x,
    where e_x is the indicator of the code x of the row's cell (nothing, for a row that is not there), with independent
    noise on whole numbers of continuous variance σ² (`noise.dominated`). Let its weight be c = ‖A‖²/σ², ‖A‖² the
    largest eigenvalue of AᵀA, on the codes that A does not send to zero. If for each column and each code the weights
    of all answers that hold it never add up to more than ρ_j, then under every law of the units everything that was
    seen leaks at most what one batch leaks that was fixed before: of each column a histogram with Gaussian noise of
    loss ρ_j, at a δ that is smaller by 3kη, k the number of numbers. In a panel the same holds for each step. Counts of
    one condition that was named before may have a ρ of their own, of which each takes 1/(2σ²); the batch then has that
    count with Gaussian noise of that ρ, too. A number over T steps takes T times as much of each of them.

    Checked. Each answer counts rows, by cells of one column or none; ‖A‖² is the largest number of codes in one cell,
    and weights are laid over the codes exactly. A charge that would leave the reserve is refused before a row is read.

    Trusted. Rows (in a panel, series) are independent of each other, and k is at most 10¹².

    Proof. Given all other rows, an answer about column j is W = A e + v + N(0, σ²I) with v known. Its law depends on e
    through Z_P = Aᵀ(W − v)/σ² alone, of law N(Pe, P), P = AᵀA/σ². Let Z be N(Λe, Λ) and P ≼ Λ. Draw Z_P from
    N(PΛ⁻Z, P − PΛ⁻P), which does not look at e: then Z_P has the law N(Pe, P), and Z − Z_P the law N((Λ − P)e, Λ − P)
    independently of it (means and covariances agree, and all is Gaussian). So an answer can be made of Z, and the rest
    is what Z was, with Λ − P; by induction so can any sequence, whichever answer is chosen next, as long as the sum of
    all P is ≼ Λ. AᵀA ≼ ‖A‖² D, D the diagonal of the codes that A holds, so ΣP is at most the diagonal of the
    weights at each code, ≼ ρ_j I. Answers about different columns use different Z_j, each independent of the others
    given the row. So everything is made of (Z_j)_j with Λ_j = ρ_j I, which is a batch of histograms with noise of
    variance 1/ρ_j: two codes are √2 apart, so its loss is ρ_j, and its parts read one unit each. Counts of a named
    condition are all in one direction, P = vvᵀ/σ² with v its indicator, so with Z of Λ = 2ρvvᵀ the same goes on as long
    as their ρ add up to no more; one number over T steps has P ≼ T/σ² of vvᵀ at each, for (Σ a_t)² ≤ T Σ a_t². What can
    be made of the batch shows no more; mixtures over the other rows do not either. Noise on whole numbers is within
    e^{±kη} of such answers (`noise.dominated`), which adds 3kη to any δ.

    Source. New here as a rule for dependence; that Gaussian observations of one number can be refined one after
    another is how Brownian motion is built, and used for privacy by Whitehouse, Ramdas, Wu, Rogers (2022).
    """
    found: dict[str, Part] = {}
    for name, each in used.items():
        held = conditions.get(name, everything())
        column = held.columns[0] if name in conditions else name
        for step, rho in enumerate(each):
            if order is None:
                key = key_of(held, column)
            else:
                key = key_of(held & codes_in(order.name, order.size, ((step, step),)), None)
            one, both = (rho, Fraction(0)) if name in conditions else (rho * HALF, rho)
            if rho:
                add_up(found, [Part(key, one, both)])
    return tuple(found[key] for key in sorted(found))


def lowered(measure: Measure) -> Measure:
    """The measure that the batch behind a reserve is priced by: a δ that leaves room for whole numbers."""
    if measure.delta is None:
        raise BadInput("A reserve is for Gaussian noise. Give a delta, or leave reserve out.")
    room = slip(MOST_NUMBERS)
    if measure.delta <= 2 * room:
        raise Refused(
            f"δ = {float(measure.delta):g} is too small for a reserve. Give one above {float(2 * room):g}."
        )
    return measure_of(measure.delta - room)


def left_of(terms: Mapping[str, Any], parts: Iterable[Part]) -> dict[str, tuple[float, ...]]:
    """What is left of each column's reserve, from 0 to 1, by the terms of a ledger as they are written."""
    if "reserve" not in terms:
        return {}
    named = next((one["order"] for one in terms["models"] if one.get("panel")), None)
    column = next((one for one in terms["schema"]["columns"] if one["name"] == named), None)
    order = None if column is None else column_from(column)
    if order is not None and not isinstance(order, Coded):
        raise LedgerDamaged(f"The steps of the ledger's panel are {named!r}, which has no codes. Restore it.")
    reserve = Reserve.from_document(terms["reserve"])
    used, most = reserve.used(parts, order), dict(reserve.each)
    return {name: tuple(float(1 - rho / most[name]) for rho in each) for name, each in used.items()}


def _taken(parts: Iterable[Part], order: Coded | None) -> tuple[Fraction, ...]:
    """The greatest sum of weights at one code, at each step of a panel."""
    laid = [(place_of(part.key).where, part.one, part.both) for part in parts]
    if order is None:
        return (Layers.of(laid).at_one.value,)
    steps: list[list[tuple[Predicate, Fraction, Fraction]]] = [[] for _ in range(order.levels)]
    for where, one, both in laid:
        touched = [
            step
            for low, high in where.codes(order.name, order.size)
            for step in range(low, min(high, order.levels - 1) + 1)
        ]
        for step in touched:
            inside = codes_in(order.name, order.size, ((step, step),))
            steps[step].append((where if len(touched) == 1 else where & inside, one, both))
    return tuple(Layers.of(some).at_one.value if some else Fraction(0) for some in steps)
