"""Does the model hold? Beliefs against enumeration, hidden causes, leakage under them, and the verdict on a tree."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from entwined.bounds import ConcentratedLoss, bound, calibrate, certify, verify
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.separable import separable_messages_bound, separable_transport_bound
from entwined.bounds.transport import transport_bound
from entwined.dependence import BayesNet, Variable
from entwined.errors import BadInput, DoesNotApply
from entwined.learning import Codes, learn, pair_counts
from entwined.learning.beliefs import beliefs
from entwined.learning.check import NETWORK, TREE, Trial, check, laws_tried
from entwined.learning.held_out import questions_scored
from entwined.learning.hidden_causes import Answers, hidden_root, latent_classes, star
from entwined.loss import Loss
from support.hockey_sticks import cell_chances, mechanism_sticks, released
from support.joints import joint_of
from support.oracle import worst_leakages


def caused(rows=300, columns=8, told=0.9, seed=1):
    """Answers that a hidden side of two decides, each told with so much certainty."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, (rows, 1))
    values = np.where(rng.random((rows, columns)) < told, side, 1 - side)
    return Codes.of({f"q{n}": 2 for n in range(columns)}, values)


def chained(rows=600, columns=6, seed=2):
    """Answers that each depend on the one before."""
    rng = np.random.default_rng(seed)
    values = [rng.integers(0, 2, rows)]
    for _ in range(columns - 1):
        values.append(np.where(rng.random(rows) < 0.75, values[-1], 1 - values[-1]))
    return Codes.of({f"q{n}": 2 for n in range(columns)}, np.stack(values, axis=1))


def latent(rng, leaves=3, classes=2, values=2):
    """A small law with a hidden class, last."""
    rows = [rng.dirichlet([1.5] * values, classes).tolist() for _ in range(leaves)]
    names = tuple(map(str, range(values)))
    made = [Variable(f"q{n}", names, ("c",), rows[n]) for n in range(leaves)]
    top = Variable("c", tuple(map(str, range(classes))), (), [rng.dirichlet([3.0] * classes).tolist()])
    return BayesNet.of([*made, top]).hiding(["c"])


# What a law says of rows


def test_beliefs_are_those_of_enumeration_with_blanks_and_a_hidden_unit():
    rng = np.random.default_rng(3)
    codes = Codes.of({"a": 2, "b": 3, "c": 2}, [[0, 1, 1], [1, -1, 0], [-1, 2, -1], [1, 0, 0]] * 30)
    net = hidden_root(Answers.of(codes), pair_counts(codes), 2)
    assert len(net.hidden) == 1
    for model in (net, latent(rng), learn(codes, "x").model):
        sizes = [len(values) for values in model.values]
        shown = Codes.of(dict(zip("abc", sizes[:3], strict=True)), codes.values[:4] % np.array(sizes[:3]))
        shown = replace(shown, values=np.where(codes.values[:4] < 0, -1, shown.values))
        found, joint = beliefs(model, shown), joint_of(model)
        for row, values in enumerate(shown.values.tolist()):
            kept = [
                range(sizes[at]) if at > 2 or values[at] < 0 else [values[at]] for at in range(len(sizes))
            ]
            whole = sum(joint[at] for at in itertools.product(*kept))
            assert found.rows[row] == pytest.approx(np.log(whole))
            for place, value in enumerate(values):
                if value < 0:
                    assert found.answers[row, place] == 0
                    continue
                others = [*kept[:place], range(sizes[place]), *kept[place + 1 :]]
                without = sum(joint[at] for at in itertools.product(*others))
                assert found.answers[row, place] == pytest.approx(np.log(whole / without))


def test_latent_classes_find_a_hidden_side_and_the_same_rows_give_the_same():
    codes = caused()
    answers = Answers.of(codes)
    found = latent_classes(answers, 2)
    assert (found.shares == latent_classes(answers, 2).shares).all()
    sides = found.shares[:, 0] > 0.5
    agree = np.mean(sides == (codes.values.mean(axis=1) > 0.5))
    assert max(agree, 1 - agree) > 0.97
    net = star(answers, 2)
    assert net.names[-1] == "hidden class"
    assert net.hidden == (8,)
    assert beliefs(net, codes).row_loss < beliefs(learn(codes, "x").model, codes).row_loss


def test_a_hidden_root_keeps_direct_links_and_ties_what_they_leave():
    rng = np.random.default_rng(7)
    side = caused(600, 12, 0.8).values
    copy = np.where(rng.random(600) < 0.98, side[:, 0], 1 - side[:, 0])
    codes = Codes.of({f"q{n}": 2 for n in range(13)}, np.column_stack([side, copy]))
    net = hidden_root(Answers.of(codes), pair_counts(codes), 2)
    assert {net.parents[12], net.parents[0]} in ({(0,), (13,)}, {(13,), (12,)})  # one hangs on the other
    assert sum(each == (13,) for each in net.parents) >= 11


