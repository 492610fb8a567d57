"""Gaussian laws as people state them: files that name them."""

from pathlib import Path

import numpy as np
import pytest

from entwined.dependence import model_from

SIBLINGS = [[0.5, 0.25], [0.25, 0.5]]
GIVEN = {
    "siblings": ({"size": 3, "equal_correlation": 0.4}, [0.4, 0.4]),
    "a series": ({"size": 4, "autoregression": -0.5}, [-0.5, 0.25, -0.125]),
    "kin": ({"kinship": SIBLINGS, "heritability": 0.6}, [0.3]),
    "kin at home": ({"kinship": SIBLINGS, "heritability": 0.6, "shared": 0.2}, [0.5]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_file_may_say_how_members_belong_together(name):
    fields, first = GIVEN[name]
    model = model_from({"kind": "gaussian", **fields}, Path())
    assert model.covariance[0].tolist() == pytest.approx([1.0, *first])
    assert np.array_equal(model_from(model.document, Path()).covariance, model.covariance)
