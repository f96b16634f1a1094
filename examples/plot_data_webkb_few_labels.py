"""
WebKB: a handful of labels
==========================

Pages of a university, seen as words and as links, in five classes. How good is a classifier that knows one to twenty pages of each class?
"""

import matplotlib.pyplot as plt
import numpy as np

from coview import LinkPLSA, TopicClassifier
from coview.baselines import NaiveBayesViews
from coview.datasets import load_webkb

views = load_webkb("wisconsin")
print(views)
y = np.asarray(views.named_labels)

# %%


def accuracy(make, n_labels, seed):
    """Fit with some labels a class; accuracy on all other pages."""
    rng = np.random.default_rng(seed)
    known = np.concatenate(
        [rng.permutation(np.flatnonzero(y == c))[:n_labels] for c in np.unique(y)]
    )
    given = np.full(len(y), "", dtype=object)  # without a label
    given[known] = y[known]
    rest = given == ""
    model = make(seed).fit(views, given)
    return 100 * np.mean(model.predict(views)[rest] == y[rest])


methods = {
    "topics": (lambda seed: TopicClassifier(LinkPLSA(random_state=seed)), "#0072B2", "o"),
    "naive Bayes": (lambda seed: NaiveBayesViews(), "#E69F00", "s"),
}
counts = [1, 2, 5, 10]
fig, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
for name, (make, color, marker) in methods.items():
    scores = np.array([[accuracy(make, n, seed) for seed in range(5)] for n in counts])
    ax.errorbar(
        counts,
        scores.mean(axis=1),
        scores.std(axis=1, ddof=1) / np.sqrt(5),
        color=color,
        marker=marker,
        label=name,
    )
ax.set_xscale("log")
ax.set_xticks(counts, counts)
ax.set_xlabel("labels of each class")
ax.set_ylabel("accuracy on the other pages, %")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
