"""A plan that runs as it is, with every key and what it does: `coview compare --example-plan`."""

EXAMPLE_PLAN = """\
# A plan of `coview compare`: every model on every data set, with every seed.
#
#   coview compare plan.toml -o results.csv
#
# It runs as it is, in about a minute. Lines with one # in front of a key show the other keys, with
# their default or an example; docs/plans.md explains them all.

task = "cluster"                      # or "classify", "retrieve"
seeds = 3                             # 0, 1, 2; or a list: [3, 5, 8]. Default: 5
metrics = ["accuracy", "nmi_max"]     # of tables and CSV files; default: all of the task
#n_components = 10                    # topics; default: the number of classes
#warm_up = true                       # fit a little first, so that times are without compilation

# Only with task = "classify":
#label_rates = [0.01, 0.05]           # shares of the documents whose class is given
#label_sampling = "uniform"           # or "stratified"

# Only with task = "retrieve":
#split = "random"                     # or "publisher", the split that a data set comes with
#test_share = 0.25                    # share of test documents in a random split
#pairs = [["view_0", "view_1"]]       # views to search with and in; default: all pairs
#similarity = "correlation"           # or "cosine", "hellinger", "jensen-shannon"
#spaces = ["topic"]                   # compare topic mixtures; or "semantic", class probabilities
#fold_ins = ["separate"]              # fold in each view of a test document on its own; or "joint"
#training_mixtures = "folded"         # what means and regressions are learned from; or "fitted"

# -- data sets, each with a name ----------------------------------------------------------------

[[datasets]]
name = "make_views"                   # documents with planted topics
label = "planted"                     # its name in tables; default: the name
options = {n_docs = 150, n_topics = 4, n_views = 2, view_noise = 0.3}   # of its loader

# Your own table: columns of texts are views, another one has the classes.
#[[datasets]]
#name = "news.csv"                    # a path, from here or from the folder of this file
#options = {text = ["en", "de"], id = "id", label = "topic"}
#views = ["en"]                       # keep only these views
#steps = ["tfidf", "l2"]              # preprocessing: "l1", "l2", "max", "tfidf", "binary", "sqrt"

# -- models, each with a short name -------------------------------------------------------------

[[models]]
name = "link"                         # `coview compare --help` and the README list the names

[[models]]
name = "mggm"
label = "MGGM"                        # its name in tables; default: the name
params = {n_feature_topics = 20}      # parameters of the model
grid = {strength = [0.5, 2.0]}        # parameters with several values: all combinations are run
#none = ["scaling"]                   # parameters that are None, for which TOML has no word
#n_components = 8                     # topics of this model
#datasets = ["planted"]               # labels of the data sets to run it on; default: all

[[models]]
name = "plsa"
label = "PLSA, views side by side"
concat = true                         # put the views side by side, for models of one view
#views = ["view_0"]                   # or give the model only some of them
#oracle = true                        # something is chosen with the labels: tables mark it
"""
