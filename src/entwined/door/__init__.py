"""Step 9: the one way out.

mechanism.Mechanism ─> door.Door.admit ─> Passed: output, price, certificate
                           │
    question    names it by rows, promise and document
    own_rows    refuses a model that was learned from these rows for nothing
    witnessed   holds table and ledger to each other
    running     one run of a charge, whatever goes wrong
    lending     lends the rows of an `answering` table, for the run alone
    following   a stream: charged once, lent rows block by block (`stepwise`), on disk before it is shown
    certificate what was charged, and what everything leaks so far
"""
