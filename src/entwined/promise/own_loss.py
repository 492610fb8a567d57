"""The ε of a unit by itself: what no price of all models together is below.

It is that of the unit that models speak of. In a panel of rows that is one step of a series, whose nominal ε is that of
a row that changes its step too. A form that everybody knows is no secret, and what is asked of it counts for nothing.
Secrets about whole columns have no price here: where individuals are not protected, no row is promised anything.
"""

from collections.abc import Iterable
from fractions import Fraction

from entwined.promise.base_loss import BaseLoss
from entwined.promise.declared import Declared
from entwined.promise.measure import Measure
from entwined.schema import Schema


def own_loss(base: BaseLoss, declared: Iterable[Declared], schema: Schema, measure: Measure) -> Fraction:
    """Give the ε of the unit that loses most, by itself and as models know it."""
    if base.steps is not None and schema.unit.person is None:
        return measure.epsilon(max(base.steps.each))
    if not schema.unit.by_column:
        return measure.alone(base.nominal, base.bits.values())
    models = [(one.variables(schema), one.model.unprotected) for one in declared]
    public = {names[place] for names, places in models for place in places}
    worst = max((loss for name, loss in base.columns.items() if name not in public), default=Fraction(0))
    return measure.alone(worst, base.bits.values()) if worst else worst
