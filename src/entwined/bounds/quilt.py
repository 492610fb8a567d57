"""Markov quilts: cut off what is near a unit, pay for what is inside and for what shows through the cut."""

import numpy as np

from entwined.bounds.chain_quilts import chain_quilt_leakage
from entwined.bounds.network_quilts import network_quilt_leakage
from entwined.bounds.theorem import theorem
from entwined.bounds.tree_quilts import tree_quilt_leakage
from entwined.dependence import Coupled, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss


@theorem("model")
def markov_quilt_bound(loss: Loss, model: MarkovChain) -> Leakage:
    """Bound the leakage on a chain by the best quilt for each secret, if the adversary knows the model alone.

    Theorem. Let the units be the steps of a Markov chain of known initial law and transitions. A quilt Q
    of unit i is X_{i−a}, or X_{i+b}, or both, or nothing; N is the set of units that it leaves connected
    to i, i among them. For values s and s' that X_i can take let e_Q(s, s') be the largest log p(x_Q | s)
    / p(x_Q | s') over the x_Q that can occur given s. Then for every output set S: log Pr[M ∈ S | X_i =
    s] / Pr[M ∈ S | X_i = s'] ≤ min over Q of Σ_{j∈N} ε_j + e_Q(s, s'). The leakage of i is at most the
    largest of these minima over s and s'.

    Checked. The model is one law and has its start. What rules a value out shows it: e is infinite. A
    value that cannot occur is no secret. All quilts are searched on chains of up to some 750 steps for 51
    states and 20,000 for two (with uneven losses 390 and 14,000). On longer chains ends farther away than
    that are left out (with uneven losses, than 32 steps or more), late steps share one bound on their
    marginal laws, and uneven losses count as their largest if steps × pairs of values exceed 20 million.
    States that come and go count as possible at the end of a quilt at every step after the 16th. A minimum
    over fewer quilts, or of larger terms, is still a bound. Every operation is rounded up.

    Trusted. The steps follow this chain, start and transitions, and the adversary knows the value of no unit.

    Proof. Fix s, s' and Q. Given x_Q, the units outside N and Q have a law that depends neither on X_i
    nor on the units in N. So Pr[M ∈ S | s, x_Q] and Pr[M ∈ S | s', x_Q] are means over one law of the
    outer units, and, these held fixed, means over values of N, of which any two are at most Σ_N ε_j
    apart. Averaging over x_Q with weights p(x_Q | s) ≤ exp(e_Q) p(x_Q | s') adds e_Q. The claim is about
    one pair (s, s') at a time, so each pair may have its own best quilt. That is never more than the one
    quilt for all pairs of the published mechanism, and equal to it for symmetric chains of two states.
    Given X_i, the ends of a quilt are independent, so e_Q is the sum of what each end shows, and the best
    ends are found one by one.

    Source. Song, Wang, Chaudhuri (2017), the Markov Quilt Mechanism; a quilt for each pair of values is
    new here.
    """
    return Leakage(np.minimum(chain_quilt_leakage(loss, model), model.group_totals(loss)))


@theorem("model")
def tree_quilt_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage on a tree by quilts at a distance, if the adversary knows the model alone.

    Theorem. Let the units form a tree or a forest of known law. A quilt Q of unit i has, for each
    neighbour j of i, either all units at one distance from i behind j, or none; N is the set of units
    that Q leaves connected to i, i among them. For values s and s' that X_i can take let e_Q(s, s') be
    the largest log p(x_Q | s) / p(x_Q | s') over the x_Q that can occur given s. Then for every output
    set S: log Pr[M ∈ S | X_i = s] / Pr[M ∈ S | X_i = s'] ≤ min over Q of Σ_{j∈N} ε_j + e_Q(s, s'). The
    leakage of i is at most the largest of these minima over s and s'.

    Checked. The model is one law, each unit depends on at most one parent, or the graph of a field has no
    cycle. All distances are searched but these: where the units at a distance behind a neighbour have
    more than 1,024 joint values (for a unit of two values, the two that show most stand for all), and
    beyond 60,000 links × distances. A minimum over fewer quilts is still a bound. Every operation is
    rounded up.

    Trusted. The true law is the model, and the adversary knows the value of no unit.

    Proof. As for chains: given x_Q the units outside N and Q do not depend on X_i, any two values of N
    are at most Σ_N ε_j apart, the weights p(x_Q | s) and p(x_Q | s') differ by at most exp(e_Q), and each
    pair of values may have its own quilt. Given X_i the branches behind its neighbours are independent,
    so e_Q and Σ_N ε_j are sums over the branches, and each branch has its own best distance. Inside a
    branch the units of a cut are not independent given X_i; their joint likelihood is computed, step by
    step from the cut towards i, by products at each unit where branches meet and by sums over the values
    of each unit on the way.

    Source. Song, Wang, Chaudhuri (2017), the Markov Quilt Mechanism on Bayesian networks; the search is
    new here.
    """
    if isinstance(model, MarkovChain):
        raise DoesNotApply("A Markov chain has more quilts than these. The Markov quilt theorem covers it.")
    return Leakage(np.minimum(tree_quilt_leakage(loss, model), model.group_totals(loss)))


@theorem("model")
def network_quilt_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage in networks and fields with cycles by quilts, if the adversary knows the model alone.

    Theorem. Let the units have the law of a Bayesian network or of a random field. For a set O of units without i let
    e_O(s, s') be the largest log p(x_O | s) / p(x_O | s') over the x_O that can occur given s. Then for every output
    set S: log Pr[M ∈ S | X_i = s] / Pr[M ∈ S | X_i = s'] ≤ min over O of e_O(s, s') + the sum of ε_j over all units j
    outside O that are not independent of i and O. The leakage of i is at most the largest of these minima over s and
    s'. A quilt Q that separates i and the units N inside from the rest R is the case O = Q ∪ R, with e_O = e_Q.

    Checked. The model is one law of at most 64 units. In components of at most 9 units all sets O are tried; in larger
    ones the quilts of all units at a distance of one, two or three factors from i, those left out that have more than
    4,096 joint values with i or cannot be summed out. A minimum over fewer sets is still a bound. The laws are sums of
    products of the model's numbers, and every operation is rounded up.

    Trusted. The true law is the model, and the adversary knows the value of no unit.

    Proof. Fix s, s' and O. Pr[M ∈ S | s, x_O] and Pr[M ∈ S | s', x_O] are means over values of the other units, of
    which any two are at most the sum of their losses apart; those in other components have one law, whatever s and x_O
    are, and are averaged over first. The weights p(x_O | s) and p(x_O | s') differ by a factor of at most exp(e_O).
    Where Q separates i from R, that is every path of factors from i to R goes through Q, X_R is independent of X_i
    given X_Q, so that p(x_Q, x_R | s) / p(x_Q, x_R | s') = p(x_Q | s) / p(x_Q | s').

    Source. Song, Wang, Chaudhuri (2017), the Markov Quilt Mechanism; any set of units as a quilt is new here.
    """
    if isinstance(model, MarkovChain):
        raise DoesNotApply("A Markov chain has more quilts than these. The Markov quilt theorem covers it.")
    return Leakage(np.minimum(network_quilt_leakage(loss, model), model.group_totals(loss)))
