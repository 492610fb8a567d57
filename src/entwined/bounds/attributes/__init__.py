"""Attribute privacy: what an answer says about a whole column, the randomness of the data being part of the noise.

    secrets ──> linked (laws of answers given the secret) ──> far_apart (worst pairs)
                                                                │
        two_normals, spread_apart <── least_noise <─────────────┤   normal answers, one at a time
        least_trace               <─────────────────────────────┤   several answers at once
        summed_laws, enumerated   <─────────────────────────────┘   answers that are not normal, exactly
        on_grid                        what whole numbers cost

Nothing here protects a row: see `promise/secrets.py` for what has to be said of rows beside it.
"""
