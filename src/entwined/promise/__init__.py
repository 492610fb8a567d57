"""Step 7: what is promised.

A `Promise` is everything that is settled before the first question: the schema, the declared models, what an
adversary is taken to know, and in what is charged. It is a value, and its digest is what a ledger is opened under.

    schema ─┐
    models ─┼─> promise.Promise ─> price(totals): the nominal ε, and the leakage under every model
    knows ──┤        │
    measure ┘        └─> part.Part: where a loss falls;  totals.Totals: all that fell so far

`declared` says which rows or columns the units of a model are, `domains` and `gates` whether it fits the schema,
`trusted` what the holder's word is taken for, `judge` which theorem is asked; `account` lays losses over the rows and
`amounts` adds them up, `places` names the parts of a table, `alone` prices one number that is all that was released,
`reserve` keeps several batches within what was priced once, and `terms` says how two promises differ.
"""
