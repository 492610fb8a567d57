"""Step 3: what depends on what.

    model.Dependence ─┬─ independent, groups, forms, gaussian, endless_chain
      a class of      └─ model.Coupled: chained (markov_, varying_chain), bayes_net, random_field, edged: graph, ties
      joint laws           written as `factors`, of which bounds need the `couplings` alone (`odds`)

`families` states Gaussian laws as people do, `places` makes kernels of cities. `box` holds numbers that are known
exactly or by intervals. A model of finitely many values has a `member`: a `product_law` to draw people from (`luck`),
and to look through as an adversary does, by `summing_out` all units but one. `files` reads and writes every model
(`fields`, `syntax`, `nested`, `contents`, `bif`; `graph_files`, `tie_files`, `edges`, `edge_columns`, `edge_labels`,
`two_ways`, `snap_edges`); `learned_from` says what rows one was learned from, and `model_check` what a check of it on
public rows showed.
"""

from entwined.dependence.bayes_net import BayesNet, Variable
from entwined.dependence.box import Box
from entwined.dependence.chained import Chained
from entwined.dependence.city import City
from entwined.dependence.couplings import Couplings
from entwined.dependence.edged import Edged
from entwined.dependence.endless_chain import EndlessChain
from entwined.dependence.files import model_from, read_model, write_model
from entwined.dependence.forms import Forms
from entwined.dependence.gaussian import Correlations, Gaussian, GaussianLaws, MaxCorrelation
from entwined.dependence.graph import Graph
from entwined.dependence.groups import Groups
from entwined.dependence.independent import Independent
from entwined.dependence.learned_from import LearnedFrom, LearningCharge
from entwined.dependence.markov_chain import MarkovChain
from entwined.dependence.model import Coupled, Dependence, Source
from entwined.dependence.model_check import ModelCheck, TriedLaw
from entwined.dependence.product_law import ProductLaw, UnitTable, near_copies
from entwined.dependence.random_field import Edge, RandomField
from entwined.dependence.snap_edges import read_published_edges
from entwined.dependence.ties import Ties
from entwined.dependence.varying_chain import VaryingChain

__all__ = [
    "BayesNet",
    "Box",
    "Chained",
    "City",
    "Correlations",
    "Coupled",
    "Couplings",
    "Dependence",
    "Edge",
    "Edged",
    "EndlessChain",
    "Forms",
    "Gaussian",
    "GaussianLaws",
    "Graph",
    "Groups",
    "Independent",
    "LearnedFrom",
    "LearningCharge",
    "MarkovChain",
    "MaxCorrelation",
    "ModelCheck",
    "ProductLaw",
    "RandomField",
    "Source",
    "Ties",
    "TriedLaw",
    "UnitTable",
    "Variable",
    "VaryingChain",
    "model_from",
    "near_copies",
    "read_model",
    "read_published_edges",
    "write_model",
]
