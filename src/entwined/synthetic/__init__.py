"""Synthetic tables: how good one is.

likeness ─ relations ─ subgroups        marginals, what hangs together, for whom it is worst
softmax ─> telling_apart, training      can a row be told from a real one, is a model trained on it any good
disclosure                              attacks, as weak evidence
holders_rows ─> inspection              all of it, for the holder's eyes alone
"""
