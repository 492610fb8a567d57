"""Parameters that cannot be are refused before anything is drawn, and without a word about the rows."""

import inspect
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from entwined import noise as package
from entwined.errors import BadInput
from entwined.noise import (
    Additive,
    ConcentratedNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialChoice,
    Noise,
    delta_at,
    epsilon_at,
    group_rho,
    largest_rho,
)

EXTREME = [
    0,
    -1,
    float("nan"),
    float("inf"),
    -float("inf"),
    1e-320,
    1e308,
    "ε",
    "",
    None,
    Fraction(10) ** 400,
]
NO_PROBABILITY = [0, 1, 1.5, -0.1, float("nan"), float("inf"), "x"]


@pytest.mark.parametrize("value", EXTREME)
def test_extreme_parameters_are_refused(value):
    for make in (
        DiscreteLaplace,
        DiscreteGaussian,
        ExponentialChoice,
        lambda x: DiscreteLaplace.for_loss(x, Fraction(1)),
        lambda x: DiscreteGaussian.for_rho(x, Fraction(1)),
        lambda x: ExponentialChoice.for_loss(x, Fraction(1)),
        lambda x: epsilon_at(x, 1e-6),
        lambda x: group_rho(x, 2),
        lambda x: largest_rho(x, 1e-6),
    ):
        make(1)
        with pytest.raises(BadInput):
            make(value)


@pytest.mark.parametrize("scale", [Fraction(1, 2**10 + 1), Fraction(2**52 + 1), Fraction(1, 10**30), 1e30])
def test_scales_that_the_lattice_cannot_hold_are_refused(scale):
    for kind in (DiscreteLaplace, DiscreteGaussian):
        with pytest.raises(BadInput, match="2⁻¹⁰ to 2⁵²"):
            kind(scale)
    with pytest.raises(BadInput):
        ExponentialChoice(1 / Fraction(scale))


@pytest.mark.parametrize("value", NO_PROBABILITY)
def test_what_is_no_probability_is_refused(value):
    for kind in (DiscreteLaplace, DiscreteGaussian):
        with pytest.raises(BadInput):
            kind(Fraction(1)).half_width(value)
        with pytest.raises(BadInput):
            kind(Fraction(1)).accuracy(value)
    with pytest.raises(BadInput):
        epsilon_at(0.5, value)
    with pytest.raises(BadInput):
        largest_rho(1, value)


@pytest.mark.parametrize("sensitivity", [-1, 0.5, float("nan"), "1", None, Fraction(-1, 3)])
def test_a_sensitivity_is_an_exact_number_not_below_zero(sensitivity):
    with pytest.raises(BadInput):
        DiscreteLaplace(Fraction(1)).loss(sensitivity)
    with pytest.raises(BadInput):
        DiscreteGaussian(Fraction(1)).rho(sensitivity)
    with pytest.raises(BadInput):
        ExponentialChoice(Fraction(1)).loss(sensitivity)


@pytest.mark.parametrize(
    "answers", [[1.5], [4711, None], ["4711"], [float("nan")], np.array([4711.0]), [b"4711"]]
)
def test_answers_that_are_no_integers_are_refused_without_showing_them(answers):
    for kind in (DiscreteLaplace, DiscreteGaussian):
        with pytest.raises(BadInput) as refusal:
            kind(Fraction(1)).add(answers)
        assert "4711" not in str(refusal.value)
    with pytest.raises(BadInput):
        ExponentialChoice(Fraction(1)).choose(answers)


def test_the_size_of_an_answer_never_raises():
    for answers in (
        [2**63],
        [-1, 2**63],
        [2**64, -(2**64)],
        [10**400],
        np.array([2**64 - 1], dtype=np.uint64),
    ):
        assert DiscreteLaplace(Fraction(1)).add(answers).dtype == np.int64
        assert ExponentialChoice(Fraction(1)).choose(answers) in range(len(answers))


def test_a_target_that_no_rho_meets_is_refused():
    with pytest.raises(BadInput, match="Ask for a larger"):
        largest_rho("1e-200", "1e-290")
    with pytest.raises(BadInput):
        group_rho(1, 0)
    with pytest.raises(BadInput):
        delta_at(1, 0)


def test_refusing_does_not_even_load_the_sampler():
    script = (
        "import sys\n"
        "from fractions import Fraction\n"
        "from entwined.errors import BadInput\n"
        "from entwined.noise import DiscreteLaplace\n"
        "try:\n    DiscreteLaplace(Fraction(0)).add([1])\n"
        "except BadInput:\n    print('opendp' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_noises_keep_their_protocols():
    laplace: Noise = DiscreteLaplace(Fraction(1))
    gaussian: ConcentratedNoise = DiscreteGaussian(Fraction(1))
    assert isinstance(laplace, Noise)
    assert not isinstance(laplace, ConcentratedNoise)
    assert isinstance(gaussian, ConcentratedNoise)
    assert not isinstance(gaussian, Noise)  # no pure loss, so no pure bound takes it by mistake
    for name in (name for name in vars(Additive) if not name.startswith("_")):
        assert hasattr(laplace, name)
        assert hasattr(gaussian, name)


def test_nothing_takes_a_seed():
    forbidden = {"seed", "rng", "random_state", "generator", "random"}
    for thing in (getattr(package, name) for name in package.__all__):
        members = (
            [m for m in vars(thing).values() if inspect.isfunction(m)] if inspect.isclass(thing) else [thing]
        )
        for member in members:
            assert not set(inspect.signature(member).parameters) & forbidden, member
    for word in sorted(forbidden):
        with pytest.raises(TypeError):
            DiscreteLaplace(Fraction(1), **{word: 0})
        with pytest.raises(TypeError):
            DiscreteLaplace(Fraction(1)).add([0], **{word: 0})
        with pytest.raises(TypeError):
            ExponentialChoice(Fraction(1)).choose([0], **{word: 0})
