"""Means and medians of a synthetic table by its values, in the unit of each column; and small or marked tables."""

from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from entwined.errors import HolderError
from entwined.report.inspection_page import inspection_page
from entwined.schema import Categorical, Integer, Moment, Real, Schema
from entwined.synthetic.holders_rows import side_by_side
from entwined.synthetic.inspection import inspected
from entwined.synthetic.likeness import total_variation
from entwined.synthetic.middles import Middle, apart_in_unit, in_unit, middles_asked
from entwined.synthetic.summing_up import sentences

PAY = Integer("pay", 0, 2_000_000)
BORN = Moment("born", datetime(1950, 1, 1), datetime(2000, 12, 31))
SIGNS = Categorical("sign", ("=1+1", "@x", "plain"))


def schema(*columns):
    return Schema(columns, most_rows=10_000).approve()


def frames(rows=2000):
    """Nearly everybody earns little; made-up pay is even inside the one range that nearly all are in."""
    rng = np.random.default_rng(3)
    born = pd.to_datetime("1950-01-01") + pd.to_timedelta(
        rng.integers(0, 18_000, (2, rows)).ravel(), unit="D"
    )
    pays = rng.integers(0, 2000, rows), rng.integers(0, 100_000, rows)
    return [
        pd.DataFrame({"pay": pay, "born": born[at * rows : (at + 1) * rows]}) for at, pay in enumerate(pays)
    ]


def test_a_median_far_off_inside_a_cell_is_seen_and_told_in_the_unit_of_its_column():
    found = inspected(side_by_side(*frames(), schema(PAY, BORN)))
    assert {one.verdict for one in found.tables} == {"well"}
    verdicts = {(one.what, one.column): one.verdict for one in found.middles}
    assert verdicts == {
        ("mean", "pay"): "badly", ("median", "pay"): "badly", ("mean", "born"): "well", ("median", "born"): "well",
    }  # fmt: skip
    (said,) = [one for one in sentences(found) if "means and medians" in one]
    assert "2 badly" in said
    assert "instead of" in said
    told = {(one["what"], one["column"]): one for one in found.document["means_and_medians"]}
    assert float(told["median", "pay"]["real"].replace(",", "")) == pytest.approx(1000, rel=0.1)
    assert told["mean", "born"]["real"].startswith("19")
    assert told["mean", "born"]["off"].endswith(" days")
    assert "median of pay" in inspection_page(found)


def test_verdicts_err_as_seldom_as_they_say():
    """Of two samples of one population 95 of 100 medians are answered well, whatever the shape; within 3 deviations."""
    rng = np.random.default_rng(5)
    right = {"mean": 0, "median": 0}
    for _ in range(400):
        one, other = (
            {"a": Middle.of(np.minimum(rng.pareto(3, 500) * 1000, 9999).astype(int), 10_000)}
            for _ in range(2)
        )
        for asked in middles_asked(one, other):
            right[asked.what] += asked.error <= asked.chance
    assert all(400 * 0.95 - 3 * 4.4 <= each <= 400 for each in right.values()), right


def test_values_are_written_in_the_unit_of_their_column():
    pay = Real("pay", "0.5", "9.5", "0.25")
    assert in_unit(pay, 2.0) == "1"
    assert apart_in_unit(pay, 2.0) == "0.5"
    assert in_unit(BORN, 31) == "1950-02-01"
    assert apart_in_unit(BORN, 31) == "31 days"
    hours = Moment("at", datetime(2020, 1, 1), datetime(2020, 1, 2), step="hour")
    assert in_unit(hours, 5) == "2020-01-01 05:00:00"
    assert apart_in_unit(hours, 6) == "0.25 days"
    assert Middle.of(np.array([3, 3]), 3) is None


def test_texts_marked_for_spreadsheets_are_the_values_that_they_stand_for(tmp_path):
    real = pd.DataFrame({"sign": ["=1+1", "@x", "plain", None] * 50})
    path = tmp_path / "synthetic.csv"
    real.replace({"=1+1": "'=1+1", "@x": "'@x"}).to_csv(path, index=False)
    both = side_by_side(real, str(path), schema(SIGNS))
    assert total_variation(both.real, both.synthetic, [0]) == 0


def test_too_few_rows_are_refused_in_words():
    real, made = frames(3)
    with pytest.raises(HolderError, match="synthetic table has 1 row"):
        side_by_side(real, made[:1], schema(PAY, BORN))
    inspected(side_by_side(real[:2], made[:2], schema(PAY, BORN)))
