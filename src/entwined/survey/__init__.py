"""Surveys planned as a whole.

sense: what the design of a survey shows ─> proposals: the file that the holder confirms
   └─> sharing, survey: losses for all histograms ─> asking: the request   (checking: whether its tree holds)
                                                 ├─> worth: beside a guess and plain noise, and what would help
                                                 └─> working_out: what costs nothing
"""

from entwined.bounds.allocate import share
from entwined.survey.sense import Blank, Decided, Form, blank_codes, decided_columns, forms
from entwined.survey.survey import Survey, SurveyPlan, plan_survey

__all__ = [
    "Blank",
    "Decided",
    "Form",
    "Survey",
    "SurveyPlan",
    "blank_codes",
    "decided_columns",
    "forms",
    "plan_survey",
    "share",
]
