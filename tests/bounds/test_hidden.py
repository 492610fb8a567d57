"""Hidden units: a latent class ties answers together, shows nothing itself, and is no secret."""

from time import process_time

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, calibrate, certify, verify
from entwined.bounds.pairs import KNOWN, TILTED
from entwined.bounds.profiles.curves import GaussianCurve
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.separable import (
    crossed,
    separable_group_bound,
    separable_messages_bound,
    separable_transport_bound,
)
from entwined.dependence import BayesNet, Variable
from entwined.errors import BadModel
from entwined.loss import Leakage, Loss
from support.hockey_sticks import ChannelCurve, separable_sticks

DELTA = "1e-6"


def latent(rng, classes, questions, values=2, sharpness=2.0):
    """A class with its law, and questions that depend on it alone."""
    names = tuple(map(str, range(classes)))
    law = rng.dirichlet(np.full(classes, 3.0))
    tables = rng.dirichlet(np.full(values, sharpness), size=(questions, classes))
    answers = [
        Variable(f"q{j}", tuple(map(str, range(values))), ("class",), table.tolist())
        for j, table in enumerate(tables)
    ]
    return BayesNet.of([Variable("class", names, (), [law.tolist()]), *answers]), law, tables


def joint_of(law, tables):
    """The joint law, the class first."""
    joint = law
    for table in tables:
        joint = joint[..., None] * table.reshape(law.size, *[1] * (joint.ndim - 1), -1)
    return joint


def test_no_channel_behind_a_hidden_root_shows_more_than_the_theorems_say():
    rng, epsilons, ratios = np.random.default_rng(91), np.linspace(0, 3, 12), []
    for classes, values in ((2, 2), (2, 2), (3, 2), (4, 2), (2, 3)):
        model, law, tables = latent(rng, classes, 3, values, sharpness=0.7)
        channels = [rng.dirichlet([1.0] * 3, size=values) for _ in range(3)]
        silent = np.ones((classes, 1))
        curves = [GaussianCurve(0.0), *map(ChannelCurve.of, channels)]
        for knowledge, ways in (("any", TILTED), ("model", KNOWN)):
            told = crossed(curves, model.hiding(["class"]), ways.apart)(Grid.up_to(12.0, 1024))
            bounds = np.array([profile.at(np.expm1(epsilons)) for profile in told.profiles])
            worst = np.zeros_like(bounds)
            for unit, truth in separable_sticks(
                joint_of(law, tables), [silent, *channels], np.exp(epsilons), knowledge
            ):
                assert (bounds[unit] >= truth * (1 - 1e-11)).all()
                worst[unit] = np.maximum(worst[unit], truth)
            ratios.extend((bounds[worst > 1e-4] / worst[worst > 1e-4]).tolist())
    assert np.median(ratios) < 1.25


def shown(scale, model):
    """Gaussian noise on every answer and none on what is hidden."""
    rho = 1 / (2 * scale**2)
    return ConcentratedLoss.uniform(rho, model.units, DELTA, gaussian=True, separable=True).without(
        model.hidden
    )


def test_what_is_hidden_is_listed_but_no_secret_unless_it_is_not_called_hidden():
    model, *_ = latent(np.random.default_rng(92), 3, 6, sharpness=0.5)
    hidden = model.hiding(["class"])
    loss = shown(8.0, hidden)
    assert loss.rhos[0] == 0
    assert ConcentratedLoss.of([0, *loss.rhos[1:]], DELTA, gaussian=True, separable=True) == loss
    for knowledge in ("any", "model"):
        secret, free = bound(model, loss, knowledge), bound(hidden, loss, knowledge)
        assert free.leakage.per_unit[0] == secret.leakage.per_unit[0] == secret.leakage.worst
        assert free.leakage.worst == free.leakage.per_unit[1:].max() < secret.leakage.worst
        document = certify(free).document
        assert "any one unit but the hidden 'class' by" in document["guarantee"]
        assert "but the hidden" not in certify(secret).document["guarantee"]
        assert len(document["per_unit"]) == 7
        assert verify(document).valid
    document["inputs"]["model"] = {**document["inputs"]["model"], "hidden": ["class", "q0"]}
    assert not verify(document).valid


def test_noise_is_found_for_the_secrets_alone():
    model, *_ = latent(np.random.default_rng(93), 3, 5, sharpness=0.5)
    hidden = model.hiding(["class"])
    assert calibrate(hidden, 1).multiple > 1.05 * calibrate(model, 1).multiple
    assert calibrate(hidden, 1).exposure.per_unit[0] == 0
    found = calibrate(hidden, "0.5", "any", shown(8.0, hidden))
    assert found.exposure.rhos[0] == 0
    assert found.leakage.worst == pytest.approx(0.5, rel=1e-6)
    assert found.leakage.per_unit[0] > 0.5
    nothing = ConcentratedLoss.of([0] * 6, DELTA, gaussian=True, separable=True)
    assert bound(hidden, nothing).leakage.worst == 0


def test_losses_and_leakages_leave_out_what_is_hidden():
    assert Loss.uniform(1, 3).without((1,)).per_unit.tolist() == [1, 0, 1]
    assert Loss.uniform(1, 3).without(()).common == 1
    assert Leakage(np.array([1.0, 5.0, 2.0]), hidden=(1,)).worst == 2


def test_what_cannot_be_hidden_is_refused():
    model, *_ = latent(np.random.default_rng(94), 2, 1)
    for names, words in (
        (["age"], "'age', which is no variable"),
        (["q0", "q0"], "a variable twice"),
        (["q0", "class"], "nothing to protect"),
    ):
        with pytest.raises(BadModel, match=words):
            model.hiding(names)


@pytest.mark.slow
def test_ten_classes_and_410_questions_take_seconds():
    model, *_ = latent(np.random.default_rng(95), 10, 410)
    hidden = model.hiding(["class"])
    loss, start = shown(40.0, hidden), process_time()
    free, known = separable_messages_bound(loss, hidden), separable_transport_bound(loss, hidden)
    assert process_time() - start < 8
    assert known.worst < free.worst < separable_group_bound(loss, hidden).worst
    assert free.worst < free.per_unit[0]
