"""What a learned model says of all columns at once."""

import numpy as np

from entwined.dependence import BayesNet


def joint_of(model: BayesNet):
    joint = np.ones([len(values) for values in model.values])
    for block in model.blocks:
        for scope, table in zip(block.scope.tolist(), block.table.low, strict=True):
            lying = [joint.shape[j] if j in scope else 1 for j in range(joint.ndim)]
            joint = joint * table.transpose(np.argsort(scope)).reshape(lying)
    return joint
