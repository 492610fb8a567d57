"""Models as pictures: the strongest ties first and widest, names that mean harm only shown."""

import math

import pytest

from entwined.dependence import BayesNet, Box, Gaussian, Groups, MarkovChain, Variable
from entwined.report.model_drawing import StrongTie, model_drawing, strongest_ties

HARM = "<script>"


def net(*strengths):
    """A chain of columns whose neighbours agree with these chances."""
    variables = [Variable(HARM, ("n", "y"), (), [[0.5, 0.5]])]
    for at, same in enumerate(strengths):
        table = [[same, 1 - same], [1 - same, same]]
        variables.append(Variable(f"q{at}", ("n", "y"), (variables[-1].name,), table))
    return BayesNet.of(variables)


def test_the_strongest_tie_comes_first_and_is_drawn_widest():
    ties = strongest_ties(net(0.6, 0.99, 0.7))
    assert [(tie.one, tie.other) for tie in ties] == [("q0", "q1"), ("q1", "q2"), (HARM, "q0")]
    assert ties[0].log_odds == pytest.approx(2 * math.log(99))
    assert ties[0].times == "odds change up to 9,800 times"
    drawing = model_drawing(net(0.6, 0.99, 0.7))
    assert drawing.svg.count("<path") == 2
    assert 'stroke-width="5"' in drawing.svg
    assert HARM not in drawing.svg
    assert "&lt;script&gt;" in drawing.svg


def test_what_is_ruled_out_is_said_so():
    (tie,) = strongest_ties(net(1.0))
    assert "rule out" in tie.times
    assert StrongTie("a", "b", 20.0).times == "odds change over a million times"
    assert model_drawing(net(1.0)) is not None


def test_groups_are_drawn_as_one_of_them_and_large_ones_in_part():
    assert model_drawing(Groups(3)).svg.count("<text") == 3
    assert "24 of its 1,000 rows" in model_drawing(Groups(1000)).caption


def test_large_models_show_their_strongest_part_and_others_nothing():
    chain = MarkovChain(500, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    drawing = model_drawing(chain)
    assert drawing.svg.count("<text") == 24
    assert "24 of 500" in drawing.caption
    assert model_drawing(Gaussian.of([[1.0, 0.5], [0.5, 1.0]])) is None
    assert model_drawing(net()) is None
