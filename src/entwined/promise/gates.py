"""Where a question of a questionnaire in forms may be read: only in rows whose form asks it.

The bounds for forms hold if a question that some forms leave out has no bearing on anything released where the form
does not ask it. A statistic is charged on every column that can move it, each time under its whole condition. So a
part on such a question, or under a condition that reads it, has to be inside the rows whose form asks it: then no
other row is in any statistic that the question can move. The loss of the form itself comes from the same
conditions, since every one of them reads the form.

A row without a form, or with a value that is not declared, is never among those who were asked unless the model
has a form for it: of such a row nothing is read but what all forms ask, which the theorem covers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from entwined.dependence import Forms
from entwined.errors import BadModel, Refused
from entwined.promise.domains import fits_but_for
from entwined.promise.places import PartPlace
from entwined.queries import Predicate
from entwined.queries.predicate import codes_in
from entwined.schema import Coded, Schema

SHOWN: Final = 3  # questions that are named where there are many


@dataclass(frozen=True, eq=False)
class Gates:
    """The questions that some forms leave out, each with the codes of the forms that ask it."""

    model: Forms
    schema: Schema
    says_nothing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        levels, listed = self.column.levels, len(self.model.asked)
        if listed not in (levels, levels + 1):
            raise BadModel(
                f"The model has {listed} forms, and the column {self.column.name!r} has {levels} values. Say of "
                "each value, in the order of the schema, what that form asks; missing may be one more, the last."
            )

    @property
    def column(self) -> Coded:
        """The column of the form."""
        return self.schema.coded(self.model.form)

    @property
    def lists_missing(self) -> bool:
        """Whether the model has a form for respondents without one."""
        return len(self.model.asked) > self.column.levels

    @cached_property
    def asked(self) -> Mapping[str, frozenset[int]]:
        """By question the codes of the forms that ask it."""
        return {
            self.model.answers.names[at]: frozenset(np.flatnonzero(self.model.asked[:, at]).tolist())
            for at in np.flatnonzero(self.model.gated).tolist()
        }

    def is_where_asked(self, place: PartPlace) -> bool:
        """Whether a question is read of exactly those whose form asks it: of others its cell is blank."""
        asked = self.asked.keys() & set(place.together)
        if set(place.together) != {self.column.name, *asked} or len(asked) != 1:
            return False
        (name,) = asked
        question, form = self.schema.coded(name), self.column
        own = codes_in(name, question.size, place.where.codes(name, question.size))
        there = codes_in(form.name, form.size, place.where.codes(form.name, form.size))
        return self._codes(place.where) == self.asked[name] and place.where == own & there

    def check(self, column: str, where: Predicate) -> None:
        """Refuse a part that lets a question matter where the form does not ask it."""
        touched = self.asked.keys() & {column, *where.columns}
        if not touched:
            return
        inside = self._codes(where)
        for name in sorted(touched):
            if not inside <= self.asked[name]:
                raise Refused(
                    f"The question {name!r} is read where the form does not ask it, and a blank would tell the "
                    f"form. Ask only where {self.column.name!r} is {self._values(self.asked[name])}."
                )

    def check_filling(self, place: PartPlace) -> None:
        """Refuse to fill what is no blank of the model: a filled cell may be read whatever the form asks."""
        name, weights = place.column, place.filling
        if name not in self.asked:
            raise Refused(
                f"The question {name!r} has blanks filled, and no form leaves it out. Ask for a histogram."
            )
        column, values = (
            self.schema.coded(name),
            self.model.answers.values[self.model.answers.names.index(name)],
        )
        if not place.where.is_everything or len(weights) != column.size:
            raise Refused(
                f"The question {name!r} is not filled as a whole. Ask for a filled histogram of it."
            )
        if not self.lists_missing:
            raise Refused(
                f"Blanks of {name!r} are filled, and the model does not say what is asked of who has no form. List "
                "missing as the last form, or ask only where the form asks."
            )
        unsaid = name in self.says_nothing
        blanks = [code for code in range(column.levels + (not unsaid)) if not weights[code]]
        if (
            len(blanks) != 1
            or (unsaid and weights[-1])
            or not fits_but_for(column, values, blanks[0], without=unsaid)
        ):
            raise Refused(
                f"The weights that fill {name!r} do not fit the model: the one code that is none of its values has no "
                "weight, nor has missing if that says nothing, and every answer has one. Give such weights."
            )

    def _codes(self, where: Predicate) -> frozenset[int]:
        """The codes of the form that a row inside can have."""
        ranges = where.codes(self.column.name, self.column.size)
        return frozenset(code for low, high in ranges for code in range(low, high + 1))

    @property
    def words(self) -> str:
        """Say which form leaves out what, for the holder to vouch for."""
        said = []
        for code, row in enumerate(self.model.asked):
            names = [name for name, there in zip(self.model.answers.names, row, strict=True) if not there]
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            left = ", ".join(map(repr, names[:SHOWN])) + more if names else "nothing"
            said.append(f"where it is {self._values({code})}, {left}")
        return (
            f"Column {self.column.name!r} says which form a respondent had, and a form leaves out: "
            + "; ".join(said)
            + "."
        )

    def _values(self, codes: frozenset[int] | set[int]) -> str:
        return " or ".join(
            "missing" if code == self.column.missing_code else repr(str(self.column.value(code)))
            for code in sorted(codes)
        )
