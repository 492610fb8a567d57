"""What a synthetic table is made of, as a mechanism: marginals with noise, and nothing else of the rows."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadInput, BadQuery, Refused
from entwined.mechanisms.fitting import losses
from entwined.mechanisms.marginals.adaptive import Adaptive
from entwined.mechanisms.marginals.correlated import Correlated
from entwined.mechanisms.marginals.declared_tables import OF_A_CHOICE, structured
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.measured import NoisyMarginals
from entwined.mechanisms.marginals.meter import Meter, Transcript
from entwined.mechanisms.marginals.recipes import ExpectedTable, Recipe, Settled
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL
from entwined.mechanisms.marginals.rules import Rules
from entwined.mechanisms.sheet import Cell, Sheet
from entwined.numbers import Amount, IntArray, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import TableOf
from entwined.schema import Schema

MODES: Final[Mapping[str, type[Settled | Correlated | Adaptive]]] = {
    one.name: one for one in (Adaptive, Correlated, Settled)
}
OF_ONE_MODE: Final[Mapping[str, tuple[str, ...]]] = {
    Adaptive.name: ("rounds", "alone"),
    Correlated.name: ("structure", *OF_A_CHOICE),
    Settled.name: ("tables",),
}
SURE: Final = Fraction(19, 20)
EXPECTED_HEADS: Final = (
    "table", "tables", "cells, at most", "± of a count (95 %)", "± at least", "± at most", "rows misplaced, about",
)  # fmt: skip
DECIDED_BY_ROWS: Final = (
    "The more relations are measured, the more noise is in columns alone: ± is that of moderate relations, the least ± "
    "that of none."
)
ROWS_UNKNOWN: Final = (
    "How many rows are misplaced depends on how many there are, which is not public. Give expected_rows."
)
ONE_BATCH: Final = (
    "Under a δ a model over cells weighs their losses against each other, and what is asked must be fixed before "
    'anything is seen. Take mode = "independent", with tables = [["a", "b"], …] that you name yourself, mode = '
    '"correlated" with the structure of a declared network, or no δ.'
)
OTHER_TABLES: Final = (
    "The tables or their noise are not those that were settled before. Give what was released."
)


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Count marginals with noise, from which synthetic rows are made.

    Theorem. What `run` returns has at most the losses of `parts`, in the promise's measure.

    Proof. Only three things are made of rows. A *table* of counts gets noise for the change that a unit makes in the
    table of all columns, of which it is sums, or in the table itself where that is settled before (`Settled`). A
    *distance* Σ |N − m| of a table N from public numbers m moves by no more than N does in L1, because |·| does;
    several of them get noise for the sum of their changes. A *choice* by such distances, less public figures, is the
    exponential mechanism for scores that move either way by as much. Columns that are *told again* with Laplace noise
    cost what the last telling does (`GradualLaplace`), whatever made them be told again. What m, the candidates and
    the next table are follows from what was drawn before, and from chance that knows no row; the shares of all steps
    add up to the loss whatever is drawn (adaptive composition). A step that was not taken, or a choice of none, costs
    less than its share.
    """

    kind: ClassVar[str] = "synthesis"
    fields: ClassVar[tuple[str, ...]] = (
        "mode", "columns", "bins", "tables", "rounds", "alone", "structure", "parents", "usefulness", "forced",
        "forbidden", "impossible", "decides", "texts",
    )  # fmt: skip
    domain: Domain
    recipe: Recipe
    meter: Meter
    rules: Rules
    counted: Fraction
    """The share of the loss that all tables have together; scores have the rest."""

    @classmethod
    def of(
        cls, promise: Promise, domain: Domain, recipe: Recipe, loss: Amount, rules: Rules | None = None
    ) -> Self:
        """Settle the noise under a promise, for a loss in its measure; rules are for whoever makes rows of it."""
        if promise.is_for_one_batch and not recipe.is_settled:
            raise Refused(ONE_BATCH)
        kept = rules or Rules()
        kept.require_possible(domain, promise.schema)
        meter = Meter.of(promise, domain, positive_fraction(loss, "Loss"))
        meter.noise(Fraction(1))  # refuses a loss that leaves no noise, before it is charged
        shares = recipe.shares(domain, promise.schema)
        counted = sum((share for statistic, share in shares if statistic.agrees), Fraction(0))
        return cls(domain, recipe, meter, kept, counted)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file."""
        rules = Rules.of(given, promise.schema)
        cut_at = rules.conditions(promise.schema)
        domain = Domain.of(promise.schema, given.get("columns"), given.get("bins"), cut_at)
        mode = given.get("mode", Adaptive.name)
        if not isinstance(mode, str) or mode not in MODES:
            raise BadQuery(f"mode = {mode!r:.60}. Give one of {', '.join(MODES)}.")
        strange = sorted(
            given.keys() & {key for keys in OF_ONE_MODE.values() for key in keys} - set(OF_ONE_MODE[mode])
        )
        if strange:
            raise BadQuery(f"mode = {mode!r} has no {strange[0]!r}. Leave it out, or take another mode.")
        asked = structured(given, promise, domain) if mode == Correlated.name else given
        recipe = MODES[mode].of(asked, domain)
        return lambda each: cls.of(promise, domain, recipe, each, rules)

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "mode": self.recipe.name,
            "columns": self.domain.document,
            "loss": fraction_text(self.meter.loss),
            **self.recipe.document,
            **self.rules.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle it again; the noise follows from the promise."""
        domain = Domain.from_document(document["columns"], promise.schema)
        recipe = MODES[document["mode"]].of(document, domain)
        rules = Rules.of(document, promise.schema)
        return cls.of(promise, domain, recipe, fraction_from(document["loss"]), rules)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows, or every column; refuse another promise's noise."""
        if self.from_document(self.document, promise) != self:
            raise BadQuery("The noise was settled under another promise than the door's. Make it again.")
        return losses(promise, self.recipe.shares(self.domain, promise.schema), self.meter.loss)

    def needs(self, schema: Schema) -> tuple[TableOf, ...]:  # noqa: ARG002  (it knows its columns)
        """The tables that it begins with; it asks for others of the same columns."""
        return tuple(map(self.domain.table, self.recipe.asks(self.domain)))

    def run(self, read: Read, schema: Schema) -> bytes:  # noqa: ARG002  (it knows its columns)
        """Count, add noise, and go on from there."""
        notes = Transcript()
        held: dict[Scope, IntArray] = {}

        def tables(scopes: Sequence[Scope]) -> dict[Scope, IntArray]:
            new = [scope for scope in scopes if scope not in held]
            held.update(zip(new, read([self.domain.table(one) for one in new]) if new else (), strict=True))
            return {scope: held[scope] for scope in scopes}

        self.recipe.run(tables, self.domain, self.meter, notes)
        return canonical(notes.document(self.domain.names)).encode()

    def output(self, drawn: bytes) -> NoisyMarginals:
        """The tables with their noise; less of it than was charged for is refused, or another where it is settled."""
        found = NoisyMarginals.from_document(self.domain, json.loads(drawn))
        noises = [one.noise for one in found.notes.tables]
        self.meter.require_paid(noises, self.counted)
        if self.recipe.is_settled:
            settled = [one.noise for one in self.recipe.expected(self.domain, self.meter, None)]
            if (tuple(one.scope for one in found.notes.tables), noises) != (
                self.recipe.asks(self.domain),
                settled,
            ):
                raise BadInput(OTHER_TABLES)
        return found

    @property
    def words(self) -> str:
        """What it computes."""
        return f"Marginals of {len(self.domain.axes)} columns for synthetic rows, {self.recipe.words}"

    def expected(self, rows: int | None = None) -> Sheet:
        """What noise each table gets, without a row; no more rows are misplaced than there are."""
        count = self.domain.rows or rows
        lines = self.recipe.expected(self.domain, self.meter, count)
        relations = self.recipe.relations(self.domain, self.meter, count)
        notes = [relations.words] if relations.pairs else []
        if any(line.least for line in lines):
            notes.append(DECIDED_BY_ROWS)
        if count is None:
            notes.append(ROWS_UNKNOWN)
        table = tuple(_expected_row(line, count) for line in lines)
        facts = {"relations": relations.document} if relations.pairs else {}
        return Sheet(EXPECTED_HEADS, table, tuple(notes), facts)

    def shown(self, output: NoisyMarginals) -> Sheet:
        """The tables with the errors of their counts."""
        return output.sheet


def _expected_row(line: ExpectedTable, rows: int | None) -> tuple[Cell, ...]:
    """Give the noise of a table as a plan shows it."""
    ends = [(law or line.noise).half_width(SURE) for law in (line.noise, line.least, line.most)]
    moved = NOISE_OF_A_CELL * math.sqrt(line.noise.variance) * (line.typical or line.cells) / 2
    return (line.name, line.tables, line.cells, *ends, None if rows is None else min(moved, float(rows)))
