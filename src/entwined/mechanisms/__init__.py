"""Private computations without their rows: each is a `Mechanism` that the door admits.

batch             counts, totals, means, quantiles together: statistics (`asked`) get noise (`draws`)
structure_search  parents of each column, by scores that no unit moves far (`parents`)
classifiers/      logistic regression and linear support vector machine, each by three methods
k_means           k-means over columns of numbers (`space`), a noisy scan a round; what comes out are `clusters`
degrees           how many ids are named how often: the degrees of a graph
offered           mechanisms that a release file asks for by name, and the `sheet` that each shows of itself
fitting           how much loss each statistic may have, and where it falls
told              what is drawn says its noise
kinds             every mechanism by the name in its document: a certificate is derived again from there
"""