def test_a_column_of_the_name_of_the_hidden_class_is_told_apart():
    codes = Codes.of({"hidden class": 2, "b": 2}, [[0, 0], [1, 1]] * 40)
    assert star(Answers.of(codes), 2).names == ("hidden class", "b", "hidden class_")


# What leaks under a law with a hidden unit


def test_pure_losses_under_a_latent_class_are_never_below_the_exact_leakage():
    rng = np.random.default_rng(11)
    near = []
    for _ in range(25):
        net = latent(rng, classes=int(rng.integers(2, 4)))
        losses = rng.uniform(0.1, 1.5, 3)
        marginal = joint_of(net).sum(axis=-1)
        for theorem, knowledge in ((message_passing_bound, "values"), (transport_bound, "model")):
            bounded = theorem(Loss.of([*losses, 0]), net).per_unit
            truth = worst_leakages(marginal, losses, knowledge)
            assert (bounded[:3] >= truth - 1e-7).all()
            near.append(float(np.max(bounded[:3] / truth)))
    assert np.median(near) < 1.3


def exact_shown(net, first, second, epsilon):
    """The exact E_γ of two bits with Gaussian noise, the second seen through the first: by a fine grid."""
    joint = joint_of(net).sum(axis=-1)
    given = joint / joint.sum(axis=1, keepdims=True)
    at = np.linspace(-9, 9 + max(first, second), 1500)
    step = at[1] - at[0]

    def density(value):
        own = norm.pdf(at - first * value)
        other = sum(given[value, v] * norm.pdf(at - second * v) for v in (0, 1))
        return np.outer(own, other)

    gap = density(0) - np.exp(epsilon) * density(1)
    back = density(1) - np.exp(epsilon) * density(0)
    return max(np.maximum(gap, 0).sum(), np.maximum(back, 0).sum()) * step**2


def test_gaussian_noise_under_a_latent_class_is_bounded_and_nearly_reached():
    """Exactly by integration: two answers that share a class, each with noise of its own."""
    rng, delta, near = np.random.default_rng(13), 0.01, []
    for _ in range(6):
        net = latent(rng, leaves=2)
        rhos = rng.uniform(0.05, 0.6, 2).tolist()
        loss = ConcentratedLoss.of(rhos, delta, gaussian=True, separable=True).padded(3)
        epsilon = separable_transport_bound(loss, net).per_unit
        assert (separable_messages_bound(loss, net).per_unit[:2] >= epsilon[:2] * (1 - 1e-3)).all()
        shown = exact_shown(net, *np.sqrt(2 * np.array(rhos)), epsilon[0])
        assert shown <= delta * (1 + 1e-3)
        near.append(shown / delta)
    assert np.median(near) > 0.8


def test_a_hidden_class_is_nobodys_secret():
    net = latent(np.random.default_rng(17))
    proved = bound(net, Loss.of([0.5, 0.5, 0.5, 0]))
    assert proved.leakage.worst == proved.leakage.per_unit[:3].max()
    assert "but the hidden 'c'" in proved.guarantee
    assert verify(certify(proved).document).valid


# The verdict


@pytest.fixture(scope="module")
def failing():
    codes = caused()
    learned = learn(codes, "pilot.csv")
    planned = calibrate(learned.model, 1.0, "model").exposure
    return learned, codes, planned, check(learned, codes, planned, "model", classes=(2,))


def test_a_tree_passes_its_check():
    codes = chained()
    learned = learn(codes, "pilot.csv")
    found = check(learned, codes, calibrate(learned.model, 1.0, "any").exposure, "any", classes=(2, 3))
    assert found.figures.needed == () == found.covering
    assert found.figures.price == 1.0
    assert found.figures.claimed == pytest.approx(1.0)
    assert abs(found.figures.tree.answer - found.figures.learner.answer) < 0.03
    assert certify(bound(found.tree.model, Loss.uniform(0.1, 6))).content["guarantee"].startswith("From ")


def test_a_hidden_cause_fails_the_tree_in_the_first_line(failing):
    learned, codes, _, found = failing
    figures = found.figures
    assert figures.needed
    assert figures.of("2 latent classes").fits_better(figures.tree)
    assert figures.of("2 latent classes").leakage > 1.1
    assert figures.learner.answer < figures.tree.answer - 0.03
    said = certify(bound(found.tree.model, Loss.uniform(0.1, 8), "model")).content["guarantee"]
    assert said.startswith(
        "On its own this model failed its check: noise that leaks 1 under it leaks up to 1."
    )
    assert figures.failed("the tree", figures.needed).startswith("THE MODEL FAILED ITS CHECK")
    assert len(figures.answers) == figures.questions == len(codes.names)
    assert found.tree.title == learned.title
    assert "2 latent classes" in figures.words[1] or "hidden root" in figures.words[1]


