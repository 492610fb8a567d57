"""Charts that look alike are built once, and drawn as if each had been built for itself."""

import pytest

from entwined.report import charts


def rows(*values, label="Somewhere"):
    labels = charts.labelled([f"{label} {at}" for at in range(len(values))])
    return [
        {
            "label": name,
            "value": value,
            "low": value - 1,
            "high": value + 1,
            "said": f"± {value}",
            "kept": "yes",
        }
        for name, value in zip(labels, values, strict=True)
    ]


@pytest.mark.parametrize("draw", [charts.bars, charts.spread])
def test_a_chart_built_for_other_rows_is_drawn_as_its_own(draw):
    draw(rows(2, 3), "persons")
    for other in (rows(5, 40), rows(1, 400), rows(1, 2 * charts.LARGE), rows(7, 8, label="Far"), rows(4)):
        fresh = draw.__wrapped__(other, "persons")
        assert charts.svg(draw(other, "persons")) == charts.svg(fresh)
    assert charts.svg(draw(rows(2, 3), "homes")) != charts.svg(draw(rows(2, 3), "persons"))
