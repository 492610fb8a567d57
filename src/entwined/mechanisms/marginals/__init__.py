"""Noisy marginals for synthetic rows: which tables are counted, with what noise, and the law that is fitted to them.

domain ─> synthesis.Synthesis ─> measured.NoisyMarginals: tables of counts with noise
             │  recipes · adaptive   what is counted, one step after another; `meter` gives each its noise
             │  relations            which columns belong together, from noisy distances
             └─ junction ─> law.CellLaw ─> made_up: rows of cells that nobody ever was
"""
