"""Series over time: answers at every step, and what they leak however long they go on.

steps.LinesIn (lines that come in) ─┐
journal.StepJournal (on disk)  ─────┴─ following.Following: one stream, opened or found again
horizon     what leaks after 1, 2, 5, … steps and in the end; errors of every step, without a row
page        the same for people
"""
