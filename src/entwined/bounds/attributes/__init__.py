"""Secrets about a whole table, such as the parameter that a column is drawn with: what a release shows of them.

column_query       what is asked of which columns, and how far it moves if whole columns change
noisy_columns      such an answer with Laplace noise or none, and the values of parameters that are to be confused
parameter_law      how much the parameters of some columns show of another, by exact sums
quilts             which columns count as remote: the best choice for a column, and the noise that it needs
separation         every quilt of a network as it was published, to compare
parameter_quilt    the theorem
"""
