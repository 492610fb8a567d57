"""What plans say of weighted means is what releases give, for weights of several distributions."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import BadSchema
from entwined.forecast.draft import Draft
from entwined.forecast.forecast import Assumed, forecasts
from entwined.queries import Count, Mean, parse
from entwined.queries.weighted import Weight
from entwined.request.verbs import plan
from entwined.schema import Integer, Real, Schema, read_schema, write_schema
from support.pictures import Picture

ROWS, RELEASES = 4000, 5
RNG = np.random.default_rng(3)
WEIGHTS = {
    "nearly even": RNG.normal(1, 0.1, ROWS),
    "lognormal": RNG.lognormal(-0.3, 0.8, ROWS),
    "two forms": RNG.choice([0.25, 1.75], ROWS),
    "a few large": np.where(RNG.random(ROWS) < 0.02, 9.0, 0.84),
}
EXPANSION = RNG.lognormal(5, 0.7, ROWS)


def table(weights, low, high, step, **declared):
    """A table of ages and weights, which a public mean may be declared of."""
    weight = Real("w", low, high, step, missing="drop", **declared)
    age = Integer("age", 0, 100, mean=Fraction(40), missing="drop")
    schema = Schema((age, weight), rows=ROWS, most_rows=ROWS).approve()
    codes = np.clip(np.rint((weights - float(weight.low)) / float(weight.step)), 0, weight.levels - 1)
    ages = np.clip(np.rint(RNG.normal(40, 12, ROWS)), 0, 100)
    return Picture(schema, {"age": ages.astype(int), "w": codes.astype(int)})


def half_widths(made, delta=None):
    """The half-width planned, and the median of those released."""
    query = Mean("age", weight="w").bound(made.schema)
    planned = plan(made.schema, query, loss=1, delta=delta)
    (forecast,) = forecasts(Draft.of(planned), Assumed.of(made.schema, None, consistent=False))
    released = []
    for _ in range(RELEASES):
        low, high = made.released([query], 1, delta)[2].answers[0].interval
        released.append(float(high - low) / 2)
    return forecast, np.median(released)


@pytest.mark.parametrize("name", WEIGHTS)
def test_planned_errors_of_weighted_means_are_those_released(name):
    """Weights average 1, also where their range goes far above it."""
    forecast, released = half_widths(table(WEIGHTS[name], 0, 20, Fraction(1, 100)))
    assert forecast.half_width == pytest.approx(released, rel=0.1)
    assert "w is taken to be 1 on average" in forecast.assumes


def test_a_declared_mean_is_taken_for_weights_that_add_up_to_the_population():
    mean = Fraction(round(float(EXPANSION.mean())))
    made = table(EXPANSION, 10, 3000, 1, mean=mean)
    forecast, released = half_widths(made, delta=Fraction(1, 10**6))
    assert forecast.half_width == pytest.approx(released, rel=0.1)
    assert f"w is {mean} on average, as declared" in forecast.assumes
    assert Weight.mean("w", made.schema) == mean


def test_without_a_declaration_a_plan_never_promises_too_much_for_weights_from_one_up():
    forecast, released = half_widths(table(EXPANSION, 0, 3000, 1))
    assert forecast.half_width > released


def test_a_mean_is_declared_in_the_schema_and_changes_no_answer(tmp_path):
    made = table(WEIGHTS["two forms"], 0, 20, Fraction(1, 100), mean=Fraction("0.98"))
    write_schema(made.schema, tmp_path / "schema.toml")
    assert 'mean = "0.98"' in (tmp_path / "schema.toml").read_text()
    assert read_schema(tmp_path / "schema.toml") == made.schema
    for mean in ("x", -1, 21, True):
        with pytest.raises(BadSchema, match=r"has mean = .*from 0 to 20"):
            Real("w", 0, 20, Fraction(1, 100), mean=mean)
    query = Count(where=parse("age > 30", made.schema))
    assert "mean" not in query.fingerprint
