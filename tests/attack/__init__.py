"""An attacker of the whole path: from a population whose law is known to the certificate, on tables so small that
what everybody could see is enumerated.

`laws` random laws, read from models and from pilots · `adversary` the exact leakage of one hidden unit of the
population · `path` files, request, release, verify · `answers` what each hidden table would have answered ·
`cells`, `groups`, `series`, `budgets` populations · `examples` populations in which one thing matters · `traps` what
has to be refused · `forgeries` certificates that claim less · `undone` what was mended, taken out again · `run`,
`tally` many of them: how many held, how tightly, and what was refused.
"""
