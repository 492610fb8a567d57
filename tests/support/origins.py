"""What models that tests make by hand say they were learned from."""

from entwined.dependence import LearnedFrom, LearningCharge

CHARGED = LearnedFrom(
    "the private table with a budget", charge=LearningCharge("a ledger", "3:0123456789abcdef")
)
