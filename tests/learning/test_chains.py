"""Chains learned from transition counts: public or with a budget, with margins that hold and a check of their order."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.dependence import Groups
from entwined.door.door import Door
from entwined.errors import BadQuery, BadTable
from entwined.learning.chains import CountedMoves, second_step
from entwined.learning.series import PublicSeries, public_series
from entwined.ledger import Ledger
from entwined.loss import Loss
from entwined.mechanisms.transitions import MOVED, TransitionCounts
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import MovesOf, everything
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Person, Schema, Text
from support.memory_table import MemoryTable
from support.origins import CHARGED

STEP = np.array([[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
STATES = ("a", "b")
COLUMNS = Text("who", compare="exact"), Integer("day", 0, 5), Categorical("state", STATES)
SCHEMA = Schema(COLUMNS, most_rows=100).approve()
MOVES = MovesOf("who", "day", "state", 6, 3, everything())


def drawn(rng, people, steps, step=STEP, second=None):
    """Rows (who, step, state) of a chain; with `second` the state two steps back decides with that chance."""
    rows = []
    for who in range(people):
        state = [int(rng.integers(len(step)))]
        for _ in range(steps - 1):
            back = len(state) > 1 and second is not None and rng.random() < second
            state.append(state[-2] if back else int(rng.choice(len(step), p=step[state[-1]])))
        rows += [(who, at, one) for at, one in enumerate(state)]
    return rows


def test_moves_are_counted_from_a_step_to_the_very_next():
    rows = [(0, 0, 1), (0, 1, 2), (0, 3, 0), (1, 4, 0), (0, 2, 2), (1, 5, 0), (1, 5, 1)]
    series = PublicSeries.of(rows, 3)
    assert CountedMoves.of(series, "x").counts.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 1]]
    assert series.runs(2).tolist() == [[1, 2, 2], [2, 2, 0]]
    with pytest.raises(BadTable, match="two steps in a row"):
        CountedMoves.of(PublicSeries.of([(0, 0, 0), (0, 2, 0)], 2), "x")


def test_intervals_hold_the_true_chain_as_often_as_they_say_and_shrink():
    rng, held, widths = np.random.default_rng(3), 0, []
    for _ in range(20):
        counts = CountedMoves.of(PublicSeries.of(drawn(rng, 20, 40), 3), "pilot")
        table = counts.with_margin(50, "0.9").model.transition
        held += bool(((table.low <= STEP) & (table.high >= STEP)).all())
        widths.append(float((table.high - table.low).max()))
    assert held >= 18
    more = CountedMoves.of(PublicSeries.of(drawn(rng, 400, 40), 3), "pilot").with_margin(50, "0.9")
    assert (more.model.transition.high - more.model.transition.low).max() < 0.5 * np.mean(widths)
    assert more.model.source == "proxy"
    loss = Loss.uniform(0.2, 50)
    sure = CountedMoves.of(PublicSeries.of(drawn(rng, 400, 40), 3), "pilot").smoothed(50)
    assert bound(sure.model, loss, "values").leakage.worst < bound(more.model, loss, "values").leakage.worst
    assert "15,600 moves, 1 added to every count" in sure.title


def test_a_second_step_back_is_noticed_and_not_made_up():
    rng = np.random.default_rng(4)
    plain = second_step(PublicSeries.of(drawn(rng, 60, 30), 3))
    assert not plain.is_needed
    assert plain.steps == 60 * 28
    longer = second_step(PublicSeries.of(drawn(rng, 60, 30, second=0.5), 3))
    assert longer.is_needed
    assert longer.gained > 0.1
    assert "fails its check" in longer.words
    alone = second_step(PublicSeries.of(drawn(rng, 1, 3000, second=0.5), 3))  # one series: its halves
    assert alone.is_needed
    with pytest.raises(BadTable, match="held out"):
        second_step(PublicSeries.of([(0, 0, 0), (0, 1, 0)], 2))


def test_public_series_are_read_under_the_schema(tmp_path):
    path = tmp_path / "wave.csv"
    path.write_text("who,day,state\nx,0,a\nx,1,b\nx,2,\ny,1,b\ny,2,b\ny,9999,a\n,0,a\ny,,b\n")
    series = public_series(path, SCHEMA, state="state", order="day", by="who")
    assert CountedMoves.of(series, "wave.csv").counts.tolist() == [[0, 1, 0], [0, 1, 1], [0, 0, 0]]
    one = public_series(path, SCHEMA, state="state", order="day")  # days with several rows have no one state
    assert one.step.tolist() == [5]


def test_no_change_of_a_row_moves_counts_further_than_is_charged():
    """Random tables, every replacement of a row, entering and leaving: 4 and 2 in all, reached."""
    rng, most = np.random.default_rng(6), {"one": 0, "both": 0}
    for _ in range(60):
        rows = [
            {
                "who": f"p{rng.integers(2)}",
                "day": int(rng.integers(4)),
                "state": [*STATES, None][rng.integers(3)],
            }
            for _ in range(7)
        ]
        before, without, other = (
            np.array(MemoryTable(SCHEMA, some).answer([MOVES])[0])
            for some in (rows[1:] + rows[:1], rows[1:], [*rows[1:], rows[0] | {"state": "a", "day": 2}])
        )
        for kind, change in (("one", before - without), ("one", other - without), ("both", before - other)):
            most[kind] = max(most[kind], int(np.abs(change).sum()))
    assert most == {"one": int(MOVED.one), "both": int(MOVED.both)}


def test_counts_are_charged_drawn_and_certified(tmp_path):
    models = [Declared(Groups(6), by="who")]
    promise = Promise.of(SCHEMA, models)
    rows = [{"who": f"p{at // 6}", "day": at % 6, "state": STATES[at % 5 == 0]} for at in range(96)]
    counts = TransitionCounts.of(promise, "who", "day", "state", 40)
    with Ledger.create(tmp_path / "l.db", Fraction(300), promise, anchor=tmp_path / "a") as ledger:
        passed = Door(MemoryTable(SCHEMA, rows), promise, ledger).admit(counts)
        assert passed.price.worst == pytest.approx(240)
        exact = np.array(MemoryTable(SCHEMA, rows).answer([MOVES])[0]).reshape(3, 3)
        assert np.abs(passed.output - exact).max() <= 3
        assert verify(passed.certificate, SCHEMA).valid
    found = CountedMoves(passed.output, CHARGED, counts.noise)
    narrow, wide = (
        found.with_margin(6, "0.9"),
        CountedMoves(
            passed.output, CHARGED, TransitionCounts.of(promise, "who", "day", "state", "0.1").noise
        ).with_margin(6, "0.9"),
    )
    gap = [one.model.transition.high - one.model.transition.low for one in (narrow, wide)]
    assert (gap[0] <= gap[1]).all()
    assert narrow.model.source == "learned"


WRONG = {
    "persons": (
        Schema(COLUMNS, unit=Person("who", 6), most_rows=9).approve(),
        ("who", "day", "state"),
        "are rows",
    ),
    "no steps": (SCHEMA, ("who", "state", "day"), "has no order"),
    "twice": (SCHEMA, ("who", "day", "day"), "share a column"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_has_no_transitions_is_refused(case):
    schema, named, why = WRONG[case]
    with pytest.raises(BadQuery, match=why):
        TransitionCounts.of(Promise.of(schema), *named, 1)
