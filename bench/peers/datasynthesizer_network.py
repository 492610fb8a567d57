"""DataSynthesizer: its correlated mode with two parents, on cells as categories."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from DataSynthesizer.DataDescriber import DataDescriber  # type: ignore[import-not-found]
from DataSynthesizer.DataGenerator import DataGenerator  # type: ignore[import-not-found]

folder, epsilon, columns = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
names = list(json.loads((folder / "sizes.json").read_text()))[:columns]
cells = np.load(folder / "cells.npy")[:, :columns]
table, described = str(folder / "cells.csv"), str(folder / "description.json")
pd.DataFrame(cells, columns=names).to_csv(table, index=False)
began = time.process_time()
describer = DataDescriber(category_threshold=1000)
describer.describe_dataset_in_correlated_attribute_mode(
    dataset_file=table,
    epsilon=epsilon,
    k=2,
    attribute_to_is_categorical=dict.fromkeys(names, True),
    attribute_to_datatype=dict.fromkeys(names, "Integer"),
)
describer.save_dataset_description_to_file(described)
generator = DataGenerator()
generator.generate_dataset_in_correlated_attribute_mode(len(cells), described)
drawn = generator.synthetic_dataset[names].to_numpy().astype(np.int64)
(folder / "calls.json").write_text(json.dumps(time.process_time() - began))
np.save(folder / "made.npy", drawn)
