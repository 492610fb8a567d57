"""Secrets about a whole table: what an answer says about a column, or about the parameter that it is drawn with.

The randomness of the data is part of the noise:

    secrets ──> linked (laws of answers given the secret) ──> far_apart (worst pairs) ──> guarded ──> together
                                                                │
        two_normals <── least_noise <───────────────────────────┤   normal answers, one at a time
        least_trace, joint_noise  <─────────────────────────────┤   several answers at once
        summed_laws, enumerated   <─────────────────────────────┘   answers that are not normal, exactly
        chance_boxes, beside_counts    chances by their ends; counts beside other answers
        on_grid                        what whole numbers cost
    joint_secrets (one secret over several columns)        regressed (coefficients of a regression)

Remote columns say little:

    column_query ──> noisy_columns (Laplace noise or none) ──> parameter_quilt (the theorem)
    parameter_law (what parameters show of another, by exact sums) ──> quilts (which columns count as remote)
    network_members (the worst of a class of networks)
    gaussian_quilts (the same under Gaussian noise) ──> quilt_guard (a secret that a release keeps; guards: any such)
    laplace_noise (the same by a release with Laplace noise, for certain)
    separation    (every quilt of a network as it was published, to compare)

Secrets of any kind, where the laws of an answer given each value are at hand:

    moves (ways to carry one law into another) ──> wasserstein_noise (for how far a secret moves the law of an answer)

Nothing here protects a row: see `promise/secrets.py` for what has to be said of rows beside it.
"""
