"""Private computations without their rows: each is a `Mechanism` that the door admits.

batch             counts, totals, means, quantiles together: statistics (`asked`) get noise (`draws`)
structure_search  parents of each column, by scores that no unit moves far (`parents`)
classifiers/      logistic regression and linear support vector machine
lloyd             k-means in one column, a noisy scan a round
fitting           how much loss each statistic may have, and where it falls
kinds             every mechanism by the name in its document: a certificate is derived again from there
"""
