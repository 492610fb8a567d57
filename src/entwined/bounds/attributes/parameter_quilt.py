"""The attribute-private Markov quilt: an answer shows little of a parameter that it reads only from afar."""

from typing import Final

from entwined.bounds.attributes.noisy_columns import NoisyColumns
from entwined.bounds.attributes.quilts import quilt_leakage
from entwined.bounds.theorem import Secret, theorem
from entwined.dependence import BayesNet
from entwined.loss import Leakage

PARAMETER: Final = Secret("any two values of the parameter that any one column is drawn with")


@theorem("model", secret=PARAMETER)
def parameter_quilt_bound(asked: NoisyColumns, network: BayesNet) -> Leakage:
    """Bound what an answer shows of the parameter of a whole column by the best quilt of columns.

    Theorem. Let the parameters φ_1 … φ_m of the columns of a table have the law of a Bayesian network, or of any of a
    class of them whose chances lie in intervals, and let each column be drawn with its parameter alone. Release F(X)
    with Laplace noise of scale t, where F reads the columns A and moves by at most Δ_B if those of B change as a whole
    (as a list, by the sum of absolute moves). For a set Q of columns without i let e_Q(a, b) be the largest
    log p(φ_Q | φ_i = a) / p(φ_Q | φ_i = b) over the φ_Q that can occur given a. Then for every set S of outputs:
    log Pr[M ∈ S | φ_i = a] / Pr[M ∈ S | φ_i = b] ≤ min over Q of e_Q(a, b) + Δ_{A∖Q} / t. The leakage of i is at most
    the largest of these minima over its secret values a and b; of sets of values it is that of their worst values,
    or, where so stated, of their means under the network.

    Checked. The network is one law, and e is summed exactly; or the law of i and of its causes is one, and e is the
    largest over all corners of the other intervals. What rules a value out shows it: e is infinite. Of values that
    cannot occur the network says nothing, and they are told apart by at most Δ_i / t, with all other columns held
    fixed. All sets Q of asked columns are tried, if these are up to 12, and of more only those that show least one by
    one; a minimum over fewer sets is still a bound. Every operation is rounded up. A column without a stated secret,
    where some are stated, counts as 0.

    Trusted. The parameters follow this network, which the adversary knows with the values of no parameter. Given all
    parameters the columns are independent of each other, and each depends on its own parameter alone: no column
    depends on another's cells but through the parameters. Parameters take the listed values only. This answer is the
    only release about these parameters: leakages do not add.

    Proof. Fix a, b and Q. Given φ_Q the columns of Q are independent of φ_i and of all other columns. So Pr[M ∈ S |
    φ_i = a, φ_Q] and the same for b are means over one law of the columns of Q and, these held fixed, means over
    values of the columns outside Q, of which any two move F by at most Δ_{A∖Q}: they differ by a factor of at most
    exp(Δ_{A∖Q} / t). Averaging over φ_Q with weights p(φ_Q | a) ≤ exp(e_Q) p(φ_Q | b) adds e_Q. With t = 0 the claim
    is for sets Q that hold all of A. A quilt with remote columns R, independent of φ_i given φ_Q, is the case Q ∪ R,
    since e_{Q∪R} = e_Q; and the sets Q ⊆ A are enough, since leaving out columns that are not asked about lowers e and
    moves nothing. A set of values is a mixture of them, and ratios of mixtures are at most the largest ratio. Where the
    law of i and of its causes is known, the ratio is linear-fractional in each row of chances, and largest at a corner.

    Source. Zhang, Ohrimenko, Cummings (2022), Theorem 3; that quilts of asked columns are the best, and a quilt for
    each pair of values, are new here.
    """
    return Leakage(quilt_leakage(asked, network))
