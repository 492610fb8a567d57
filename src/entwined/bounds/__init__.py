"""Step 5: what an answer can leak.

    exposure.Exposure ─┐                     ┌─> choose.bound: the smallest leakage that a theorem proves
    dependence model ──┴─> theorem.Theorem ──┤─> calibrate: the largest loss for a leakage; allocate: shared out
                            one file each    ├─> curve: what it leaks if units depend more on each other
                                             └─> certificate: derived again without data (`verify`)

theorem, exposure         what a theorem is, and what it starts from: losses, concentrated losses, a noisy sum, …
choose                    the one list of theorems, and `bound`, which takes the best that applies
calibrate, allocate       turned round: the most that may be shown for a leakage
sketched                  the same where that takes long, by noise_sketch and power_law; flow: what moves what on a tree
curve                     what if units depended on each other more
outside                   theorems of other distributions, for who trusts these by name
hints                     what further knowledge would lower a bound, and by how much
certificate, guarantee    what was proved, in numbers and words; `verify` derives it again without the data

profiles                  what noise shows at every ε at once, and how it travels
separable                 Gaussian noise, each part reading one unit: chains and forests, groups
separable_blocks          the same on chains that forget slowly, blocks of steps at once
shared_parts              the same with parts that read several units, such as a table of two questions
gaussian_noise            Gaussian noise in any mechanism: any factor graph, groups
group                     whatever depends on what inside a group; concentrated_group under Gaussian noise
pair_messages, pairs      trees of units of many values, each two of which have a message of their own
messages                  any factor graph: chains, trees, loopy; walks, influence, elimination beside it
transport, tilted         forests, by their kernels (frontier, contenders: what one kernel lets through)
blocks                    chains that forget slowly, blocks of steps at once
quilt, markov, pairwise   what others have published, where it is sound
ties                      the same for ties that are declared, under an assumption that must be believed
forms, filled_blanks      questionnaires in forms; separable_forms, separable_filled under Gaussian noise
scalar, wasserstein       one noisy sum; series_sum: over many series, each as long as it likes;
                          both_sides: the same of thousands of steps
gaussian                  units that are Gaussian; noisy_linear: weighted sums of them under Gaussian noise;
                          clipped_values: sums of them within public bounds, under either noise
attributes                secrets about whole columns: what an answer shows of the parameter that one is drawn with
places                    people in cities, for each unit of distance; carried: what a kernel carries on of it
"""

from entwined.bounds.allocate import allocate
from entwined.bounds.calibrate import Calibration, calibrate
from entwined.bounds.certificate import Certificate, Verdict, certify, verify
from entwined.bounds.choose import Bound, bound
from entwined.bounds.clipped_values import ClippedValues
from entwined.bounds.concentrated_loss import ConcentratedLoss, SharedPart
from entwined.bounds.curve import Curve, curve
from entwined.bounds.distance_loss import DistanceLoss
from entwined.bounds.exposure import Exposure
from entwined.bounds.hints import Hint
from entwined.bounds.noisy_linear import NoisyLinear
from entwined.bounds.noisy_sum import NoisySum
from entwined.bounds.theorem import Knowledge, Theorem

__all__ = [
    "Bound",
    "Calibration",
    "Certificate",
    "ClippedValues",
    "ConcentratedLoss",
    "Curve",
    "DistanceLoss",
    "Exposure",
    "Hint",
    "Knowledge",
    "NoisyLinear",
    "NoisySum",
    "SharedPart",
    "Theorem",
    "Verdict",
    "allocate",
    "bound",
    "calibrate",
    "certify",
    "curve",
    "verify",
]
