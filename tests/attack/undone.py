"""What was mended, taken out again one by one: each of them the attacker has to find.

A mend is undone by putting back what the code did before. Beside it stand the populations in which it shows.
"""

import dataclasses
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from attack import budgets, cells, examples, groups, series, traps
from entwined.bounds import choose
from entwined.bounds.theorem import Theorem
from entwined.bounds.tilted import tilted_transport_bound
from entwined.door import door
from entwined.learning import codes as coding
from entwined.mechanisms import structure_search
from entwined.noise import DiscreteLaplace
from entwined.promise import declared
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.request import fulfil
from entwined.request.verification import _Claimed
from entwined.schema import Coded
from entwined.survey.proposals import Proposals
from entwined.tables import rows
from entwined.tables.table import Table


@dataclass(frozen=True)
class Undone:
    """A mend, how to undo it, and the population in which that shows; it is tried with a few seeds."""

    name: str
    undo: Callable
    population: Callable
    seeds: int = 1


def _no_domains(patch):
    for name in ("check_cells", "check_rows"):
        patch.setattr(declared, name, lambda *_: None)


def _missing_as_not_asked(patch):
    """Whoever has no answer counts as not asked where missing is dropped."""
    _no_domains(patch)
    read = coding.public_codes

    def public_codes(source, schema, **more):
        found = read(source, schema, **more)
        columns = [schema.coded(name) for name in found.names]
        values = np.array(found.values)
        for at, column in enumerate(columns):
            if column.missing == "drop":
                values[values[:, at] == column.levels, at] = coding.NOT_ASKED
        sizes = {one.name: one.levels + (one.missing == "value") for one in columns}
        return coding.Codes.of(sizes, values)

    patch.setattr(cells, "public_codes", public_codes)


def _values_only(patch):
    """Theorems for known values pass as theorems for whatever is known."""
    known = dataclasses.replace(tilted_transport_bound, knowledge="any")
    theorems = tuple(known if one is tilted_transport_bound else one for one in choose.THEOREMS)
    patch.setattr(choose, "THEOREMS", theorems)


def _raw_spelling(patch):
    """Rows belong together if they spell it alike."""
    steps = rows.CodedRows.steps

    def raw_steps(self, coded, raw=()):
        person = self.by_person
        if person is None:
            return steps(self, coded, raw)
        everything = tuple(column.name for column in self.schema.columns if isinstance(column, Coded))
        made, last = self._coded(everything, (person.column,))
        return [*made, *self._picked(person, everything, last, ())], "picked"

    patch.setattr(rows.CodedRows, "steps", raw_steps)
    patch.setattr(
        rows, "together", lambda _, raw, *__: f"CASE WHEN CAST({raw} AS VARCHAR) <> '' THEN {raw} END"
    )


def _ties(patch):
    """Rows of one step are all kept, in the order of what they hold."""
    first = rows._first

    def all_of_a_step(source, name, shared, order, most, where):
        many = 10**6 if name == "steps" else most
        return first(source, name, shared, order, many, where)

    patch.setattr(rows, "_first", all_of_a_step)


def _not_picked(patch):
    patch.setattr(door.Door, "_kept", lambda self: self.table)


def _one_identity(patch):
    patch.setattr(Table, "identity", "table")


def _noise(patch):
    """A twentieth less noise than was charged for."""
    fitted = DiscreteLaplace.for_loss

    def less(epsilon, sensitivity):
        return DiscreteLaplace(fitted(epsilon, sensitivity).scale * Fraction(19, 20))

    patch.setattr(DiscreteLaplace, "for_loss", less)


def _most_for_sum(patch):
    """Of two charges on one part the larger one is kept."""
    patch.setattr(
        Part,
        "__add__",
        lambda self, other: Part(self.key, max(self.one, other.one), max(self.both, other.both)),
    )


def _learning_forgotten(patch):
    """What was spent under other terms is not carried over."""
    patch.setattr(Promise, "carried", lambda *_: {})


def _choice_is_free(patch):
    """The choice of parents is charged next to nothing."""
    priced = structure_search.StructureSearch.parts

    def next_to_nothing(self, promise):
        return tuple(Part(part.key, part.one / 1000, part.both / 1000) for part in priced(self, promise))

    patch.setattr(structure_search.StructureSearch, "parts", next_to_nothing)


def _learning_unpicked(patch):
    """Tables are scored with all rows of a household, as if none were left out."""
    patch.setattr(door.Door, "_kept", lambda self: self.table)


def _blanks_recoded(patch):
    patch.setattr(Proposals, "_refuse_mixed", lambda *_: None)


def _private_as_pilot(patch):
    """Nobody compares what a model was learned from."""
    patch.setattr(door, "refuse_own_rows", lambda *_: None)


def _ledgers_apart(patch):
    """A table does not remember its ledger."""
    patch.setattr(door, "witnessed", lambda *_: nullcontext())
    patch.setattr(fulfil, "witness_of", lambda _: None)


def _whatever_covers(patch):
    """A theorem passes for any knowledge."""
    patch.setattr(Theorem, "covers", lambda *_: True)


def _total_as_it_stands(patch):
    patch.setattr(_Claimed, "_wrong_total", lambda _: None)


UNDONE = (
    Undone("a missing answer counts as not asked", _missing_as_not_asked, examples.follow_ups),
    Undone("values of a model are not compared with codes", _no_domains, traps.missing_left_out),
    Undone("a known class of an answer is not covered", _values_only, examples.known_class),
    Undone("known later steps are not covered", _values_only, examples.known_end),
    Undone("rows belong together by raw spelling", _raw_spelling, groups.households, 12),
    Undone("persons are told apart by raw spelling", _raw_spelling, groups.persons, 12),
    Undone("rows of one step are all kept", _ties, series.entered_twice, 8),
    Undone("large households are not cut", _not_picked, groups.households, 12),
    Undone("all tables have one identity", _one_identity, traps.another_frame),
    Undone("the private table passes as a pilot", _private_as_pilot, traps.private_as_pilot),
    Undone("a table forgets its ledger", _ledgers_apart, traps.other_ledger),
    Undone("what learning cost is not carried over", _learning_forgotten, budgets.learned_first, 6),
    Undone("choices of learning are all but free", _choice_is_free, budgets.sharply_chosen, 4),
    Undone("learning reads all rows of a household", _learning_unpicked, traps.learned_in_households),
    Undone("blanks that are recoded are not looked for", _blanks_recoded, examples.recoded_blank),
    Undone("a theorem covers whatever is asked", _whatever_covers, traps.forgeries_of, 4),
    Undone("a total is believed as it stands", _total_as_it_stands, traps.forgeries_of),
    Undone("a twentieth less noise", _noise, groups.alone, 3),
    Undone("the larger of two charges for their sum", _most_for_sum, budgets.several, 8),
)
