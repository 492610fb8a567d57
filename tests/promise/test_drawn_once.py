"""What is proved of a number that is drawn once, and is all there is, is claimed for nothing else."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import Box, Groups, MarkovChain
from entwined.errors import Refused
from entwined.mechanisms.streams.stream import Stream
from entwined.promise.declared import Declared
from entwined.promise.places import place_of
from entwined.promise.promise import Promise, promise_of
from entwined.queries import Count, parse
from entwined.request.verbs import plan
from entwined.schema import Boolean, Integer, Schema, Text
from support.adversary import certified, gain, log_likelihoods
from support.memory_table import MemoryTable

ANTI = np.array([[0.02, 0.98], [0.98, 0.02]])
START = np.array([0.5, 0.5])
WHO, DAY, ILL = Text("who", compare="exact"), Integer("day", 1, 4, public=True), Boolean("ill")
DAYS = Schema((WHO, DAY, ILL), most_rows=100).approve()
IS_ILL = Count(where=parse("ill", DAYS))


def chain(length, **about):
    return Declared(MarkovChain(length, Box.exact(ANTI), START), never_missing=("ill",), **about)


def law_of(length):
    law = np.zeros([2] * length)
    for states in itertools.product((0, 1), repeat=length):
        law[states] = 0.5 * np.prod([ANTI[a, b] for a, b in itertools.pairwise(states)])
    return law


@pytest.mark.parametrize("answer", ["each", "running"])
def test_a_stream_has_the_loss_of_one_count_and_not_its_price(answer):
    """In a series that goes up and down the whole count says little, and the counts of its steps say much."""
    promise = Promise.of(DAYS, [chain(4, by="who", order="day")], "model")
    stream = Stream.of(promise, IS_ILL, Fraction(1, 2), answer=answer, horizon=4, step="day")
    parts = stream.parts(promise)
    assert all(place_of(part.key).number is None for part in parts)
    single = plan(DAYS, IS_ILL, loss=Fraction(1, 2), dependence=promise.declared, knowledge="model")
    assert certified(single) < 0.51
    states = list(itertools.product((0, 1), repeat=4))
    outputs = np.array(list(itertools.product(range(-1, 3), repeat=4)))
    shown = -np.abs(outputs[:, None, :] - np.array(states)[None]).sum(axis=2) / 2
    found = gain(law_of(4), shown, "model")  # of answers about each step
    assert 1.5 < found <= promise.alone(parts).worst


def test_where_another_model_picks_the_rows_the_law_of_the_sum_is_another_one():
    """The second step shares a house with somebody well, who is kept in its place: the others no longer even out."""
    schema = Schema((Text("house", compare="exact"), ILL), most_rows=4).approve()
    models = [chain(4, columns=("ill",)), Declared(Groups(1), by="house")]
    query = Count(where=parse("ill", schema))
    planned = plan(schema, query, loss=1, dependence=models, knowledge="model")
    assert planned.promise.base(planned.charged).number is None
    beside = {"house": "b", "ill": False}
    picked = [
        MemoryTable(
            schema, [*({"house": h, "ill": bool(s)} for h, s in zip("abc", states, strict=True)), beside]
        ).keeping("house", 1)
        for states in itertools.product((0, 1), repeat=3)
    ]
    found = gain(law_of(3), log_likelihoods(planned, picked), "model")
    alone = plan(schema, query, loss=1, dependence=models[:1], knowledge="model")
    assert certified(alone) < 1.01
    assert 1.9 < found <= certified(planned)


def test_a_stream_is_refused_within_a_reserve():
    panel = chain(4, by="who", order="day", panel=True)
    promise = promise_of(DAYS, [panel], "any", Fraction(1, 10**6), reserve={"ill": "0.01"})
    stream = Stream.of(promise, IS_ILL, Fraction(1, 1000), answer="running", horizon=4, step="day")
    with pytest.raises(Refused, match="only counts and histograms"):
        stream.parts(promise)
