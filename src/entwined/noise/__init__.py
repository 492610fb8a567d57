"""Step 6: what is added. Integers in, integers out, from the operating system's entropy.

    protocol.Law ─┬─ Additive: laplace (a pure loss ε), gaussian (a concentrated loss ρ; `concentrated`: its ε at δ)
                  └─ choice: one of many candidates, exactly (`exponentials`)

An answer is a count or a fixed-point sum, so it is an integer, and so is its noise: what comes out lies on
the same `lattice` whatever went in, and the ratio of two probabilities is exact. No name here takes a seed.
`gradual` takes Laplace noise away step by step. `dominated` says which ρ each law is charged where no more may be
shown than Gaussian noise shows. `sampler` draws; `documents` writes a law as its name and one exact fraction, and
reads it back.
"""

from entwined.noise.choice import ExponentialChoice
from entwined.noise.concentrated import delta_at, epsilon_at, group_rho, largest_rho
from entwined.noise.documents import additive, law_from, noise_from
from entwined.noise.gaussian import DiscreteGaussian
from entwined.noise.gradual import GradualLaplace
from entwined.noise.laplace import DiscreteLaplace
from entwined.noise.protocol import Additive, ConcentratedNoise, Law, Noise

__all__ = [
    "Additive",
    "ConcentratedNoise",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ExponentialChoice",
    "GradualLaplace",
    "Law",
    "Noise",
    "additive",
    "delta_at",
    "epsilon_at",
    "group_rho",
    "largest_rho",
    "law_from",
    "noise_from",
]
