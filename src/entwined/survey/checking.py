"""Whether the tree of a survey holds, against the very noise that was planned for its questions."""

from dataclasses import replace

from entwined.bounds import ConcentratedLoss
from entwined.learning.check import Checked, Planned, check
from entwined.loss import Loss
from entwined.survey.survey import SurveyPlan, plan_survey


def checked_plan(plan: SurveyPlan, *, keep_tree: bool = False) -> SurveyPlan:
    """Check the tree of a plan; where it needs richer laws beside it, plan for so much more noise.

    The laws are those of the answers to all questions, whatever the form. The door finds the exact noise that keeps
    the promise under every law. With `keep_tree` none is declared beside it, and what is made with it says so. Blanks
    are filled by the tree alone: where it needs others, they are left out.
    """
    survey = plan.survey
    found = check(survey.learned, survey.answered, planned_noise(plan), plan.knowledge)
    kept = Checked(found.tree, (), found.figures) if keep_tree else found
    if plan.filled and kept.covering:
        left_out = plan_survey(
            survey, plan.target, plan.knowledge, plan.rows, at_the_door=True, delta=plan.delta, fill=False
        )
        return checked_plan(left_out)
    price = 1.0 if keep_tree else found.figures.price
    power = 1 if plan.delta is None else 2
    shared = replace(plan.shared, losses=plan.shared.losses / price**power, cost=plan.shared.cost * price**2)
    return replace(plan, survey=replace(survey, checked=kept), shared=shared)


def planned_noise(plan: SurveyPlan) -> Planned:
    """Lay the losses of a plan out over the questions of its tree."""
    losses = [plan.losses[name] for name in plan.survey.learned.model.names]
    if plan.delta is None:
        return Loss.of(losses)
    return ConcentratedLoss.of(losses, plan.delta, gaussian=True, separable=True)
