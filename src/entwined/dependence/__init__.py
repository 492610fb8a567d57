"""Step 3: what depends on what."""

from entwined.dependence.bayes_net import BayesNet, Variable
from entwined.dependence.box import Box
from entwined.dependence.couplings import Couplings
from entwined.dependence.files import model_from, read_model, write_model
from entwined.dependence.forms import Forms
from entwined.dependence.gaussian import Correlations, Gaussian, MaxCorrelation
from entwined.dependence.graph import Graph
from entwined.dependence.groups import Groups
from entwined.dependence.independent import Independent
from entwined.dependence.learned_from import LearnedFrom
from entwined.dependence.markov_chain import MarkovChain
from entwined.dependence.model import Coupled, Dependence, Source
from entwined.dependence.random_field import Edge, RandomField

__all__ = [
    "BayesNet",
    "Box",
    "Correlations",
    "Coupled",
    "Couplings",
    "Dependence",
    "Edge",
    "Forms",
    "Gaussian",
    "Graph",
    "Groups",
    "Independent",
    "LearnedFrom",
    "MarkovChain",
    "MaxCorrelation",
    "RandomField",
    "Source",
    "Variable",
    "model_from",
    "read_model",
    "write_model",
]
