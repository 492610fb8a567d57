"""Releases made of numbers that are given, without a table, a ledger or a draw."""

from fractions import Fraction

import numpy as np

from entwined.estimate.answers import Answered, Release
from entwined.estimate.spans import Around
from entwined.noise import DiscreteLaplace
from entwined.queries.documents import written


def answered(query, schema, numbers, scale=10):
    """Say that these integers were drawn for a question, with Laplace noise of this scale."""
    noise, asked = DiscreteLaplace(Fraction(scale)), query.bound(schema)
    drawn = (tuple(map(int, np.atleast_1d(numbers))),)
    reach = noise.half_width(Fraction(95, 100))
    return Answered(asked.fingerprint, asked.answer(schema, drawn), Around(reach), drawn, (noise,))


def release_of(queries, schema, numbers, scale=10, by=None):
    """Put the answers together, with what a certificate says of the questions; `by` names groups that were cut."""
    answers = tuple(
        answered(*one, scale) for one in zip(queries, [schema] * len(queries), numbers, strict=True)
    )
    asked = [{"query": written(query.bound(schema))} for query in queries]
    models = [{"declared": {"by": by}}] if by else []
    told = {"schema": schema.digest, "mechanism": {"asked": asked}, "models": models}
    return Release(answers, told)
