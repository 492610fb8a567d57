"""Step 10: from noise to numbers. Everything here is post-processing of what was drawn.

    drawn integers ─> as_drawn ─────────────────────────────> answers.Release
        │               │
        │             spans: where the truth lies             Release ─> comparisons: differences, ratios, bands
        │                                                             └> population: noise and sampling ─> trends
        └─> consistent_release ─> agreement ─┬─> consistency: tables of one condition, in closed form
                                             └─> reconciled: counts over any conditions, by their atoms

Both give unbiased estimates and adjusted whole numbers. `layout`, `effects`, `least_squares` and `rounding` serve
`consistency`; `atoms`, `projection`, `known_sums`, `cone`, `whole_atoms` and `number_of_rows` serve `reconciled`;
`sparse_counts` shrinks small counts for both. `contradictions` and `agreement_checks` test declarations on the draws,
and what fails is not relied on. `sampling` serves `population`. `error_law`, `intervals`, `ratios` and `shares`
make intervals, `grid` says where a number can lie, and `cut` between what. `quality` has the
classes of relative standard errors, `judged` those of every answer; `guess` says whether tables are better than a
uniform one.
"""
