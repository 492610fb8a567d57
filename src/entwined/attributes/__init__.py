"""What a release says about whole columns, beside the secrets that it keeps.

    talks         how far a release without noise would move the odds of each column's mean being high or low
    regression    coefficients of a linear regression as answers, for the noise of several answers at once

Secrets themselves are declared in a release file (`request/secrets_file.py`), kept by a promise (`promise/secrets.py`),
and proved in `bounds/attributes`.
"""

from entwined.attributes.regression import coefficient_case
from entwined.attributes.talks import Talk, talks_about, talks_of

__all__ = ["Talk", "coefficient_case", "talks_about", "talks_of"]
