"""What was public cost nothing when it was shown, so no later terms can promise to protect it."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import Box, MarkovChain
from entwined.errors import Refused
from entwined.mechanisms.batch import plan_batch
from entwined.mechanisms.streams.stream import Stream
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, parse
from entwined.schema import Boolean, Cells, Integer, Schema


def cells(*, public):
    return Schema((Boolean("ill"), Integer("ward", 0, 3, public=public)), unit=Cells(), rows=9).approve()


def test_a_column_that_was_shown_for_nothing_is_not_protected_afterwards():
    shown, hidden = (Promise.of(cells(public=public)) for public in (True, False))
    both = Count(where=parse("ill and ward = 1", shown.schema))
    totals = {part.key: part for part in plan_batch(shown, both, loss=1).charged}
    assert shown.base(totals.values()).columns == {"ill": 1}
    assert hidden.base(plan_batch(hidden, both, loss=1).charged).columns == {"ill": 1, "ward": 1}
    with pytest.raises(Refused, match="'ward' was public"):
        hidden.carried(shown.document, totals)
    assert hidden.carried(shown.document, {}) == {}  # nothing was released
    assert shown.carried(shown.document, totals) == totals


def test_steps_of_a_stream_stay_public():
    """A row that changes its step changes two answers: the stream was charged for one."""

    def promise(*, public):
        schema = Schema((Integer("day", 1, 4, public=public), Boolean("ill")), most_rows=50).approve()
        chain = MarkovChain(50, Box.exact(np.full((2, 2), 0.5)), np.array([0.5, 0.5]))
        return Promise.of(schema, [Declared(chain, columns=("ill",), never_missing=("ill",))])

    shown = promise(public=True)
    query = Count(where=parse("ill", shown.schema))
    stream = Stream.of(shown, query, Fraction(1, 2), answer="each", horizon=4, step="day")
    totals = {part.key: part for part in stream.parts(shown)}
    with pytest.raises(Refused, match="'day' was public"):
        promise(public=False).carried(shown.document, totals)
