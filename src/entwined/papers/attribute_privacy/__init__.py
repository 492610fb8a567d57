"""Zhang, Ohrimenko and Cummings, "Attribute Privacy" (FAccT 2022): reproduced, and judged part by part.

Noise here comes from seeded generators and all tables are made up, so nothing here can be released. Out of scope is
the remark that variational auto-encoders could make data Gaussian: the paper proves nothing of it, since an encoder
that is fitted to the rows is itself a release.

hospital ─> releases, drawn            §4.2: three averages, both readings of the secret, errors of drawn noise
quantiles                              Theorems 2 and 4: how far noise goes, and where the formulas slip
school ─> values_or_parameters         Example 1 and Figure 1; what differs from Song, Wang and Chaudhuri
free_noise                             where no noise is needed, by correlation and number of rows
experiments ─> verdicts ─> figures, pages
"""

from typing import Final

NOTICE: Final = (
    "REPRODUCTION ONLY: simulated with seeded noise on made-up tables. Nothing here protects a row, and the promise is "
    "about the class of laws that the paper declares, which its own generator lies outside of."
)
