"""An answer at every step: public strategies, and the mechanism that they make.

    counter.StepCounter ─┬─ each_step      every step by itself
                         ├─ running_tree   running totals, pure: the k-ary tree with subtraction
                         └─ square_roots   running totals under a δ: the square root of summing

`stream.Stream` is what the door admits. Following it step by step is `entwined.series`.
"""
