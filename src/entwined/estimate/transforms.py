"""The characteristic and moment functions of the integer noises."""

import math

import numpy as np

from entwined.errors import BadNoise
from entwined.noise import Additive, DiscreteGaussian, DiscreteLaplace
from entwined.numbers import FloatArray


def log_transform(noise: Additive, frequencies: FloatArray) -> FloatArray:
    """Give log E cos(t · noise)."""
    match noise:
        case DiscreteLaplace():
            return -np.log1p(2 * noise.variance * np.sin(0.5 * frequencies) ** 2)
        case DiscreteGaussian():
            return _log_gaussian(float(noise.scale), frequencies)
    raise _unknown(noise)


def log_moment(noise: Additive, tilts: FloatArray) -> FloatArray:
    """Give log E exp(λ · noise), or more; infinite where there is none."""
    match noise:
        case DiscreteLaplace():
            # beyond the pole at 1/scale there is no moment, and a little before it floats cannot be trusted
            near = np.minimum(np.abs(tilts), 0.99 / float(noise.scale))
            logs = -np.log1p(-2 * noise.variance * np.sinh(0.5 * near) ** 2)
            return np.where(near < np.abs(tilts), math.inf, logs)
        case DiscreteGaussian():
            # Canonne, Kamath, Steinke 2020: never above the moment of the normal law of this scale
            return 0.5 * (float(noise.scale) * tilts) ** 2
    raise _unknown(noise)


def _log_gaussian(scale: float, frequencies: FloatArray) -> FloatArray:
    if scale < 1:
        places = np.arange(1, 10)
        chances = np.exp(-0.5 * (places / scale) ** 2)
        total = 1 + 2 * chances.sum()
        # 1 − cos is exact for small angles, where the log is near 0
        misses = chances @ np.sin(0.5 * places[:, None] * frequencies) ** 2
        return np.asarray(np.log1p(-4 * misses / total))
    # Poisson's summation: the normal transform, repeated every 2π; a fourth would be below e⁻³⁹ of the first
    turned = np.remainder(frequencies + math.pi, 2 * math.pi) - math.pi
    others = sum(np.exp(-2 * math.pi * scale**2 * (math.pi + sign * turned)) for sign in (-1, 1))
    return (
        -0.5 * (scale * turned) ** 2
        + np.log1p(others)
        - math.log1p(2 * math.exp(-2 * (math.pi * scale) ** 2))
    )


def _unknown(noise: Additive) -> BadNoise:
    return BadNoise(
        f"{type(noise).__name__} is a noise whose law is not known here. "
        "Use discrete Laplace or discrete Gaussian noise."
    )
