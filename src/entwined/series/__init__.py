"""Series over time: answers at every step, and what they leak however long they go on.

steps.StepsIn (rows that come in) ──┐
journal.StepJournal (on disk) ──────┴─ following: one stream, opened or found again; `errors` of its answers
horizon: what leaks after 1, 2, 5, … steps and in the end, and how far off answers are; no row is read
"""
