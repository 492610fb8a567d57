"""Releases as documents: read back as they were written, with adjusted numbers and warnings."""

import json
from fractions import Fraction

import pytest

from entwined.errors import BadInput
from entwined.estimate.answers import Adjustment, Answered, Contradiction, Release
from entwined.estimate.spans import Around, Between, Ranks
from entwined.noise import DiscreteGaussian, DiscreteLaplace, ExponentialChoice

LAPLACE, GAUSSIAN, CHOICE = (
    DiscreteLaplace(Fraction(3, 2)),
    DiscreteGaussian(Fraction(5, 4)),
    ExponentialChoice(Fraction(1, 3)),
)
ANSWERS = (
    Answered(
        '{"column":"a","query":"histogram"}',
        (Fraction(27, 10), -1),
        Around(6),
        ((3, -1),),
        (LAPLACE,),
        adjusted=Adjustment((2, 0), Between((0, 0), (9, 5)), "Counts of about 1 to 4 are up to 2 too low."),
    ),
    Answered(
        '{"column":"b","query":"mean"}',
        Fraction(1, 3),
        Between(Fraction(0), Fraction(1)),
        ((1,), (3,)),
        (LAPLACE, GAUSSIAN),
    ),
    Answered('{"column":"c","query":"quantile"}', 7, Ranks(4), ((7,),), (CHOICE,)),
)
WARNING = Contradiction(
    "rows", "The table has 4 rows.", "Declare rows.", ('{"column":"a","query":"histogram"}',)
)
RELEASE = Release(ANSWERS, {"says": "nothing"}, warnings=(WARNING,))


def test_a_release_is_read_back_with_its_laws():
    document = json.loads(RELEASE.content)
    assert document["format"] == "entwined release 3"
    assert document["answers"][0]["noise"] == [{"law": "discrete Laplace", "scale": "3/2"}]
    again = Release.from_document(document)
    assert (again, again.digest) == (RELEASE, RELEASE.digest)
    assert again.answers[0].noise[0].half_width(0.95) == LAPLACE.half_width(0.95)


@pytest.mark.parametrize("other", ["entwined release 1", "entwined release 2", "", None])
def test_a_release_of_another_format_is_refused(other):
    with pytest.raises(BadInput, match="entwined release 3"):
        Release.from_document(json.loads(RELEASE.content) | {"format": other})


@pytest.mark.parametrize("noise", ["discrete Laplace of scale 0", "noise", {"law": "discrete Laplace"}, 3])
def test_a_noise_that_no_law_wrote_is_refused(noise):
    document = json.loads(RELEASE.content)
    document["answers"][0]["noise"] = [noise]
    with pytest.raises(BadInput):
        Release.from_document(document)
