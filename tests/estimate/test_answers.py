"""Releases as documents: read back as they were written, and those of the first format too."""

import json
from fractions import Fraction

import pytest

from entwined.errors import BadInput
from entwined.estimate.answers import Answered, Release
from entwined.estimate.spans import Around, Between, Ranks
from entwined.noise import DiscreteGaussian, DiscreteLaplace, ExponentialChoice

LAPLACE, GAUSSIAN, CHOICE = (
    DiscreteLaplace(Fraction(3, 2)),
    DiscreteGaussian(Fraction(5, 4)),
    ExponentialChoice(Fraction(1, 3)),
)
ANSWERS = (
    Answered('{"column":"a","query":"histogram"}', (3, -1), Around(6), ((3, -1),), (LAPLACE,)),
    Answered(
        '{"column":"b","query":"mean"}',
        Fraction(1, 3),
        Between(Fraction(0), Fraction(1)),
        ((1,), (3,)),
        (LAPLACE, GAUSSIAN),
    ),
    Answered('{"column":"c","query":"quantile"}', 7, Ranks(4), ((7,),), (CHOICE,)),
)
RELEASE = Release(ANSWERS, {"says": "nothing"})


def test_a_release_is_read_back_with_its_laws():
    document = json.loads(RELEASE.content)
    assert document["format"] == "entwined release 2"
    assert document["answers"][0]["noise"] == [{"law": "discrete Laplace", "scale": "3/2"}]
    again = Release.from_document(document)
    assert (again, again.digest) == (RELEASE, RELEASE.digest)
    assert again.answers[0].noise[0].half_width(0.95) == LAPLACE.half_width(0.95)


def test_a_release_of_the_first_format_is_read_as_the_same():
    document = json.loads(RELEASE.content) | {"format": "entwined release 1"}
    for answer, one in zip(document["answers"], ANSWERS, strict=True):
        answer["noise"] = [str(law) for law in one.noise]
    assert document["answers"][2]["noise"] == ["exponential choice of rate 1/3"]
    assert Release.from_document(document) == RELEASE


@pytest.mark.parametrize("noise", ["discrete Laplace of scale 0", "noise", {"law": "discrete Laplace"}, 3])
def test_a_noise_that_no_law_wrote_is_refused(noise):
    document = json.loads(RELEASE.content)
    document["answers"][0]["noise"] = [noise]
    with pytest.raises(BadInput):
        Release.from_document(document)
