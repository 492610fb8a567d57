"""Noisy marginals for synthetic rows: which tables are counted, with what noise, and the law that is fitted to them.

domain ─> synthesis.Synthesis ─> measured.NoisyMarginals: tables of counts with noise
             │  recipes · declared_tables what is counted where that is settled before
             │  correlated · adaptive      what is counted, one step after another; `meter` gives each its noise
             │  looked_at · afforded · relations   which pairs; how many tables a loss affords; what belongs together
             │  grain · explained         cells that noise would drown put together; what a law explains worst
             └─ junction ─> agreement ─> law.CellLaw ─> made_up: rows of cells that nobody ever was
                  columns_alone ─────────────┘  put_right: so that columns count what all tables say of them
"""
