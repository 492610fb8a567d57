"""diffprivlib: logistic regression on the same features, from the same CSV file."""

import csv
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from diffprivlib.models import LogisticRegression
from sklearn.metrics import roc_auc_score

warnings.simplefilter("ignore")
folder, epsilon, ridge, times = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
levels = json.loads((folder / "columns.json").read_text())


def features(name: str) -> tuple[Any, Any]:
    """Levels one-hot, numbers between −1 and 1, an intercept; rows of norm at most 1."""
    with (folder / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = [np.ones(len(rows))]
    for column, values in levels.items():
        raw = [row[column] for row in rows]
        if isinstance(values[0], str):
            codes = np.array([values.index(one) if one in values else len(values) for one in raw])
            columns += list(np.eye(len(values) + 1)[codes].T)
        else:
            low, high = values
            columns.append(2 * (np.clip(np.array(raw, dtype=float), low, high) - low) / (high - low) - 1)
    labels = np.array([row["income"] == ">50K" for row in rows])
    return np.column_stack(columns) / np.sqrt(1 + len(levels)), labels


train, known = features("train")
test, truth = features("test")
found, cpu = [], []
for _ in range(times):
    began = time.process_time()
    model = LogisticRegression(epsilon=epsilon, data_norm=1.0, C=1 / ridge, fit_intercept=False).fit(
        train, known
    )
    cpu.append(time.process_time() - began)
    found.append((roc_auc_score(truth, model.decision_function(test)), model.score(test, truth)))
auc, right = np.mean(found, axis=0)
print(json.dumps({"auc": auc, "accuracy": right, "fit": min(cpu), "all": [one for one, _ in found]}))