def test_the_price_of_covering_is_kept_under_every_law_that_is_needed(failing):
    _, codes, planned, found = failing
    figures = found.figures
    assert 1.1 < figures.price <= figures.price_of_all
    for one in found.covering:
        assert one.model.hidden
        assert one.model.check.law in figures.needed
        less = (planned * (1 / figures.price)).padded(one.model.units)
        assert transport_bound(less, one.model).worst <= figures.claimed * (1 + 1e-9)
        more = (planned * (1 / (figures.price * 0.95))).padded(one.model.units)
        assert transport_bound(more, one.model).worst > figures.claimed
    assert {one.law for one in figures.laws} == {*laws_tried((2,)), figures.learner.law}
    assert NETWORK not in figures.needed
    (why,) = (words for words in figures.words if NETWORK in words)
    assert "loose" in why
    assert "cycles" in why
    assert NETWORK not in laws_tried((2,), blanks=True)
    assert questions_scored(codes, 4) == questions_scored(codes, 4)
    assert len(questions_scored(codes, 4)) <= 4


def test_two_parents_have_a_figure_for_gaussian_noise_too():
    """That of whole rows: never below what the law of all columns shows of any of them."""
    codes = caused(900, 4, 0.85)
    law = learn(codes, "x", parents=2).model
    planned = ConcentratedLoss.of(["0.02", "0.01", "0.03", "0.02"], "1e-2", gaussian=True, separable=True)
    found, theorem = Trial({NETWORK: law}, planned, "any").leaks(NETWORK)
    assert theorem == "separable group"
    shifts = [math.sqrt(2 * float(rho)) for rho in planned.rhos]
    edges = np.concatenate([[-np.inf], np.linspace(-3.0, 3.4, 7), [np.inf]])
    parts = [((unit,), cell_chances(edges - np.array([[0.0], [shift]]))) for unit, shift in enumerate(shifts)]
    likelihood = released((2,) * 4, parts)
    gammas = np.array([math.exp(found), 1.0])
    seen = np.array([each for _, each in mechanism_sticks(joint_of(law), likelihood, gammas)])
    assert seen[:, 0].max() <= 0.01 < seen[:, 1].max()


def test_what_is_needed_fits_better_and_leaks_more(failing):
    """Each on its own is not enough."""
    _, _, planned, found = failing
    tree, star_ = found.figures.tree, found.figures.of("2 latent classes")
    trial = Trial({TREE: found.tree.model, star_.law: found.covering[0].model}, planned, "model")
    assert trial.needed([star_], found.figures.claimed) == (star_.law,)
    assert trial.needed([star_], star_.leakage) == ()
    assert trial.needed([], found.figures.claimed) == ()
    assert not replace(star_, row=tree.row + 1, answer=tree.answer + 1).fits_better(tree)
    assert trial.price([], 1.0) == 1.0


def test_what_cannot_be_checked_is_refused():
    codes = chained(100)
    learned = learn(codes, "x")
    with pytest.raises(BadInput, match="a tree"):
        check(learn(caused(), "x", parents=2), caused(), Loss.uniform(0.1, 8), "any")
    with pytest.raises(BadInput, match="60 rows"):
        check(learned, codes.some(np.arange(100) < 50), Loss.uniform(0.1, 6), "any")
    with pytest.raises(BadInput, match="5 columns"):
        check(learned, codes, Loss.uniform(0.1, 5), "any")
    with pytest.raises(DoesNotApply, match="two parents"):
        blank = Codes.of({f"q{n}": 2 for n in range(8)}, np.where(caused().values == 1, -1, 0))
        beliefs(learn(caused(), "x", parents=2).model, blank)


def test_beliefs_of_a_network_are_those_of_enumeration():
    codes = caused(900, 4, 0.85)
    model = learn(codes, "x", parents=2).model
    assert max(map(len, model.parents)) == 2
    found, joint = beliefs(model, codes), joint_of(model)
    for row, values in enumerate(codes.values[:20].tolist()):
        assert found.rows[row] == pytest.approx(np.log(joint[tuple(values)]))
        for place in range(4):
            both = [joint[(*values[:place], other, *values[place + 1 :])] for other in (0, 1)]
            assert found.answers[row, place] == pytest.approx(np.log(both[values[place]] / sum(both)))
