"""What may be known beside exact values of cells: functions of them, columns outside the model, steps that were cut."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import BayesNet, Box, MarkovChain, Variable
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Schema, Text
from support.adversary import certified, gain, log_likelihoods
from support.memory_table import MemoryTable

# a survey with coarser copies outside the model

NAMES = ("centre", "one", "other")
VALUES, COARSE = ("0", "1", "2"), ("rare", "common")
SURVEY = Schema(
    (
        *(Categorical(name, VALUES) for name in NAMES),
        Categorical("one coarse", COARSE),
        Categorical("other coarse", COARSE),
    ),
    unit=Cells(),
    rows=1,
    most_rows=1,
).approve()
START = [0.0005, 0.0005, 0.999]
MOVE = [[0.1, 0.001, 0.899], [0.001, 0.1, 0.899], [0.001, 0.001, 0.998]]  # what tells something is rare
TREE = BayesNet.of(
    [
        Variable("centre", VALUES, (), [START]),
        Variable("one", VALUES, ("centre",), MOVE),
        Variable("other", VALUES, ("centre",), MOVE),
    ]
)
DECLARED = Declared(TREE, missing_says_nothing=NAMES)
ASKED = [Count(where=parse(f"{name} = '0'", SURVEY)) for name in NAMES]


def survey_law():
    """Centre and both others, and the coarser copies of these two."""
    coarser = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    return np.einsum("z,za,zb,ar,bs->zabrs", START, MOVE, MOVE, coarser, coarser)


def survey_tables():
    for *codes, one, other in itertools.product(*[range(3)] * 3, range(2), range(2)):
        row = (*(VALUES[code] for code in codes), COARSE[one], COARSE[other])
        yield MemoryTable(SURVEY, [dict(zip(SURVEY.names, row, strict=True))])


def test_coarser_copies_outside_the_model_may_be_known(tmp_path):
    """Where an answer is known to be a rare one, not which, it says far more about the others."""
    planned = plan(SURVEY, ASKED, leakage=1, dependence=[DECLARED])
    tables = list(survey_tables())
    logs = log_likelihoods(planned, tables)
    truth = gain(survey_law(), logs, secrets=[0, 1, 2])
    assert 0.8 < truth <= certified(planned) <= 1
    values_alone = gain(survey_law().sum(axis=(3, 4)), logs[:, ::4])
    assert values_alone < truth / 1.5  # a theorem for exact values alone would claim less than the truth
    with Ledger.create(tmp_path / "l.db", Fraction(1), planned.promise, anchor=tmp_path / "a") as ledger:
        given = release(tables[0], ASKED, leakage=1, dependence=[DECLARED], ledger=ledger).certificate
    assert verify(given, SURVEY).valid
    assert any("worked out from a single column of the model" in line for line in given["trusted"])


def test_a_column_worked_out_from_two_together_has_to_be_in_the_model():
    """What is trusted broken: known that two answers differ or agree, one tells the other."""
    pair = Schema(
        tuple(Categorical(name, ("0", "1")) for name in ("a", "b", "same")), unit=Cells(), rows=1
    ).approve()
    alone = BayesNet.of([Variable(name, ("0", "1"), (), [[0.5, 0.5]]) for name in "ab"])
    declared = Declared(alone, missing_says_nothing=("a", "b"))
    planned = plan(pair, [Histogram("a"), Histogram("b")], leakage=1, dependence=[declared])
    points = list(itertools.product(range(2), repeat=3))
    tables = [MemoryTable(pair, [dict(zip(pair.names, map(str, point), strict=True))]) for point in points]
    law = np.array([0.25 * (same == (a == b)) for a, b, same in points]).reshape(2, 2, 2)
    logs = log_likelihoods(planned, tables)
    assert gain(law, logs, secrets=[0, 1]) > 1.9 * certified(planned)
    assert gain(law.sum(axis=-1), logs[:, ::2]) <= certified(planned)


# series that are cut at their end

STATES = ("0", "1", "2", "3")
STEPS = Schema(
    (Text("who", compare="exact"), Integer("day", 1, 9), Categorical("state", STATES)), most_rows=100
).approve()
ZEROS = Count(where=parse("state = '0'", STEPS))


def series_law(start, move, length):
    law = np.array(start)
    for _ in range(length - 1):
        law = law[..., None] * np.array(move)
    return law


def cut_tables(length, kept, states=4):
    for drawn in itertools.product(STATES[:states], repeat=length):
        rows = [{"who": "w", "day": day + 1, "state": state} for day, state in enumerate(drawn)]
        yield MemoryTable(STEPS, rows).keeping("who", kept, "day")


def cut(start, move, kept, knowledge="any"):
    chain = MarkovChain(kept, Box.exact(move), np.array(start))
    about = {"by": "who", "order": "day", "missing_says_nothing": ("state",)}
    return plan(STEPS, ZEROS, leakage=1, dependence=[Declared(chain, **about)], knowledge=knowledge)


RARELY = [0.0005, 0.0005, 0.998, 0.001]
TOLD = [  # that a step is 3 tells that the one before was 0 or 1, and not which
    [0.1, 0.001, 0.499, 0.4],
    [0.001, 0.1, 0.499, 0.4],
    [0.001, 0.001, 0.997, 0.001],
    [0.001, 0.001, 0.997, 0.001],
]


@pytest.mark.parametrize("length", [3, 4])
def test_steps_that_were_cut_may_be_known(length):
    """A later step that is known takes the common state away, and the kept ones become copies of each other."""
    planned = cut(RARELY, TOLD, 2)
    logs = log_likelihoods(planned, list(cut_tables(length, 2)))
    truth = gain(series_law(RARELY, TOLD, length), logs)
    assert 0.8 < truth <= certified(planned) <= 1
    unknown = gain(series_law(RARELY, TOLD, 2), log_likelihoods(planned, list(cut_tables(2, 2))))
    assert unknown < truth / 1.5  # the steps kept alone would tell less than the truth


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_no_series_that_was_cut_tells_more_than_is_certified(knowledge):
    """Random chains of which the first two or three steps are kept; every step is a secret, kept or cut."""
    rng = np.random.default_rng(9)
    tables = {kept: list(cut_tables(4, kept)) for kept in (2, 3)}
    worst = 0.0
    for trial in range(12):
        kept = 2 + trial % 2
        start, *move = rng.dirichlet([0.3] * 4, 5) * 0.96 + 0.01
        planned = cut(start.tolist(), np.array(move).tolist(), kept, knowledge)
        truth = gain(series_law(start, move, 4), log_likelihoods(planned, tables[kept]), knowledge)
        assert truth <= certified(planned) <= 1 + 1e-9
        worst = max(worst, truth)
    assert worst > 0.7


def test_steps_may_be_missing_between_those_kept():
    """Of four steps the second is no row, and may be known all the same."""
    planned = cut(RARELY, TOLD, 2)
    tables = [
        MemoryTable(STEPS, [row for row in table.rows if row["day"] != 2]).keeping("who", 2, "day")
        for table in cut_tables(4, 4)
    ]
    truth = gain(series_law(RARELY, TOLD, 4), log_likelihoods(planned, tables))
    assert 0.5 < truth <= certified(planned) * (1 + 1e-9)


def test_a_step_that_was_cut_is_told_no_more_about_than_the_last_one_kept():
    planned = cut(RARELY, TOLD, 2)
    logs = log_likelihoods(planned, list(cut_tables(3, 2)))
    law = series_law(RARELY, TOLD, 3)
    assert gain(law, logs, secrets=[2]) <= gain(law, logs, secrets=[1]) + 1e-9


def test_a_certificate_of_a_series_says_what_is_believed(tmp_path):
    planned = cut(RARELY, TOLD, 2, "model")
    declared = planned.promise.declared
    accountant = Promise(STEPS, declared, "model")
    rows = [{"who": "w", "day": day, "state": "1"} for day in (1, 2, 3)]
    with Ledger.create(tmp_path / "l.db", Fraction(1), accountant, anchor=tmp_path / "a") as ledger:
        given = release(
            MemoryTable(STEPS, rows), ZEROS, leakage=1, dependence=declared, knowledge="model",
            ledger=ledger,
        ).certificate  # fmt: skip
    said = " ".join(json.loads(json.dumps(given))["trusted"])
    assert verify(given, STEPS).valid
    for words in (
        "'day' orders the steps",
        "No step of a series is missing",
        "in each of these columns: 'state'",
    ):
        assert words in said
