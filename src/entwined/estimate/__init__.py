"""Step 10: from noise to numbers. Everything here is post-processing of what was drawn.

drawn integers ─> as_drawn ─────────────────────────────────> Release
└─> consistent_release ─> agreement ─┬─> consistency  tables of one condition, in closed form
└─> reconciled   counts over any conditions, by their atoms
Release ─> comparisons   differences, ratios, shares, bands for a whole table
"""
