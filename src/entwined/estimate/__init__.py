"""Step 10: from noise to numbers. Everything here is post-processing of what was drawn.

    drawn integers ─> as_drawn ─> answers.Release ─> consistent_release: the same, with numbers that agree
                        │                              │
                      spans: where the truth lies    agreement ─> layout ─> least_squares ─> rounding ─> consistency

`error_law`, `intervals`, `ratios` and `shares` make intervals, `grid` says where a number can lie; `effects` splits
tables, `controlled` rounds them.
"""
