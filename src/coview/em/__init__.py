"""EM for all models: `problem` is what is maximized, `step` one step, `loop` the iteration.

`prepared` has the data, `emissions` and `penalties` the parts of a model, `starts` where EM begins,
`restarts` the runs of a fit, `checkpoint` their state on disk, `trace` the objective by iteration.
"""
