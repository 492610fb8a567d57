"""Households with noise, for synthetic households: what is counted of them, with what noise.

seating.Seating: who sits where, and which columns ─> masses: what a household adds to a table, one part in all
    └─> households.HouseholdTables ─> released.NoisyHouseholds: tables of households with noise
            └─ relatives: which tables are worth counting, from noisy distances
"""
