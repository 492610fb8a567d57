"""Linear classifiers through the one door: logistic regression and a linear support vector machine.

features      what is public about a row's vector: one-hot levels, numbers between their bounds, L2 norm at most 1
margin_losses the losses of a margin: logistic, and the hinge with its corner rounded
moments       the products of features, added up: what steps are made by
slopes        the sum of all rows' gradients at given weights, by one exact fold
minimum       the weights of least total loss, certified by the gradient that is left
methods       three of them: `descent` (gradients), `output` (the minimiser), `objective` (what is minimised)
regression    the mechanisms, one a loss
rule          what comes out: coefficients by name, and predictions of them
"""
