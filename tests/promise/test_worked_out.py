"""A column that is worked out from a unit of a model is charged to that unit, and no adversary learns more."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import BayesNet, Groups, Variable
from entwined.errors import BadModel, Refused
from entwined.promise.declared import Declared
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.promise.worked_out import charged_together
from entwined.queries import everything, parse
from entwined.schema import Categorical, Cells, Integer, Rows, Schema, Text

COLUMNS = (
    Categorical("long", ("a", "b", "c")),
    Categorical("other", ("0", "1")),
    Categorical("short", ("0", "1")),
)
NAMES = ("long", "other")
START = np.array([0.3, 0.3, 0.4])
STEP = np.array([[0.8, 0.2], [0.5, 0.5], [0.25, 0.75]])
SHORT = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])  # worked out from `long`, with errors
SCHEMA = Schema(COLUMNS, unit=Cells(), rows=50, most_rows=50)
AGAINST = "(long in ('a', 'b') and short = '1') or (long = 'c' and short = '0')"
LAWS = (0.5, 0.25)  # of the histograms of both units


def net():
    return BayesNet.of(
        [
            Variable("long", ("0", "1", "2"), (), [START.tolist()]),
            Variable("other", ("0", "1"), ("long",), STEP.tolist()),
        ]
    )


def declared(**more):
    given = {"missing_says_nothing": NAMES, "worked_out": {"short": "long"}} | more
    return Declared(net(), name="tree", **given)


def charges(rules, own):
    """Histograms of both units, a count of the rows that contradict the rule, and a histogram of what it is about."""
    where = parse(AGAINST, SCHEMA)
    read = [(everything(), name, loss, loss) for name, loss in zip(NAMES, LAWS, strict=True)]
    read += [(where, name, rules, 0) for name in ("long", "short") if rules]
    read += [(everything(), "short", own, own)] if own else []
    return [Part(key_of(rows, name), Fraction(one), Fraction(both)) for rows, name, one, both in read]


def truth(rules, own):
    """The worst ratio over likelihoods with these losses, secrets of every column, and what is known of the others."""
    joint = START[:, None, None] * STEP[:, :, None] * SHORT[:, None, :]
    wrong = np.array([[0, 1], [0, 1], [1, 0]])
    worst = 0.0
    for first in itertools.product((0, 1), repeat=3):
        for second in itertools.product((0, 1), repeat=2):
            for third, fourth in itertools.product(((0, 1), (1, 0)), repeat=2):
                likely = np.exp(
                    LAWS[0] * np.array(first)[:, None, None]
                    + LAWS[1] * np.array(second)[None, :, None]
                    + rules * np.array(third)[wrong][:, None, :]
                    + own * np.array(fourth)[None, None, :]
                )
                for secret in range(3):
                    for known in _known(secret):
                        law = joint[known]
                        kept = len([axis for axis in range(secret) if isinstance(known[axis], slice)])
                        away = tuple(axis for axis in range(law.ndim) if axis != kept)
                        ratio = (law * likely[known]).sum(axis=away) / law.sum(axis=away)
                        worst = max(worst, float(np.log(ratio.max() / ratio.min())))
    return worst


def _known(secret):
    sizes = [
        [slice(None)] if axis == secret else [slice(None), *range(size)]
        for axis, size in enumerate((3, 2, 2))
    ]
    return itertools.product(*sizes)


@pytest.mark.parametrize(("rules", "own"), [(0.7, 0.0), (0.0, 0.7), (0.7, 0.7)])
def test_no_adversary_learns_more_than_is_charged(rules, own):
    promise = Promise.of(SCHEMA, [declared()])
    leaks = float(promise.leakages(promise.base(charges(rules, own)))["tree"])
    assert truth(rules, own) <= leaks + 1e-9
    without = float(promise.leakages(promise.base(charges(0, 0)))["tree"])
    assert (
        truth(rules, own) > without
    )  # a mutant that forgets what was read beside the units would claim this
    assert leaks <= without + 2 * rules + own + 1e-9


def test_with_gaussian_noise_what_changes_together_is_charged_as_such():
    """A row may change both columns; the shift of the one count is 1 then, and 1 if either changes."""
    columns = {"long": Fraction(3), "short": Fraction(1, 2), "other": Fraction(1)}
    shared = {("long", "short"): (Fraction(2), Fraction(1, 2), Fraction(1, 2))}
    found, rest = charged_together(columns, shared, {"short": "long"})
    assert (found, rest) == ({"long": Fraction(9, 2), "other": Fraction(1)}, {})
    with pytest.raises(Refused, match="alone"):
        charged_together(columns, {("long", "other", "short"): (Fraction(1),) * 4}, {"short": "long"})
    assert charged_together(columns, None, {}) == (columns, None)


def test_it_is_among_what_must_be_believed_and_in_the_terms():
    promise = Promise.of(SCHEMA, [declared()])
    assert any("'short' from 'long'" in line and "The holder said so" in line for line in promise.trusted)
    assert promise.identity != Promise.of(SCHEMA, [declared(worked_out={})]).identity
    with pytest.raises(BadModel, match="says nothing of it"):
        Promise.of(SCHEMA, [declared(worked_out={})]).leakages(promise.base(charges(0.7, 0)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"worked_out": {"other": "long"}}, "among its units"),
        ({"worked_out": {"short": "short"}}, "among its units"),
        ({"worked_out": {"short": 3}}, "two columns"),
        ({"worked_out": {"note": "long"}}, "never queried"),
    ],
)
def test_what_cannot_be_worked_out_is_refused(given, said):
    schema = Schema((*COLUMNS, Text("note")), unit=Cells(), rows=50, most_rows=50)
    with pytest.raises(BadModel, match=said):
        Promise.of(schema, [declared(**given)])
    rows = Schema((*COLUMNS, Integer("n", 0, 3)), unit=Rows(), most_rows=50)
    with pytest.raises(BadModel, match="cells"):
        Promise.of(rows, [Declared(Groups(3), worked_out={"short": "long"})])
