"""Small requests of every kind, each with a table and a schema."""

from dataclasses import replace
from pathlib import Path

from entwined.schema import Boolean, Categorical, Integer, Real, Schema, Text
from entwined.schema.unit import Cells, Household
from support.every_command import Example, laid_out

PEOPLE = Schema(
    (
        Text("home", compare="exact"),
        Categorical("sex", ("m", "f"), missing="drop"),
        Integer("age", 0, 99),
        Real("weight", 0, 4, "0.5"),
        Boolean("ill"),
    ),
    neighbours="replace",
    most_rows=500,
)
ROWS = "home,sex,age,weight,ill\n" + "".join(
    f"h{n // 3},{'mf'[n % 2]},{20 + n % 50},{1 + n % 3 / 2},{n % 7 == 0}\n" for n in range(60)
)
HOMES_OF_PEOPLE = Schema(
    (Text("home", compare="exact"), Categorical("role", ("head", "partner", "child")), Integer("age", 0, 99)),
    unit=Household("home", 3),
    neighbours="replace",
    most_rows=500,
)
MEMBERS = "home,role,age\n" + "".join(
    f"h{n // 3},{('head', 'partner', 'child')[n % 3]},{(40, 35, 9)[n % 3] + n % 5}\n" for n in range(60)
)
HOMES = """
[[dependence]]
name = "homes"
model = {kind = "groups", largest = 3}
by = "home"
"""
DAYS = Schema((Boolean("on"), Integer("day", 1, 40, public=True)), neighbours="replace", most_rows=100)
ON = "on,day\n" + "".join(f"{n % 3 == 0},{n}\n" for n in range(1, 31))
ANSWERS = Schema(
    (Boolean("a"), Boolean("b"), Integer("c", 0, 3)), unit=Cells(), neighbours="replace", rows=60
)
FORM = "a,b,c\n" + "".join(f"{n % 2 == 0},{n % 3 == 0},{n % 4}\n" for n in range(60))
CELLS = """
[[dependence]]
columns = ["a", "b"]
missing_says_nothing = ["a", "b"]
model = {kind = "bayes_net", variables = [
  {name = "a", values = ["false", "true"], parents = [], table = [[0.5, 0.5]]},
  {name = "b", values = ["false", "true"], parents = ["a"], table = [[0.7, 0.3], [[0.2, 0.4], [0.6, 0.8]]]},
]}
"""
QUERIES = """
title = "Everything"
leakage = 1
expected_rows = 60
impossible = ["sex is null"]
calendar = {year = 2.0}

[[query]]
name = "by sex"
kind = "histogram"
column = "sex"
share = 2

[[query]]
name = "old"
kind = "count"
where = "age > 40 and ill"

[[query]]
kind = "mean"
column = "age"

[[query]]
kind = "quantile"
column = "age"
at = 0.25

[[query]]
kind = "marginal"
of = ["sex", "ill"]

[[query]]
kind = "group_by"
keys = ["sex"]
total = "weight"

[[query]]
kind = "share"
where = "ill"

[[query]]
kind = "variance"
column = "weight"

[[query]]
sql = "SELECT avg(age) FROM t WHERE sex = 'f'"

[[comparison]]
name = "gap"
kind = "difference"
one = ["by sex", "f"]
other = ["by sex", "m"]
"""
ABOUT_WOMEN = """
individuals = "not protected"

[[query]]
kind = "mean"
column = "age"
count = "public"

[[secret]]
name = "share of women"
column = "sex"
value = "f"
rows = 60
apart = [[0.25, 0.5], [0.5, 0.75]]
epsilon = 1
delta = 0.001

[[secret.law]]
column = "age"
difference = [-5, -3]
sd = 15
"""
SYNTHESIS = """
[[mechanism]]
kind = "synthesis"
mode = "correlated"
columns = ["sex", "ill", "age"]
bins = {age = 3}
structure = "chosen"
parents = 1
forced = [["sex", "ill"]]
forbidden = [["sex", "age"]]
impossible = ["sex = 'm' and ill"]
leakage = 1
"""
HOUSEHOLDS = """
[[mechanism]]
kind = "households"
columns = ["role", "age"]
bins = {age = 4}
role = "role"
head = ["head"]
partner = ["partner"]
child = ["child"]
impossible = ["role = 'head' and age < 15"]
younger = [["child", "age", 15]]
texts = {}
leakage = 1
"""
SECRETS = """
individuals = "not protected"

[[query]]
kind = "count"
where = "ill"

[[query]]
kind = "mean"
column = "age"
count = "public"

[[secret]]
column = "sex"
value = "f"
apart = [[[0.25, 0.5], [0.5, 0.75]]]
epsilon = 1
delta = 0.001
correlation = [[1, 0.1], [0.1, 1]]

[[secret.law]]
column = "age"
means = {inside = [40, 41], others = [42, 43]}
sd = [14, 15]
others_sd = 15

[[secret.law]]
where = "ill"
adds = [0.6, 0.4]
others_add = [0.7, 0.3]
probability = 0.5

[[secret.truth]]
column = "age"
slope = 1
sd = 14

[[secret]]
name = "two"
epsilon = 1
delta = 0.001

[[secret.together]]
column = "sex"
value = "f"
apart = [0.3, 0.6]

[[secret.together]]
column = "weight"
figure = "mean"
apart = [1, 2]

[[secret.law]]
column = "age"
slopes = {sex = [-1, 1], weight = [0, 1]}
sd = 15
"""
REQUESTS = {
    "queries": (PEOPLE, ROWS, QUERIES + HOMES),
    "one count": (PEOPLE, ROWS, 'loss = 1\n[[query]]\nkind = "count"\nwhere = "ill"\n'),
    "accuracies": (PEOPLE, ROWS, '[[query]]\nkind = "count"\nwhere = "ill"\nwithin = 10\n[[query]]\nkind = "total"\ncolumn = "age"\nwithin = 500\n'),
    "Gaussian": (PEOPLE, ROWS, 'delta = 1e-6\nnoise = "gaussian"\nleakage = 1\n[[query]]\nkind = "histogram"\ncolumn = "age"\nbins = 4\n'),
    "k-means": (PEOPLE, ROWS, '[[mechanism]]\nkind = "k_means"\ncolumns = ["age", "weight"]\ncentres = 2\nleakage = 1\n' + HOMES),
    "regression": (PEOPLE, ROWS, '[[mechanism]]\nkind = "logistic_regression"\nlabel = "ill"\ncolumns = ["age", "sex"]\nloss = 1\n'),
    "synthesis": (PEOPLE, ROWS, SYNTHESIS),
    "adaptive synthesis": (PEOPLE, ROWS, '[[mechanism]]\nkind = "synthesis"\nmode = "adaptive"\nrounds = 2\nalone = 0.5\nbins = {age = 4}\nimpossible = ["ill and age < 3"]\ndecides = [["age", "ill"]]\ntexts = {home = [3, 12]}\nleakage = 1\n'),
    "independent synthesis": (PEOPLE, ROWS, '[[mechanism]]\nkind = "synthesis"\nmode = "independent"\ntables = [["sex", "ill"]]\nloss = 1\n'),
    "households": (HOMES_OF_PEOPLE, MEMBERS, HOUSEHOLDS),
    "SVM": (PEOPLE, ROWS, '[[mechanism]]\nkind = "linear_svm"\nlabel = "age > 40"\nmethod = "objective"\nridge = 9\nloss = 1\n'),
    "k-means from starts": (PEOPLE, ROWS, '[[mechanism]]\nkind = "k_means"\ncolumns = ["age"]\nstarts = [[20], [60]]\nrounds = 2\nloss = 1\n'),
    "identity": (DAYS, ON, '[[mechanism]]\nkind = "identity"\nby = "day"\ncolumn = "on"\nloss = 1\n'),
    "degrees": (PEOPLE, ROWS, '[[mechanism]]\nkind = "degrees"\ncolumns = ["home"]\nmost = 4\nloss = 1\n'),
    "stream": (DAYS, ON, '[[mechanism]]\nkind = "stream"\nwhere = "on"\nstep = "day"\nhorizon = 40\nlate = "drop"\nloss = 1\n'),
    "stream under a δ": (DAYS, ON, 'delta = 1e-6\n[[mechanism]]\nkind = "stream"\nwhere = "on"\nhorizon = 3000\nloss = 1\n'),
    "cells": (ANSWERS, FORM, 'leakage = 1\n[[query]]\nkind = "histogram"\ncolumn = "b"\n' + CELLS),
    "cells with a reserve": (ANSWERS, FORM, 'delta = 1e-6\nleakage = 0.5\n[[query]]\nkind = "histogram"\ncolumn = "b"\n' + CELLS + '[reserve]\nb = "0.05"\n'),
    "secrets of every form": (replace(PEOPLE, rows=60), ROWS, SECRETS),
    "secret": (replace(PEOPLE, rows=60), ROWS, ABOUT_WOMEN),
}  # fmt: skip


def small_examples(place: Path) -> list[Example]:
    """Lay out one request of every kind."""
    return [
        laid_out(place, name, schema, table, request) for name, (schema, table, request) in REQUESTS.items()
    ]
