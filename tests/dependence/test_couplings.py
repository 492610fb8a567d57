"""Connected components: few links are walked one way and many another, to the same end."""

import numpy as np
import pytest

from entwined.dependence import BayesNet, Variable
from entwined.dependence import bayes_net as networks
from entwined.dependence.couplings import few_labelled, labelled
from entwined.errors import BadModel


def test_few_links_are_walked_as_many_are():
    rng = np.random.default_rng(17)
    for _ in range(100):
        nodes = int(rng.integers(1, 40))
        ends = rng.integers(0, nodes, (int(rng.integers(0, 40)), 2))
        assert (few_labelled(nodes, ends) == labelled(nodes, ends)).all()


@pytest.mark.parametrize("few", [20_000, 0])
def test_a_network_that_goes_round_is_refused_however_it_is_walked(monkeypatch, few):
    monkeypatch.setattr(networks, "FEW", few)
    half, step = [[0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]
    fine = [
        Variable("a", ("0", "1"), (), half),
        *(Variable(b, ("0", "1"), (a,), step) for a, b in ("ab", "bc")),
    ]
    assert BayesNet.of(fine).units == 3
    round_ = [
        Variable("a", ("0", "1"), (), half),
        *(Variable(b, ("0", "1"), (a,), step) for a, b in ("cb", "bc")),
    ]
    with pytest.raises(BadModel, match="'b' is its own ancestor"):
        BayesNet.of(round_)
